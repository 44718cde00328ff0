//! The occurrences of reviewed bugs.

use crate::{
    sandbox::{
        answers::filters::wire_name,
        model::{
            attempt::RunAttempt,
            bug::{BugReview, StoredBug},
            ids::occurrence,
            job::SimulatedJob,
            moment::Moment,
            outcome::BugFinding,
            project::Project,
        },
    },
    service::api::bugs::BugOccurrence,
};

impl Project {
    /// Returns the reviewed bugs with their reviews and their occurrences in runs.
    pub(super) fn reviewed_bugs(&self, now: Moment) -> Vec<(&StoredBug, &BugReview, Vec<BugOccurrence>)> {
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
            id: occurrence(&attempt.id, finding),
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
