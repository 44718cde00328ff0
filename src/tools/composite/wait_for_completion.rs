//! `wait_for_completion`: runs come to their end.
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

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

/// Seconds that are waited where the caller does not say.
const TIMEOUT_S: u64 = 40;

/// Waits for jobs, a run or a plan execution to finish; tells the verdicts.
///
/// Takes one of the ids. After `timed_out` call again with the same arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WaitForCompletion {
    pub job_id: Option<Uuid>,
    /// 1-50.
    #[schemars(length(min = 1, max = 50))]
    pub job_ids: Option<Vec<Uuid>>,
    pub run_id: Option<Id>,
    pub test_plan_execution_id: Option<Id>,
    /// 1-7200, default 40; more only with progress.
    #[schemars(range(min = 1, max = 7200), extend("default" = 40))]
    pub timeout_seconds: Option<u64>,
    /// 1-300; default grows from 1 to 30.
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

    async fn run(self, desk: ToolContext) -> Result<Completion, Failure> {
        let wait = Wait {
            timeout: Duration::from_secs(self.timeout_seconds.unwrap_or(TIMEOUT_S)),
            interval: self.poll_interval_seconds.map(Duration::from_secs),
            project: desk.project,
            target: self.target()?,
            named: Vec::new(),
        };
        wait.run(&desk.gateway, &desk.audience).await
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
            Failure::new(Code::InvalidArguments, "wait_for_completion: no id says what to wait for")
        })
    }
}
