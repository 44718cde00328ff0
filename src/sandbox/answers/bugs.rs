//! Bugs of runs, and bugs that a user has reviewed (service.md 2.5, 9).

use crate::{
    sandbox::{
        answers::{
            answer::{Answer, InvalidRequestPolicy},
            answered::Answered,
            api_error::ApiError,
            caller::Caller,
            filters::{matches_id, wire_name},
            pages,
            run_view::{self, find_run},
        },
        model::{
            bug::{BugReview, StoredBug},
            ids::occurrence,
            moment::Moment,
            outcome::BugFinding,
            project::Project,
            world::World,
        },
    },
    service::api::{
        ListPage, SortOrder,
        bugs::{
            Bug, BugDetail, BugStatusFilter, GetBug, ListBugs, ListRunBugs, RunBug, RunBugDetails, RunBugPage,
        },
    },
};

impl Answer<ListRunBugs> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::NotFound(run_view::RUN_NOT_FOUND);

    fn answer(&mut self, request: ListRunBugs, caller: &Caller) -> Result<Answered<RunBugPage>, ApiError> {
        let project = self.project(caller)?;
        let (_, attempt) = find_run(project, &request.run_id.0, self.now)?;

        let bugs = attempt.findings(self.now).filter_map(|(finding, at)| {
            let bug = project.bugs.get(&finding.bug)?;
            Some(bug.run_record(finding, *at, occurrence(&attempt.id, finding)))
        });

        Ok(RunBugPage { page: pages::single_page(bugs.collect()), bug_occurrences: None }.into())
    }
}

impl Answer<ListBugs> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::Ignore;

    fn answer(&mut self, request: ListBugs, caller: &Caller) -> Result<Answered<ListPage<Bug>>, ApiError> {
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
        let bugs = pages::in_order(bugs, request.sort_order.unwrap_or(SortOrder::Desc));

        Ok(pages::page(bugs, request.page, request.page_size, |(bug, review, occurrences)| {
            bug.to_record(project, review, occurrences.len())
        })
        .into())
    }
}

impl Answer<GetBug> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::NotFound("bug not found");

    fn answer(&mut self, request: GetBug, caller: &Caller) -> Result<Answered<BugDetail>, ApiError> {
        let project = self.project(caller)?;
        check_bug_review(project)?;

        let bugs = project.reviewed_bugs(self.now);
        let (bug, review, occurrences) = bugs
            .into_iter()
            .find(|(bug, ..)| bug.id == request.bug_id.0)
            .ok_or_else(|| ApiError::not_found("bug not found"))?;

        Ok(BugDetail { bug: bug.to_record(project, review, occurrences.len()), occurrences }.into())
    }
}

/// Checks that the project has the `bug_review` feature. Without it the answer is a 403 (service.md 9).
fn check_bug_review(project: &Project) -> Result<(), ApiError> {
    if project.bug_review {
        Ok(())
    } else {
        Err(ApiError::forbidden("bug review is not enabled for this project"))
    }
}

/// Returns whether a bug passes every filter of the request.
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
            status: review.status().to_owned(),
            suppress_reporting: review.suppress_reporting,
            occurrence_count,
            created_at: review.at.to_string(),
            created_by: Some(review.reviewer.clone()),
        }
    }
}
