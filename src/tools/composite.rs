//! Tools that this program builds from several operations, local files and time.
//!
//! Here are their arguments, with the texts that a model reads. What they do is in the modules that they import.
#![expect(missing_docs, reason = "every doc comment is a text for a model")]

use std::{mem::take, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use self::local_files::{UploadBuild, UploadBuildAnswer};
pub use super::download::DownloadRunFiles;
use crate::{
    failure::{Code, Failure},
    service::{
        api::{Id, Uuid},
        record_kind::{RecordKind, ResultKind, ResultTarget},
        rule::Rule,
        tool::{LostFirst, ToolInfo, Toolset},
    },
    tools::{
        context::ToolContext,
        describe::{RecordDescription, find_record},
        find::{NameSearchAnswer, find_names},
        newest::LatestResult,
        project_client::ProjectClient,
        reader::Reader,
        rerun::{Rerun, RerunRequest, RerunSelection},
        summary::{Summary, SummaryRequest},
        waiting::{Completion, Wait},
    },
};

mod local_files;

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

/// Finds the ids of tests, plans, devices, builds and other records by name, in all folders.
///
/// Returns all records with the name in any letter case, else those that begin with it or contain it; plans with slots, tests
/// with players, builds with version. The `id` of a test is its `multiplayer_test_id`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FindByName {
    /// 1-20 names or ids.
    #[schemars(length(min = 1, max = 20), inner(length(min = 1, max = 200)))]
    pub names: Vec<String>,
    /// Default: all.
    #[schemars(extend("items" = {"type": "string", "enum": RecordKind::NAMED}))]
    pub kinds: Option<Vec<RecordKind>>,
}

impl CompositeTool for FindByName {
    const TOOL: ToolInfo = ToolInfo::reads("find_by_name", "Find records by name", Toolset::Runs);
    type Answer = NameSearchAnswer;

    async fn run(self, context: ToolContext) -> Result<NameSearchAnswer, Failure> {
        let reader = Reader::new(&context.caller, context.project.as_deref());
        let kinds = self.kinds.unwrap_or_default();
        reader.run(&context.options, find_names(&reader, &kinds, &self.names)).await
    }
}

/// Describes one record with the names of what it refers to.
///
/// Plans with tests, slots and executions; tests with plans and runs; bugs with occurrences; runs with bugs and failed steps.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DescribeRecord {
    /// Id or name, 1-200 characters.
    #[schemars(length(min = 1, max = 200))]
    pub record: String,
    /// Default: any.
    #[schemars(extend("enum" = RecordKind::described()))]
    pub kind: Option<RecordKind>,
}

impl CompositeTool for DescribeRecord {
    const TOOL: ToolInfo = ToolInfo::reads("describe_record", "Describe a record", Toolset::Runs);
    type Answer = RecordDescription;

    async fn run(self, context: ToolContext) -> Result<RecordDescription, Failure> {
        let reader = Reader::new(&context.caller, context.project.as_deref());
        let work = async {
            let (record, others) = find_record(&reader, &self.record, self.kind).await?;
            let description = RecordDescription::read(&reader, record, others).await?;
            Ok(RecordDescription { record: None, ..description })
        };
        reader.run(&context.options, work).await
    }
}

// The ids of results, of which a call has one. No doc comment, because it would become part of the descriptions.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct TargetIds {
    /// From `tool:list_runs`.
    pub run_id: Option<Id>,
    /// From `tool:list_jobs/list_runs`.
    pub job_id: Option<Uuid>,
    /// 1-50 ids.
    #[schemars(length(min = 1, max = 50))]
    pub job_ids: Option<Vec<Uuid>>,
    /// From `tool:list_test_plan_executions/summarize_results`.
    pub test_plan_execution_id: Option<Id>,
}

impl TargetIds {
    fn into_target(self) -> Option<ResultTarget> {
        let Self { run_id, job_id, job_ids, test_plan_execution_id } = self;
        ResultTarget::from_arguments(run_id, job_id, test_plan_execution_id, job_ids)
    }
}

/// Default of the argument `timeout_seconds`.
const TIMEOUT_S: u64 = 40;

/// Waits for jobs, a run or a plan execution to finish, and returns the results.
///
/// Pass exactly one of the four ids. If `status` is `timed_out`, call again.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WaitForCompletion {
    #[serde(flatten)]
    pub ids: TargetIds,
    /// 1-7200; default 40. More needs a host that shows progress.
    #[schemars(range(min = 1, max = 7200), extend("default" = 40))]
    pub timeout_seconds: Option<u64>,
    /// 1-300; default: rises from 1 to 30.
    #[schemars(range(min = 1, max = 300))]
    pub poll_interval_seconds: Option<u64>,
}

impl CompositeTool for WaitForCompletion {
    const TOOL: ToolInfo = ToolInfo::reads("wait_for_completion", "Wait for runs to finish", Toolset::Runs)
        .needs("project:read-runs")
        .rules(&[Rule::ExactlyOne(&[
            ResultKind::Job.argument(),
            ResultTarget::JOBS_ARGUMENT,
            ResultKind::Run.argument(),
            ResultKind::Execution.argument(),
        ])]);
    type Answer = Completion;

    async fn run(self, context: ToolContext) -> Result<Completion, Failure> {
        let wait = Wait {
            timeout: Duration::from_secs(self.timeout_seconds.unwrap_or(TIMEOUT_S)),
            interval: self.poll_interval_seconds.map(Duration::from_secs),
            project: context.project,
            target: self.ids.into_target().ok_or_else(|| lacks_id(Self::NAME))?,
        };
        let mut completion = wait.run(&context.caller, &context.options).await?;
        completion.next_step.iter_mut().for_each(|next| next.address(&*context.options.tools));

        Ok(completion)
    }
}

/// Summarizes results: verdicts, failure causes, bugs, retries, changes. For "what failed?" and "what is new?".
///
/// Pass exactly one id, `job_ids` or `latest`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SummarizeResults {
    #[serde(flatten)]
    pub ids: TargetIds,
    /// The latest execution of this plan.[[ From `tool:find_by_name`.]]
    pub test_plan_id: Option<Uuid>,
    /// The latest run of this test.[[ From `tool:find_by_name`.]]
    pub multiplayer_test_id: Option<Uuid>,
    /// The newest run; default false.
    #[schemars(extend("default" = false))]
    pub latest: Option<bool>,
    /// Adds what is new, known and fixed since `previous`, `latest-passed`, the id of a result, or the name or id of
    /// a build.
    pub compare_with: Option<Id>,
    /// 2-30: adds a grid of the last results.
    #[schemars(range(min = 2, max = 30))]
    pub history: Option<u8>,
}

impl CompositeTool for SummarizeResults {
    const TOOL: ToolInfo = ToolInfo::reads("summarize_results", "Summarize results", Toolset::Runs)
        .only_if_selected(("failures", "artifacts"))
        .needs("project:read-runs")
        .rules(&[Rule::ExactlyOne(&[
            ResultKind::Run.argument(),
            ResultKind::Job.argument(),
            ResultKind::Execution.argument(),
            ResultTarget::JOBS_ARGUMENT,
            "test_plan_id",
            "multiplayer_test_id",
            "latest",
        ])])
        // The ids of the grid, then the tests in it that did not change, which come last.
        .loses_first(&[
            LostFirst::Field { list: "/history/tests", name: "id" },
            LostFirst::Field { list: "/history/results", name: "id" },
            LostFirst::Entries { list: "/history/tests", kept: "/history/changing" },
            LostFirst::Field { list: "/history/tests", name: "failed_run_id" },
        ])
        .with_view();
    type Answer = Summary;

    async fn run(mut self, context: ToolContext) -> Result<Summary, Failure> {
        let request = SummaryRequest {
            target: self.target(&context).await?,
            project: context.project,
            compare_with: self.compare_with.map(|with| with.0),
            history: self.history.map(usize::from),
        };
        let mut summary = request.run(&context.caller, &context.options).await?;
        summary.left_out.iter_mut().for_each(|left_out| left_out.how.address(&*context.options.tools));

        Ok(summary)
    }
}

impl SummarizeResults {
    async fn target(&mut self, context: &ToolContext) -> Result<ResultTarget, Failure> {
        if let Some(results) = take(&mut self.ids).into_target() {
            return Ok(results);
        }

        let plan = self.test_plan_id.take().map(|id| LatestResult::OfPlan(id.0));
        let test = self.multiplayer_test_id.take().map(|id| LatestResult::OfTest(id.0));
        let project = self.latest.filter(|latest| *latest).map(|_| LatestResult::OfProject);
        let latest = plan.or(test).or(project).ok_or_else(|| lacks_id(Self::NAME))?;

        Ok(latest.find(&context.caller, context.project.as_deref()).await?.into())
    }
}

/// Starts again what failed in a run, job or plan execution: one run per test, without retries.
///
/// A repeated call starts nothing twice.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RerunResults {
    /// From `tool:list_runs`.
    pub run_id: Option<Id>,
    /// From `tool:list_jobs/list_runs`.
    pub job_id: Option<Uuid>,
    /// From `tool:list_test_plan_executions/summarize_results`.
    pub test_plan_execution_id: Option<Id>,
    /// The latest execution of this plan.
    pub test_plan_id: Option<Uuid>,
    /// `infrastructure` (default): ERROR, TIMEOUT, STOPPED, no run; `failed`: all failures; `flaky`: passed on a retry; `all`.
    pub which: Option<RerunSelection>,
    /// Default: that of each run, if known.
    pub deployment_config_id: Option<Uuid>,
    /// Default: that of each run.
    pub build_id: Option<Uuid>,
    /// Default: automatic.
    pub agent_config_id: Option<Uuid>,
    /// Starts that a person agreed to, 1-50; with `argument:confirm`.
    #[schemars(range(min = 1, max = 50))]
    pub max_starts: Option<usize>,
}

impl CompositeTool for RerunResults {
    const TOOL: ToolInfo = ToolInfo::creates("rerun_results", "Rerun results", Toolset::Runs)
        .needs("project:operate-runs")
        .rules(&[Rule::ExactlyOne(&[
            ResultKind::Run.argument(),
            ResultKind::Job.argument(),
            ResultKind::Execution.argument(),
            "test_plan_id",
        ])])
        .recovery_hint("call again: what was started is found by its tag")
        // Fifty starts with all their ids are longer than a reply, whose ids of jobs a wait needs.
        .loses_first(&[
            LostFirst::Field { list: "/tests", name: "run_id" },
            LostFirst::Field { list: "/tests", name: "deployment_config_id" },
        ])
        // The number of starts is known only after the results are read.
        .asks_confirmation(|_| None);
    type Answer = Rerun;

    async fn run(self, context: ToolContext) -> Result<Rerun, Failure> {
        let source =
            ResultTarget::from_arguments(self.run_id, self.job_id, self.test_plan_execution_id, None);
        let source = match (source, self.test_plan_id) {
            (Some(ResultTarget::Single(source)), _) => source,
            (_, Some(plan)) => {
                LatestResult::OfPlan(plan.0).find(&context.caller, context.project.as_deref()).await?
            }
            (_, None) => return Err(lacks_id(Self::NAME)),
        };
        let request = RerunRequest {
            client: ProjectClient { caller: context.caller, project: context.project },
            source,
            selection: self.which.unwrap_or_default(),
            device: self.deployment_config_id.map(|id| id.0),
            build: self.build_id.map(|id| id.0),
            agent: self.agent_config_id.map(|id| id.0),
            is_dry_run: context.is_dry_run,
            is_confirmed: context.is_confirmed,
            max_starts: self.max_starts,
        };

        request.run().await
    }
}

/// Returns the failure of a call without an id. The rules of the tools exclude it.
fn lacks_id(tool: &str) -> Failure {
    Failure::new(Code::InvalidArguments, format!("{tool}: one of the ids is required"))
}
