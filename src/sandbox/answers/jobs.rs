//! Jobs (service.md 3).

use super::prelude::*;
use crate::sandbox::model::job::Starter;
use crate::service::api::jobs::{GetJob, Job, JobRun, JobStatusFilter, ListJobs, Retries};

impl Answer<ListJobs> for World {
    fn answer(&mut self, request: ListJobs, caller: &Caller) -> AnswerResult<ListPage<Job>> {
        let project = self.project(caller)?;
        let matching = project.jobs.values().filter(|job| matches(&request, job, self.now));
        let jobs = newest_first(matching, |job| job.created);

        Ok(page(jobs, request.page, request.page_size, |job| job.to_record(project, self.now)).into())
    }
}

impl Answer<GetJob> for World {
    fn answer(&mut self, request: GetJob, caller: &Caller) -> AnswerResult<Job> {
        let project = self.project(caller)?;
        let job = existing(&project.jobs, &request.job_id.0, "job not found")?;

        Ok(job.to_record(project, self.now).into())
    }
}

fn matches(request: &ListJobs, job: &SimulatedJob, now: Moment) -> bool {
    let execution = request.test_plan_execution_id.as_ref().map(|id| id.0.as_str());
    let test = request.multiplayer_test_id.as_ref().map(|id| id.0.as_str());

    matches_id(execution, job.execution.as_deref())
        && matches_id(test, Some(&job.test.id))
        && has_all_tags(&job.tags, request.tags.as_deref())
        && has_status(job, request.status.unwrap_or(JobStatusFilter::All), now)
}

fn has_status(job: &SimulatedJob, filter: JobStatusFilter, now: Moment) -> bool {
    let status = || Timeline::from_job(job).status(now);
    match filter {
        JobStatusFilter::All => true,
        JobStatusFilter::Queued => status() == JobStatus::Queued,
        JobStatusFilter::Completed => status() == JobStatus::Completed,
        JobStatusFilter::Running => !matches!(status(), JobStatus::Queued | JobStatus::Completed),
    }
}

impl SimulatedJob {
    fn to_record(&self, project: &Project, now: Moment) -> Job {
        let timeline = Timeline::from_job(self);
        let status = timeline.status(now);
        let is_completed = status == JobStatus::Completed;
        let runs: Vec<_> =
            timeline.attempts(now).map(|attempt| run_record(attempt, self.test.players.len(), now)).collect();
        // The first attempt is not a retry.
        let used_retries = u8::try_from(runs.len().saturating_sub(1)).unwrap_or(u8::MAX);

        Job {
            job_id: self.id.clone(),
            project_id: project.id.clone(),
            status: wire_name(status),
            created_at: self.created.to_string(),
            completed_at: is_completed.then(|| timeline.completed.to_string()),
            multiplayer_test_id: Some(self.test.id.clone()),
            test_name: Some(self.test.name.clone()),
            platform: self.platform(),
            build_id: self.build().map(|build| build.id.clone()),
            test_plan_execution_id: self.execution.clone(),
            queue_rejection_reason: self.rejection.clone().filter(|_| is_completed),
            templating_enabled: self.template_data.is_some(),
            template_data: self.template_data.clone(),
            stopped_by: self.stopped.as_ref().map(|stop| Starter::Key(stop.key.clone()).to_initiator().value),
            tags: self.tags.clone(),
            retries: Some(Retries {
                total: self.retries,
                remaining: self.retries.saturating_sub(used_retries),
            }),
            runs,
        }
    }

    /// Returns the kind of the first player's device, or its label if the config has several devices.
    fn platform(&self) -> Option<String> {
        let first = self.player_devices.first()?;
        let label =
            first.device.as_ref().filter(|_| first.config.is_multi_device()).map(|device| &device.label);

        Some(label.unwrap_or(&first.config.kind).clone())
    }
}

fn run_record(attempt: &RunAttempt, players: usize, now: Moment) -> JobRun {
    let progress = attempt.progress(now);
    let is_completed = progress == RunProgress::Completed;

    JobRun {
        multiplayer_run_id: attempt.id.clone(),
        state: Some(wire_name(progress)),
        result: is_completed.then(|| wire_name(attempt.result)),
        started_at: attempt.started.filter(|at| *at <= now).map(|at| at.to_string()),
        completed_at: is_completed.then(|| attempt.ended.to_string()),
        players: Some(players),
    }
}
