//! Bugs of runs, and bugs that a person has reviewed (specification, Bug; supplement 2.5, 9).

use super::{
    Answer, Answered, Caller, Fault, Invalid, World,
    attempt::Attempt,
    clock::Moment,
    ids::occurrence,
    jobs::Job,
    lists::{self, passes, word},
    project::Project,
    runs,
    script::Finding,
};
use crate::{
    fields::Fields,
    service::api::{
        ListPage, SortOrder,
        bugs::{
            self, BugDetail, BugOccurrence, BugStatusFilter, GetBug, ListBugs, ListRunBugs, RunBug,
            RunBugPage, Severity,
        },
    },
};

/// A fault of the game that runs can come across.
#[derive(Debug)]
pub(super) struct Bug {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) reproduction_steps: String,
    pub(super) severity: Severity,
    pub(super) category: String,
    pub(super) confidence: String,
    pub(super) tags: Vec<String>,
    pub(super) details: Option<Fields>,
    /// `None`: nobody has confirmed it yet.
    pub(super) review: Option<Review>,
}

/// A person's confirmation of a bug.
#[derive(Debug)]
pub(super) struct Review {
    /// Everything detected until then was reviewed.
    pub(super) at: Moment,
    pub(super) by: String,
    pub(super) comment: Option<String>,
    pub(super) archived: bool,
    pub(super) suppress_reporting: bool,
}

impl Review {
    const fn status(&self) -> &'static str {
        if self.archived { "archived" } else { "active" }
    }
}

impl Answer<ListRunBugs> for World {
    const INVALID: Invalid = Invalid::NotFound(runs::NOT_FOUND);

    fn answer(&mut self, asked: ListRunBugs, caller: &Caller) -> Result<Answered<RunBugPage>, Fault> {
        let project = self.project(caller)?;
        let (_, attempt) = project.run(&asked.run_id.0, self.now)?;
        let bugs = attempt.findings(self.now).filter_map(|(finding, at)| {
            let bug = project.bugs.get(&finding.bug)?;
            Some(bug.detected(finding, *at, occurrence(&attempt.id, finding)))
        });

        Ok(RunBugPage { page: lists::single_page(bugs.collect()), bug_occurrences: None }.into())
    }
}

impl Answer<ListBugs> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(&mut self, asked: ListBugs, caller: &Caller) -> Result<Answered<ListPage<bugs::Bug>>, Fault> {
        let project = self.project(caller)?;
        bug_review(project)?;

        let mut bugs: Vec<_> = project.reviewed_bugs(self.now);
        bugs.retain(|(bug, review, _)| wants(&asked, bug, review));

        match asked.sort_by.as_deref() {
            Some("severity") => bugs.sort_by_key(|(bug, ..)| bug.severity),
            Some("occurrence_count") => bugs.sort_by_key(|(.., occurrences)| occurrences.len()),
            _ => bugs.sort_by_key(|(_, review, _)| review.at),
        }

        let bugs = lists::ordered(bugs, asked.sort_order.unwrap_or(SortOrder::Desc));

        Ok(lists::page(bugs, asked.page, asked.page_size, |(bug, review, occurrences)| {
            bug.summary(project, review, occurrences.len())
        })
        .into())
    }
}

impl Answer<GetBug> for World {
    const INVALID: Invalid = Invalid::NotFound("bug not found");

    fn answer(&mut self, asked: GetBug, caller: &Caller) -> Result<Answered<BugDetail>, Fault> {
        let project = self.project(caller)?;
        bug_review(project)?;

        let bugs = project.reviewed_bugs(self.now).into_iter();
        let (bug, review, occurrences) = { bugs }
            .find(|(bug, ..)| bug.id == asked.bug_id.0)
            .ok_or_else(|| Fault::not_found("bug not found"))?;

        Ok(BugDetail { bug: bug.summary(project, review, occurrences.len()), occurrences }.into())
    }
}

fn bug_review(project: &Project) -> Result<(), Fault> {
    if project.bug_review {
        Ok(())
    } else {
        Err(Fault::forbidden("bug review is not enabled for this project"))
    }
}

fn wants(asked: &ListBugs, bug: &Bug, review: &Review) -> bool {
    let status = match asked.status.unwrap_or(BugStatusFilter::Active) {
        BugStatusFilter::Active => !review.archived,
        BugStatusFilter::Archived => review.archived,
        BugStatusFilter::All => true,
    };
    let has = |text: &str, search: &str| text.to_lowercase().contains(&search.to_lowercase());
    let found = asked.search.as_deref().is_none_or(|search| {
        [&bug.title, &bug.description, &bug.reproduction_steps].iter().any(|text| has(text, search))
    });
    let severity = asked.severity.is_none_or(|severity| severity == bug.severity);

    status && found && severity && passes(asked.category.as_deref(), Some(&bug.category))
}

impl Project {
    fn reviewed_bugs(&self, now: Moment) -> Vec<(&Bug, &Review, Vec<BugOccurrence>)> {
        let runs = self.runs(now);
        let reviewed = self.bugs.values().filter_map(|bug| Some((bug, bug.review.as_ref()?)));
        let occurrences = |bug: &Bug, review: &Review| {
            let of_run = |(job, attempt): &(&Job, Attempt)| self.occurrences(bug, review, job, attempt);
            runs.iter().flat_map(of_run).collect()
        };

        reviewed.map(|(bug, review)| (bug, review, occurrences(bug, review))).collect()
    }

    fn occurrences(&self, bug: &Bug, review: &Review, job: &Job, attempt: &Attempt) -> Vec<BugOccurrence> {
        let plan = job.execution.as_ref().and_then(|id| self.executions.get(id));
        let occurrence_of = |finding: &Finding, at: Moment| BugOccurrence {
            id: occurrence(&attempt.id, finding),
            multiplayer_run_id: attempt.id.clone(),
            player_index: finding.player,
            test_step: finding.step + 1,
            turn: finding.turn,
            detected_at: at.to_string(),
            reviewed_at: Some(review.at.to_string()),
            reviewed_by: Some(review.by.clone()),
            review_comment: review.comment.clone(),
            title: bug.title.clone(),
            test_name: Some(job.test.name.clone()),
            test_version: Some(job.test.version),
            test_plan_name: plan.map(|execution| execution.plan_name.clone()),
            severity: word(bug.severity),
            category: bug.category.clone(),
        };

        let findings = attempt.findings(review.at).filter(|(finding, _)| finding.bug == bug.id);

        findings.map(|(finding, at)| occurrence_of(finding, *at)).collect()
    }
}

impl Bug {
    fn detected(&self, finding: &Finding, at: Moment, id: String) -> RunBug {
        RunBug {
            id,
            bug_id: self.id.clone(),
            title: self.title.clone(),
            description: Some(self.description.clone()),
            category: self.category.clone(),
            severity: word(self.severity),
            confidence: self.confidence.clone(),
            reproduction_steps: Some(self.reproduction_steps.clone()),
            player_number: finding.player,
            test_step: finding.step + 1,
            turn: finding.turn,
            detected_at: at.to_string(),
            details: self.details.clone(),
        }
    }

    fn summary(&self, project: &Project, review: &Review, occurrence_count: usize) -> bugs::Bug {
        bugs::Bug {
            id: self.id.clone(),
            project_id: project.id.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            reproduction_steps: self.reproduction_steps.clone(),
            severity: word(self.severity),
            category: self.category.clone(),
            confidence: self.confidence.clone(),
            tags: self.tags.clone(),
            details: self.details.clone(),
            status: review.status().to_owned(),
            suppress_reporting: review.suppress_reporting,
            occurrence_count,
            created_at: review.at.to_string(),
            created_by: Some(review.by.clone()),
        }
    }
}
