//! `summarize_results`: what became of runs, in one short answer.
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

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
        summary::{Request, Summary},
    },
};

/// Sums up a run, job or plan execution: verdicts, why tests failed, bugs, flaky tests, changes.
///
/// Takes one of the ids.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SummarizeResults {
    pub run_id: Option<Id>,
    pub job_id: Option<Uuid>,
    pub test_plan_execution_id: Option<Id>,
    /// `previous`, or id of an execution, run or job.
    pub compare_with: Option<Id>,
}

impl CompositeTool for SummarizeResults {
    const TOOL: ToolInfo = ToolInfo::reads("summarize_results", "Summarize results", Toolset::Runs)
        .core()
        .needs("project:read-runs")
        .rules(&[Rule::ExactlyOne(&[
            ResultKind::Run.argument(),
            ResultKind::Job.argument(),
            ResultKind::Execution.argument(),
        ])])
        .with_view();
    type Answer = Summary;

    async fn run(self, desk: ToolContext) -> Result<Summary, Failure> {
        let request = Request {
            target: self.target()?,
            project: desk.project,
            compare_with: self.compare_with.map(|id| id.0),
        };
        request.run(&desk.gateway, &desk.audience).await
    }
}

impl SummarizeResults {
    fn target(&self) -> Result<ResultId, Failure> {
        let Self { run_id, job_id, test_plan_execution_id, .. } = self;
        let run = run_id.as_ref().map(|id| ResultId::new(ResultKind::Run, id.0.as_str()));
        let job = job_id.as_ref().map(|id| ResultId::new(ResultKind::Job, id.0.as_str()));
        let execution =
            test_plan_execution_id.as_ref().map(|id| ResultId::new(ResultKind::Execution, id.0.as_str()));
        let target = run.or(job).or(execution);

        target.ok_or_else(|| {
            Failure::new(Code::InvalidArguments, "summarize_results: no id says what to sum up")
        })
    }
}
