//! Executions of test plans (supplement 5).

use std::sync::Arc;

use serde_json::json;

use super::{
    Answer, Answered, Caller, Fault, Invalid, World,
    builds::Build,
    clock::{Moment, duration_ms},
    jobs::{Job, Starter},
    lists::{self, passes, word},
    project::{Project, find},
    script::Ending,
    timeline::{Status, Timeline},
};
use crate::service::api::{
    ListPage, SortOrder,
    executions::{
        ExecutionSort, ExecutionStatus, GetTestPlanExecution, ListTestPlanExecutions, TestPlanExecution,
        TestStatus,
    },
};

/// The text of the service for an execution that it does not know.
pub(super) const NOT_FOUND: &str = "test plan execution not found";

/// A started plan.
#[derive(Debug)]
pub(super) struct Execution {
    pub(super) id: String,
    pub(super) plan: String,
    pub(super) plan_name: String,
    pub(super) build: Option<Arc<Build>>,
    pub(super) created: Moment,
    pub(super) by: Starter,
}

impl Answer<ListTestPlanExecutions> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(
        &mut self,
        asked: ListTestPlanExecutions,
        caller: &Caller,
    ) -> Result<Answered<ListPage<TestPlanExecution>>, Fault> {
        let project = self.project(caller)?;
        let executions = project.executions.values();
        let mut executions: Vec<_> = executions
            .map(|execution| (execution, execution.shown(project, self.now)))
            .filter(|(execution, shown)| wants(&asked, execution, shown))
            .collect();

        match asked.sort_by.unwrap_or(ExecutionSort::StartTime) {
            ExecutionSort::StartTime => executions.sort_by_key(|(execution, _)| execution.created),
            ExecutionSort::TestPlanName => {
                executions.sort_by(|(one, _), (other, _)| one.plan_name.cmp(&other.plan_name));
            }
            ExecutionSort::BuildName => {
                executions.sort_by(|(_, one), (_, other)| one.build_name.cmp(&other.build_name));
            }
        }

        let executions = lists::ordered(executions, asked.sort_order.unwrap_or(SortOrder::Desc));

        Ok(lists::page(executions, asked.page, asked.page_size, |(_, shown)| shown).into())
    }
}

impl Answer<GetTestPlanExecution> for World {
    const INVALID: Invalid = Invalid::NotFound(NOT_FOUND);

    fn answer(
        &mut self,
        asked: GetTestPlanExecution,
        caller: &Caller,
    ) -> Result<Answered<TestPlanExecution>, Fault> {
        let project = self.project(caller)?;
        let execution = find(&project.executions, &asked.test_plan_execution_id.0);
        let execution = execution.ok_or_else(|| Fault::not_found(NOT_FOUND))?;
        Ok(execution.shown(project, self.now).into())
    }
}

fn wants(asked: &ListTestPlanExecutions, execution: &Execution, shown: &TestPlanExecution) -> bool {
    let status = asked.status.is_none_or(|status| shown.status == word(status));
    status
        && passes(asked.test_plan_id.as_ref().map(|id| id.0.as_str()), Some(&execution.plan))
        && passes(asked.build_id.as_ref().map(|id| id.0.as_str()), shown.build_id.as_deref())
}

impl Execution {
    fn shown(&self, project: &Project, now: Moment) -> TestPlanExecution {
        let jobs: Vec<_> = project.jobs_of(&self.id).map(|job| (job, Timeline::of(job))).collect();
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
            status: word(status),
            started_at: started.map(|at| at.to_string()),
            completed_at: completed.map(|at| at.to_string()),
            started_by: json!(self.by.shown()),
            total_tests: jobs.len(),
            test_status: counts(&jobs, now),
            duration_ms: completed.zip(started).map(|(completed, started)| duration_ms(completed - started)),
        }
    }
}

fn status(jobs: &[(&Job, Timeline)], now: Moment) -> ExecutionStatus {
    let all = |status| jobs.iter().all(|(_, timeline)| timeline.status(now) == status);
    if all(Status::Completed) {
        ExecutionStatus::Completed
    } else if all(Status::Queued) {
        ExecutionStatus::Queued
    } else {
        ExecutionStatus::InProgress
    }
}

impl Project {
    /// The jobs of an execution, in the order of the plan.
    pub(super) fn jobs_of(&self, execution: &str) -> impl Iterator<Item = &Job> {
        self.jobs.values().filter(move |job| job.execution.as_deref() == Some(execution))
    }
}

fn counts(jobs: &[(&Job, Timeline)], now: Moment) -> TestStatus {
    let mut counts = TestStatus::default();
    for (job, timeline) in jobs {
        let last = timeline.attempts(now).next_back().map(|attempt| attempt.ending);
        let last = last.or(job.stopped.is_some().then_some(Ending::Stopped));
        let count = match (timeline.status(now), last) {
            (Status::Queued, _) => &mut counts.queued,
            (Status::Completed, Some(Ending::Success)) => &mut counts.passed,
            (Status::Completed, Some(Ending::Skipped)) => &mut counts.skipped,
            (Status::Completed, Some(Ending::Stopped)) => &mut counts.stopped,
            (Status::Completed, _) => &mut counts.failed,
            _ => &mut counts.running,
        };
        *count += 1;
    }

    counts
}
