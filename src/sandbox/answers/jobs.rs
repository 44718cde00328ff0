//! Jobs, and executions of test plans (service.md 3, 5).

use serde_json::json;

use super::prelude::*;
use crate::sandbox::model::job::{Execution, Starter};
use crate::sandbox::model::time::duration_ms;
use crate::service::api::jobs::{
    ExecutionSort, ExecutionStatus, GetJob, GetTestPlanExecution, Job, JobRun, JobStatusFilter, ListJobs,
    ListTestPlanExecutions, Retries, TestPlanExecution, TestStatus,
};

pub(super) const EXECUTION_NOT_FOUND: &str = "test plan execution not found";

impl Answer<ListJobs> for World {
    fn answer(&mut self, request: ListJobs, caller: &Caller) -> AnswerResult<ListPage<Job>> {
        let project = self.project(caller)?;
        let matching = project.jobs.values().filter(|job| is_listed_job(&request, job, self.now));
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

fn is_listed_job(request: &ListJobs, job: &SimulatedJob, now: Moment) -> bool {
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

impl Answer<ListTestPlanExecutions> for World {
    fn answer(
        &mut self,
        request: ListTestPlanExecutions,
        caller: &Caller,
    ) -> AnswerResult<ListPage<TestPlanExecution>> {
        let project = self.project(caller)?;
        let executions = project.executions.values();
        let mut executions: Vec<_> = executions
            .map(|execution| (execution, execution.to_record(project, self.now)))
            .filter(|(execution, record)| is_listed_execution(&request, execution, record))
            .collect();

        match request.sort_by.unwrap_or(ExecutionSort::StartTime) {
            ExecutionSort::StartTime => executions.sort_by_key(|(execution, _)| execution.created),
            ExecutionSort::TestPlanName => {
                executions.sort_by(|(one, _), (other, _)| one.plan_name.cmp(&other.plan_name));
            }
            ExecutionSort::BuildName => {
                executions.sort_by(|(_, one), (_, other)| one.build_name.cmp(&other.build_name));
            }
        }

        let executions = in_order(executions, request.sort_order.unwrap_or(SortOrder::Desc));

        Ok(page(executions, request.page, request.page_size, |(_, record)| record).into())
    }
}

impl Answer<GetTestPlanExecution> for World {
    fn answer(&mut self, request: GetTestPlanExecution, caller: &Caller) -> AnswerResult<TestPlanExecution> {
        let project = self.project(caller)?;
        let execution =
            existing(&project.executions, &request.test_plan_execution_id.0, EXECUTION_NOT_FOUND)?;
        Ok(execution.to_record(project, self.now).into())
    }
}

fn is_listed_execution(
    request: &ListTestPlanExecutions,
    execution: &Execution,
    record: &TestPlanExecution,
) -> bool {
    let status = request.status.is_none_or(|status| record.status == wire_name(status));
    status
        && matches_id(request.test_plan_id.as_ref().map(|id| id.0.as_str()), Some(&execution.plan))
        && matches_id(request.build_id.as_ref().map(|id| id.0.as_str()), record.build_id.as_deref())
}

impl Execution {
    fn to_record(&self, project: &Project, now: Moment) -> TestPlanExecution {
        let jobs: Vec<_> = project.jobs_of(&self.id).map(|job| (job, Timeline::from_job(job))).collect();
        let started = jobs
            .iter()
            .filter_map(|(_, timeline)| timeline.attempts(now).next())
            .map(|attempt| attempt.created)
            .min();
        let status = status(&jobs, now);
        let completed = (status == ExecutionStatus::Completed)
            .then(|| jobs.iter().map(|(_, timeline)| timeline.completed).max())
            .flatten();

        TestPlanExecution {
            id: self.id.clone(),
            test_plan_id: Some(self.plan.clone()),
            test_plan_name: Some(self.plan_name.clone()),
            build_id: self.build.as_ref().map(|build| build.id.clone()),
            build_name: self.build.as_ref().map(|build| build.name.clone()),
            status: wire_name(status),
            started_at: started.map(|at| at.to_string()),
            completed_at: completed.map(|at| at.to_string()),
            started_by: json!(self.started_by.to_initiator()),
            total_tests: Some(jobs.len()),
            test_status: count_by_result(&jobs, now),
            duration_ms: completed.zip(started).map(|(completed, started)| duration_ms(completed - started)),
        }
    }
}

fn status(jobs: &[(&SimulatedJob, Timeline)], now: Moment) -> ExecutionStatus {
    let all = |status| jobs.iter().all(|(_, timeline)| timeline.status(now) == status);
    if all(JobStatus::Completed) {
        ExecutionStatus::Completed
    } else if all(JobStatus::Queued) {
        ExecutionStatus::Queued
    } else {
        ExecutionStatus::InProgress
    }
}

/// Counts the jobs of an execution by the result of their last attempt.
fn count_by_result(jobs: &[(&SimulatedJob, Timeline)], now: Moment) -> TestStatus {
    let mut counts = TestStatus::default();
    for (job, timeline) in jobs {
        let last = timeline.attempts(now).next_back().map(|attempt| attempt.result);
        // A job that was stopped in the queue has no attempt.
        let last = last.or(job.stopped.is_some().then_some(RunResult::Stopped));
        let count = match (timeline.status(now), last) {
            (JobStatus::Queued, _) => &mut counts.queued,
            (JobStatus::Completed, Some(RunResult::Success)) => &mut counts.passed,
            (JobStatus::Completed, Some(RunResult::Skipped)) => &mut counts.skipped,
            (JobStatus::Completed, Some(RunResult::Stopped)) => &mut counts.stopped,
            // Also jobs without a result, which were rejected (service.md 3.3).
            (JobStatus::Completed, _) => &mut counts.failed,
            _ => &mut counts.running,
        };
        *count += 1;
    }

    counts
}
