//! Tools that this program builds from several operations, local files and time.
//!
//! Here are their arguments, with the texts that a model reads. What they do is in the modules that they import.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use self::{
    changes::{ChangePlanTests, RerunResults},
    downloads::{DownloadMinion, DownloadRunFiles, minion_platform},
    uploads::{UploadBuild, UploadBuildAnswer, UploadRemoteBuild},
};
use crate::{
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{Id, Uuid},
        result_kind::{ResultId, ResultKind},
        rule::Rule,
        tool::{ToolInfo, Toolset},
    },
    tools::{
        context::ToolContext,
        name_search::{NameSearch, NameSearchAnswer, RecordKind},
        summary::{Summary, SummaryRequest, SummaryTarget},
        waiting::{Completion, Wait, WaitTarget},
    },
    violation::Violation,
};

mod changes;
mod downloads;
mod uploads;

/// A composite tool.
///
/// The implementing struct is the arguments of the tool. Its doc comment is the description that a model reads.
pub trait CompositeTool: DeserializeOwned + JsonSchema + Send + 'static {
    /// Properties of the tool.
    const TOOL: ToolInfo;
    /// Name of the tool.
    const NAME: &'static str = Self::TOOL.name;

    /// The answer.
    type Answer: Serialize + JsonSchema + 'static;

    /// Runs the tool. Dropping the future cancels the tool.
    fn run(self, context: ToolContext) -> impl Future<Output = Result<Self::Answer, Failure>> + Send;
}

/// Finds tests, plans, devices, builds and other records by name, in all folders and pages. Use this to get ids.
///
/// Returns all records with the name, or else the nearest ones, marked `similar`; for plans with slots, for tests with
/// players. The `id` of a test is the `multiplayer_test_id` of other tools.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FindByName {
    /// 1-20 names or ids.
    #[schemars(length(min = 1, max = 20), inner(length(min = 1, max = 200)))]
    pub names: Vec<String>,
    /// Default: all.
    pub kinds: Option<Vec<RecordKind>>,
}

impl CompositeTool for FindByName {
    const TOOL: ToolInfo = ToolInfo::reads("find_by_name", "Find records by name", Toolset::Runs).core();
    type Answer = NameSearchAnswer;

    async fn run(self, context: ToolContext) -> Result<NameSearchAnswer, Failure> {
        let search =
            NameSearch { names: self.names, kinds: self.kinds.unwrap_or_default(), with_details: true };
        search.run(&context.caller, context.project, &context.options).await
    }
}

/// Default of the argument `timeout_seconds`.
const TIMEOUT_S: u64 = 40;

/// Waits for jobs, a run or a plan execution to finish, and returns the results.
///
/// Pass exactly one of the four ids. After `status: timed_out` call again.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WaitForCompletion {
    /// From `tool:start_run|list_jobs|list_runs`.
    pub job_id: Option<Uuid>,
    /// 1-50 ids[[; from `tool:start_run|list_jobs|list_runs`]].
    #[schemars(length(min = 1, max = 50))]
    pub job_ids: Option<Vec<Uuid>>,
    /// From `tool:list_runs`.
    pub run_id: Option<Id>,
    /// From `tool:start_run|start_test_plan_run`.
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
        let mut completion = wait.run(&context.caller, &context.options).await?;
        completion.next.iter_mut().for_each(|next| next.address(&*context.options.tools));

        Ok(completion)
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

/// Summarizes results: verdicts, failure causes, bugs, retries, changes. For "what failed?" and "what is new?".
///
/// Pass exactly one: the id of a run, a job or a plan execution, of a plan or a test for its latest result, or `latest`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SummarizeResults {
    /// From `tool:list_runs`.
    pub run_id: Option<Id>,
    /// From `tool:start_run|list_jobs|list_runs`.
    pub job_id: Option<Uuid>,
    /// From `tool:start_run|list_test_plan_executions`.
    pub test_plan_execution_id: Option<Id>,
    /// The latest execution of this plan.[[ From `tool:find_by_name`.]]
    pub test_plan_id: Option<Uuid>,
    /// The latest run of this test.[[ From `tool:find_by_name`.]]
    pub multiplayer_test_id: Option<Uuid>,
    /// The newest run of the project; default false.
    #[schemars(extend("default" = false))]
    pub latest: Option<bool>,
    /// `previous`, or the id of an execution, run or job.
    pub compare_with: Option<Id>,
    /// Name or id of a build, or `latest-passed`: adds which failures are new, known and fixed since its last result.
    pub baseline: Option<String>,
    /// 2-30: adds a grid of the last results of the plan or test.
    #[schemars(range(min = 2, max = 30))]
    pub history: Option<u8>,
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
            "latest",
        ])])
        .own_rules(&[Rule::Custom(check_history)])
        .with_view();
    type Answer = Summary;

    async fn run(self, context: ToolContext) -> Result<Summary, Failure> {
        let request = SummaryRequest {
            target: self.target()?,
            project: context.project,
            compare_with: self.compare_with.map(|id| id.0),
            baseline: self.baseline,
            history: self.history.map(usize::from),
        };
        let mut summary = request.run(&context.caller, &context.options).await?.shortened();
        summary.left_out.iter_mut().for_each(|left_out| left_out.how.address(&*context.options.tools));

        Ok(summary)
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
        let latest = self.latest.filter(|latest| *latest).map(|_| SummaryTarget::Latest);

        run.or(job).or(execution).or(plan).or(test).or(latest).ok_or_else(|| {
            Failure::new(Code::InvalidArguments, "summarize_results: one of the ids is required")
        })
    }
}

/// A history is one of a plan or a test.
fn check_history(arguments: &Fields, violations: &mut Vec<Violation>) {
    let has_owner =
        ["test_plan_id", "multiplayer_test_id"].iter().any(|owner| arguments.contains_key(*owner));
    if arguments.contains_key("history") && !has_owner {
        violations.push(Violation::new("history", "requires `test_plan_id` or `multiplayer_test_id`"));
    }
}
