//! Executions of test plans (service.md 5).

use serde_json::json;

use super::prelude::*;
use crate::sandbox::model::job::Execution;
use crate::sandbox::model::time::duration_ms;
use crate::service::api::jobs::{
    ExecutionSort, ExecutionStatus, GetTestPlanExecution, ListTestPlanExecutions, TestPlanExecution,
    TestStatus,
};

pub(crate) const NOT_FOUND: &str = "test plan execution not found";

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
            .filter(|(execution, record)| matches(&request, execution, record))
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
        let execution = existing(&project.executions, &request.test_plan_execution_id.0, NOT_FOUND)?;
        Ok(execution.to_record(project, self.now).into())
    }
}

fn matches(request: &ListTestPlanExecutions, execution: &Execution, record: &TestPlanExecution) -> bool {
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
