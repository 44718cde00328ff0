//! `summarize_results`: a short summary of the results of runs.
#![expect(missing_docs, reason = "the names of the service are self-explanatory")]

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
        summary::{Summary, SummaryRequest},
    },
};

/// Summarizes a run, a job or a plan execution: results, failure causes, bugs, flaky tests, changes.
///
/// Pass exactly one of the three ids.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SummarizeResults {
    pub run_id: Option<Id>,
    pub job_id: Option<Uuid>,
    pub test_plan_execution_id: Option<Id>,
    /// `previous`, or the id of an execution, run or job.
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

    async fn run(self, context: ToolContext) -> Result<Summary, Failure> {
        let request = SummaryRequest {
            target: self.target()?,
            project: context.project,
            compare_with: self.compare_with.map(|id| id.0),
        };
        request.run(&context.gateway, &context.caller).await
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
            Failure::new(Code::InvalidArguments, "summarize_results: one of the ids is required")
        })
    }
}
