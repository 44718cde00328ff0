//! Tools that this program builds from several operations, local files and time.
//!
//! Here are their arguments, with the texts that a model reads. What they do is in the modules that they import.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use self::{
    downloads::{DownloadMinion, DownloadRunFiles, minion_platform},
    uploads::{UploadBuild, UploadBuildAnswer, UploadRemoteBuild},
};
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
        name_search::{NameSearch, NameSearchAnswer, RecordKind},
        plan_tests::{ChosenPlans, PlanTests, PlanTestsChange, PlanTestsRequest},
        rerun::{Rerun, RerunRequest, RerunSelection},
        summary::{Summary, SummaryRequest, SummaryTarget},
        waiting::{Completion, Wait, WaitTarget},
    },
};

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
/// Returns all records with the name, or else the nearest ones, marked `similar`. The `id` of a test is the
/// `multiplayer_test_id` of other tools.
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
        let search = NameSearch { names: self.names, kinds: self.kinds.unwrap_or_default() };
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
/// Pass exactly one id: of a run, a job or a plan execution, or of a plan or a test for its latest result.
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
        let mut summary = request.run(&context.caller, &context.options).await?;
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

        run.or(job).or(execution).or(plan).or(test).ok_or_else(|| {
            Failure::new(Code::InvalidArguments, "summarize_results: one of the ids is required")
        })
    }
}

/// Starts again what did not pass in a run, a job or a plan execution: one start for each test.
///
/// Pass exactly one id. A repeated call starts nothing twice. The started jobs have the tag `rerun-of:<job>`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RerunResults {
    /// From `tool:list_runs`.
    pub run_id: Option<Id>,
    /// From `tool:start_run|list_jobs|list_runs`.
    pub job_id: Option<Uuid>,
    /// From `tool:start_run|list_test_plan_executions`.
    pub test_plan_execution_id: Option<Id>,
    /// `infrastructure` (default): ERROR, TIMEOUT, STOPPED or no run; `failed`: also FAILED, BLOCKED, MAX_STEPS; `flaky`:
    /// passed after a retry.
    pub which: Option<RerunSelection>,
    /// Default: the device of each run, if only one fits.
    pub deployment_config_id: Option<Uuid>,
    /// Default: the build of each run.
    pub build_id: Option<Uuid>,
    /// Default: the service chooses.
    pub agent_config_id: Option<Uuid>,
}

impl CompositeTool for RerunResults {
    const TOOL: ToolInfo = ToolInfo::creates("rerun_results", "Rerun results", Toolset::Runs)
        .core()
        .needs("project:operate-runs")
        .rules(&[Rule::ExactlyOne(&[
            ResultKind::Run.argument(),
            ResultKind::Job.argument(),
            ResultKind::Execution.argument(),
        ])])
        .recovery_hint("call again: what was started is found by its tag")
        // The number of starts is known only after the results are read.
        .asks_confirmation(|_| None);
    type Answer = Rerun;

    async fn run(self, context: ToolContext) -> Result<Rerun, Failure> {
        let id = |kind, id: Option<&str>| id.map(|id| ResultId::new(kind, id));
        let source = id(ResultKind::Run, self.run_id.as_ref().map(|id| id.0.as_str()))
            .or(id(ResultKind::Job, self.job_id.as_ref().map(|id| id.0.as_str())))
            .or(id(ResultKind::Execution, self.test_plan_execution_id.as_ref().map(|id| id.0.as_str())));
        let request = RerunRequest {
            source: source.ok_or_else(|| {
                Failure::new(Code::InvalidArguments, "rerun_results: one of the ids is required")
            })?,
            selection: self.which.unwrap_or_default(),
            project: context.project,
            device: self.deployment_config_id.map(|id| id.0),
            build: self.build_id.map(|id| id.0),
            agent: self.agent_config_id.map(|id| id.0),
            is_dry_run: context.is_dry_run,
            is_confirmed: context.is_confirmed,
        };

        let mut rerun = request.run(&context.caller, &context.options).await?;
        rerun.next.iter_mut().for_each(|next| next.address(&*context.options.tools));
        Ok(rerun)
    }
}

/// Adds, removes or replaces tests of a plan, or of all plans whose names contain a text. Other tests keep their places.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ChangePlanTests {
    /// From `tool:list_test_plans`. Pass this or `plan_name`.
    pub test_plan_id: Option<Uuid>,
    /// Text in the names of the plans.
    #[schemars(length(min = 1, max = 200))]
    pub plan_name: Option<String>,
    /// Ids of tests. One that is in the plan is not added again.
    pub add: Option<Vec<Uuid>>,
    /// Place of the first added test, from 1; default: the end.
    #[schemars(range(min = 1))]
    pub position: Option<usize>,
    /// Of the added tests, 0-10; default 0.
    #[schemars(range(min = 0, max = 10))]
    pub retries: Option<u32>,
    /// Ids of tests.
    pub remove: Option<Vec<Uuid>>,
    /// Ids of tests in pairs.
    pub replace: Option<Vec<ReplacedTest>>,
}

// A test of a plan, and the test that takes its place.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ReplacedTest {
    pub old: Uuid,
    pub new: Uuid,
}

impl CompositeTool for ChangePlanTests {
    const TOOL: ToolInfo =
        ToolInfo::replaces("change_plan_tests", "Change the tests of plans", Toolset::Plans)
            .needs("project:edit-tests")
            .rules(&[
                Rule::ExactlyOne(&["test_plan_id", "plan_name"]),
                Rule::AtLeastOne(&["add", "remove", "replace"]),
                Rule::Needs("position", "add"),
                Rule::Needs("retries", "add"),
            ])
            .recovery_hint("call again: a plan that has the change already is not changed again")
            // The number of plans is known only after they are read.
            .asks_confirmation(|_| None);
    type Answer = PlanTests;

    async fn run(self, context: ToolContext) -> Result<PlanTests, Failure> {
        let ids = |ids: Option<Vec<Uuid>>| ids.into_iter().flatten().map(|id| id.0).collect();
        let replaced = self.replace.into_iter().flatten().map(|pair| (pair.old.0, pair.new.0));
        let change = PlanTestsChange {
            add: ids(self.add),
            position: self.position,
            retries: self.retries,
            remove: ids(self.remove),
            replace: replaced.collect(),
        };
        let plans = match (self.test_plan_id, self.plan_name) {
            (Some(id), _) => ChosenPlans::One(id.0),
            (None, name) => ChosenPlans::Named(name.unwrap_or_default()),
        };

        let (project, is_dry_run, is_confirmed) = (context.project, context.is_dry_run, context.is_confirmed);
        PlanTestsRequest { plans, project, change, is_dry_run, is_confirmed }.run(&context.caller).await
    }
}
