//! `wait_for_completion`: waits until runs are finished.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::CompositeTool;
use crate::{
    failure::{Code, Failure},
    service::{
        api::{Id, Uuid},
        result_kind::{ResultId, ResultKind},
        rule::Rule,
        tool::{ToolInfo, Toolset},
    },
    tools::{
        context::ToolContext,
        waiting::{Completion, Wait, WaitTarget},
    },
};

/// Default of the argument `timeout_seconds`.
const TIMEOUT_S: u64 = 40;

/// Waits for jobs, a run or a plan execution to finish, and returns the results.
///
/// Pass exactly one of the four ids. After `status: timed_out` call again.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WaitForCompletion {
    /// From `start_run` or `list_jobs`.
    pub job_id: Option<Uuid>,
    /// 1-50 ids; from `start_run` or `list_jobs`.
    #[schemars(length(min = 1, max = 50))]
    pub job_ids: Option<Vec<Uuid>>,
    /// From `list_runs`.
    pub run_id: Option<Id>,
    /// From `start_run` or `start_test_plan_run`.
    pub test_plan_execution_id: Option<Id>,
    /// 1-7200; default 40. More needs a host that shows progress.
    #[schemars(range(min = 1, max = 7200), extend("default" = 40))]
    pub timeout_seconds: Option<u64>,
    /// 1-300; default: rises from 1 to 30.
    #[schemars(range(min = 1, max = 300))]
    pub poll_interval_seconds: Option<u64>,
}

impl CompositeTool for WaitForCompletion {
    const TOOL: ToolInfo = ToolInfo::reads("wait_for_completion", "Wait for runs to finish", Toolset::Runs)
        .core()
        .needs("project:read-runs")
        .rules(&[Rule::ExactlyOne(&[
            ResultKind::Job.argument(),
            "job_ids",
            ResultKind::Run.argument(),
            ResultKind::Execution.argument(),
        ])]);
    type Answer = Completion;

    async fn run(self, context: ToolContext) -> Result<Completion, Failure> {
        let wait = Wait {
            timeout: Duration::from_secs(self.timeout_seconds.unwrap_or(TIMEOUT_S)),
            interval: self.poll_interval_seconds.map(Duration::from_secs),
            project: context.project,
            target: self.target()?,
            expected_jobs: Vec::new(),
        };
        wait.run(&context.caller, &context.options).await
    }
}

impl WaitForCompletion {
    fn target(&self) -> Result<WaitTarget, Failure> {
        let Self { job_id, job_ids, run_id, test_plan_execution_id, .. } = self;
        let job = job_id.as_ref().map(|id| ResultId::new(ResultKind::Job, id.0.as_str()));
        let jobs = job_ids.as_ref().map(|ids| WaitTarget::Jobs(ids.iter().map(|id| id.0.clone()).collect()));
        let run = run_id.as_ref().map(|id| ResultId::new(ResultKind::Run, id.0.as_str()));
        let execution =
            test_plan_execution_id.as_ref().map(|id| ResultId::new(ResultKind::Execution, id.0.as_str()));
        let target = job.or(run).or(execution).map(WaitTarget::Single).or(jobs);

        target.ok_or_else(|| {
            Failure::new(Code::InvalidArguments, "wait_for_completion: one of the ids is required")
        })
    }
}
