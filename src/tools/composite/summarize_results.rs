//! `summarize_results`: a short summary of the results of runs.

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
        summary::{Summary, SummaryRequest, SummaryTarget},
    },
};

/// Summarizes results: verdicts, failure causes, bugs, flaky tests, changes. For "what failed?" and "what is new?".
///
/// Pass exactly one id: of a run, a job or a plan execution, or of a plan or a test for its latest result.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SummarizeResults {
    /// From `list_runs`.
    pub run_id: Option<Id>,
    /// From `start_run`.
    pub job_id: Option<Uuid>,
    /// From `start_test_plan_run`.
    pub test_plan_execution_id: Option<Id>,
    /// The latest execution of this plan. From `find_by_name`.
    pub test_plan_id: Option<Uuid>,
    /// The latest run of this test. From `find_by_name`.
    pub multiplayer_test_id: Option<Uuid>,
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
            "test_plan_id",
            "multiplayer_test_id",
        ])])
        .with_view();
    type Answer = Summary;

    async fn run(self, context: ToolContext) -> Result<Summary, Failure> {
        let request = SummaryRequest {
            target: self.target()?,
            project: context.project,
            compare_with: self.compare_with.map(|id| id.0),
        };
        request.run(&context.caller, &context.options).await
    }
}

impl SummarizeResults {
    fn target(&self) -> Result<SummaryTarget, Failure> {
        let record = |kind, id: &str| SummaryTarget::Record(ResultId::new(kind, id));
        let run = self.run_id.as_ref().map(|id| record(ResultKind::Run, &id.0));
        let job = self.job_id.as_ref().map(|id| record(ResultKind::Job, &id.0));
        let execution = self.test_plan_execution_id.as_ref().map(|id| record(ResultKind::Execution, &id.0));
        let plan = self.test_plan_id.as_ref().map(|id| SummaryTarget::LatestExecution(id.0.clone()));
        let test = self.multiplayer_test_id.as_ref().map(|id| SummaryTarget::LatestRun(id.0.clone()));

        run.or(job).or(execution).or(plan).or(test).ok_or_else(|| {
            Failure::new(Code::InvalidArguments, "summarize_results: one of the ids is required")
        })
    }
}
