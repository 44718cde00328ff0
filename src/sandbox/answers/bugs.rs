//! Bugs of runs, and bugs that a user has reviewed, with their occurrences (service.md 2.5, 9).

use super::prelude::*;
use super::runs::find_run;
use crate::sandbox::model::records::occurrence_id;
use crate::sandbox::model::saved_test::BugFinding;
use crate::sandbox::model::world::{BugReview, StoredBug};
use crate::service::api::bugs::{
    Bug, BugDetail, BugOccurrence, BugStatusFilter, GetBug, ListBugs, ListRunBugs, RunBug, RunBugDetails,
    RunBugPage,
};

impl Answer<ListRunBugs> for World {
    fn answer(&mut self, request: ListRunBugs, caller: &Caller) -> AnswerResult<RunBugPage> {
        let project = self.project(caller)?;
        let (_, attempt) = find_run(project, &request.run_id.0, self.now)?;

        let bugs = attempt.findings(self.now).filter_map(|(finding, at)| {
            let bug = project.bugs.get(&finding.bug)?;
            Some(bug.run_record(finding, *at, occurrence_id(&attempt.id, finding)))
        });

        Ok(RunBugPage { page: single_page(bugs.collect()), bug_occurrences: None }.into())
    }
}

impl Answer<ListBugs> for World {
    fn answer(&mut self, request: ListBugs, caller: &Caller) -> AnswerResult<ListPage<Bug>> {
        let project = self.project(caller)?;
        check_bug_review(project)?;

        let mut bugs: Vec<_> = project.reviewed_bugs(self.now);
        bugs.retain(|(bug, review, _)| matches(&request, bug, review));

        // The contract gives examples of sort fields only. Any other field sorts by the time of the review.
        match request.sort_by.as_deref() {
            Some("severity") => bugs.sort_by_key(|(bug, ..)| bug.severity),
            Some("occurrence_count") => bugs.sort_by_key(|(.., occurrences)| occurrences.len()),
            _ => bugs.sort_by_key(|(_, review, _)| review.at),
        }

        // The contract states no default order (service.md 9.1). Newest first is the most useful one.
        let bugs = in_order(bugs, request.sort_order.unwrap_or(SortOrder::Desc));

        Ok(page(bugs, request.page, request.page_size, |(bug, review, occurrences)| {
            bug.to_record(project, review, occurrences.len())
        })
        .into())
    }
}

impl Answer<GetBug> for World {
    fn answer(&mut self, request: GetBug, caller: &Caller) -> AnswerResult<BugDetail> {
        let project = self.project(caller)?;
        check_bug_review(project)?;

        let mut bugs = project.reviewed_bugs(self.now).into_iter();
        let (bug, review, occurrences) = bugs
            .find(|(bug, ..)| bug.id == request.bug_id.0)
            .ok_or_else(|| ApiError::not_found("bug not found"))?;

        Ok(BugDetail { bug: bug.to_record(project, review, occurrences.len()), occurrences }.into())
    }
}

/// Checks that the project has the `bug_review` feature. Without it the answer is a 403 (service.md 9).
fn check_bug_review(project: &Project) -> Result<(), ApiError> {
    let refusal = || ApiError::forbidden("bug review is not enabled for this project");
    project.bug_review.then_some(()).ok_or_else(refusal)
}

fn matches(request: &ListBugs, bug: &StoredBug, review: &BugReview) -> bool {
    let status = match request.status.unwrap_or(BugStatusFilter::Active) {
        BugStatusFilter::Active => !review.archived,
        BugStatusFilter::Archived => review.archived,
        BugStatusFilter::All => true,
    };

    let contains = |text: &str, search: &str| text.to_lowercase().contains(&search.to_lowercase());
    let search = request.search.as_deref().is_none_or(|search| {
        [&bug.title, &bug.description, &bug.reproduction_steps].iter().any(|text| contains(text, search))
    });

    let severity = request.severity.is_none_or(|severity| severity == bug.severity);

    status && search && severity && matches_id(request.category.as_deref(), Some(&bug.category))
}

impl StoredBug {
    fn run_record(&self, finding: &BugFinding, at: Moment, id: String) -> RunBug {
        RunBug {
            id,
            bug_id: self.id.clone(),
            title: self.title.clone(),
            description: Some(self.description.clone()),
            category: self.category.clone(),
            severity: wire_name(self.severity),
            confidence: self.confidence.clone(),
            reproduction_steps: Some(self.reproduction_steps.clone()),
            // From 0 here, unlike the player numbers of runs (service.md 1.8).
            player_number: Some(finding.player),
            test_step: Some(finding.step + 1),
            turn: finding.turn,
            detected_at: at.to_string(),
            details: self.details.clone().map(|more| RunBugDetails { more, ..RunBugDetails::default() }),
        }
    }

    fn to_record(&self, project: &Project, review: &BugReview, occurrence_count: usize) -> Bug {
        Bug {
            id: self.id.clone(),
            project_id: project.id.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            reproduction_steps: self.reproduction_steps.clone(),
            severity: wire_name(self.severity),
            category: self.category.clone(),
            confidence: self.confidence.clone(),
            tags: self.tags.clone(),
            details: self.details.clone(),
            status: if review.archived { "archived" } else { "active" }.to_owned(),
            suppress_reporting: review.suppress_reporting,
            occurrence_count,
            created_at: review.at.to_string(),
            created_by: Some(review.reviewer.clone()),
        }
    }
}

impl Project {
    fn reviewed_bugs(&self, now: Moment) -> Vec<(&StoredBug, &BugReview, Vec<BugOccurrence>)> {
        let runs = self.runs(now);
        let reviewed = self.bugs.values().filter_map(|bug| Some((bug, bug.review.as_ref()?)));
        let occurrences = |bug: &StoredBug, review: &BugReview| {
            let of_run =
                |(job, attempt): &(&SimulatedJob, RunAttempt)| self.occurrences(bug, review, job, attempt);
            runs.iter().flat_map(of_run).collect()
        };

        reviewed.map(|(bug, review)| (bug, review, occurrences(bug, review))).collect()
    }

    /// Returns the occurrences of a bug in one run that were detected before the review of the bug.
    fn occurrences(
        &self,
        bug: &StoredBug,
        review: &BugReview,
        job: &SimulatedJob,
        attempt: &RunAttempt,
    ) -> Vec<BugOccurrence> {
        let execution = job.execution.as_ref().and_then(|id| self.executions.get(id));
        let occurrence_of = |finding: &BugFinding, at: Moment| BugOccurrence {
            id: occurrence_id(&attempt.id, finding),
            multiplayer_run_id: attempt.id.clone(),
            player_index: finding.player,
            // Steps are numbered from 1, players from 0 (service.md 1.8, 20).
            test_step: finding.step + 1,
            turn: finding.turn,
            detected_at: at.to_string(),
            reviewed_at: Some(review.at.to_string()),
            reviewed_by: Some(review.reviewer.clone()),
            review_comment: review.comment.clone(),
            title: bug.title.clone(),
            test_name: Some(job.test.name.clone()),
            test_version: Some(job.test.version),
            test_plan_name: execution.map(|execution| execution.plan_name.clone()),
            severity: wire_name(bug.severity),
            category: bug.category.clone(),
        };

        let findings = attempt.findings(review.at).filter(|(finding, _)| finding.bug == bug.id);

        findings.map(|(finding, at)| occurrence_of(finding, *at)).collect()
    }
}
