//! The jobs and runs of a project.

use crate::sandbox::model::{
    attempt::RunAttempt, job::SimulatedJob, moment::Moment, project::Project, timeline::Timeline,
};

impl Project {
    /// Returns the jobs of an execution, in the order of the plan.
    pub(crate) fn jobs_of(&self, execution: &str) -> impl Iterator<Item = &SimulatedJob> {
        self.jobs.values().filter(move |job| job.execution.as_deref() == Some(execution))
    }

    /// Returns every run that exists at `now`, with its job. The oldest job comes first.
    pub(crate) fn runs(&self, now: Moment) -> Vec<(&SimulatedJob, RunAttempt)> {
        self.jobs
            .values()
            .flat_map(|job| Timeline::from_job(job).into_attempts(now).map(move |run| (job, run)))
            .collect()
    }

    /// Returns the run with `id` and its job, if the run exists at `now`.
    pub(crate) fn run_by_id(&self, id: &str, now: Moment) -> Option<(&SimulatedJob, RunAttempt)> {
        // Only jobs that can have the run id get a timeline, because a timeline is costly.
        let jobs = self.jobs.values().filter(|job| job.may_have_run(id));
        let mut runs =
            jobs.flat_map(|job| Timeline::from_job(job).into_attempts(now).map(move |run| (job, run)));

        runs.find(|(_, run)| run.id == id)
    }
}
