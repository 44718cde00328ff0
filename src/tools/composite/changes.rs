//! The tools that change several records in one call: `rerun_results` and `change_plan_tests`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{CompositeTool, lacks_id};
use crate::{
    failure::Failure,
    service::{
        api::{Id, Uuid},
        record_kind::{ResultKind, ResultTarget},
        rule::Rule,
        tool::{ToolInfo, Toolset},
    },
    tools::{
        context::ToolContext,
        plan_tests::{ChosenPlans, PlanTests, PlanTestsChange, PlanTestsRequest},
        rerun::{Rerun, RerunRequest, RerunSelection},
        summary::LatestResult,
    },
};

/// Starts again what failed in a run, job or plan execution: one run per test, without retries.
///
/// Pass exactly one id. A repeated call starts nothing twice.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RerunResults {
    /// From `tool:list_runs`.
    pub run_id: Option<Id>,
    /// From `tool:start_run|list_jobs|list_runs`.
    pub job_id: Option<Uuid>,
    /// From `tool:start_run|list_test_plan_executions`.
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
    /// Number of starts to which a person has agreed, 1-50; with `argument:confirm`.
    #[schemars(range(min = 1, max = 50))]
    pub max_starts: Option<usize>,
}

impl CompositeTool for RerunResults {
    const TOOL: ToolInfo = ToolInfo::creates("rerun_results", "Rerun results", Toolset::Runs)
        .core()
        .needs("project:operate-runs")
        .rules(&[Rule::ExactlyOne(&[
            ResultKind::Run.argument(),
            ResultKind::Job.argument(),
            ResultKind::Execution.argument(),
            "test_plan_id",
        ])])
        .recovery_hint("call again: what was started is found by its tag")
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
            source,
            selection: self.which.unwrap_or_default(),
            project: context.project,
            device: self.deployment_config_id.map(|id| id.0),
            build: self.build_id.map(|id| id.0),
            agent: self.agent_config_id.map(|id| id.0),
            is_dry_run: context.is_dry_run,
            is_confirmed: context.is_confirmed,
            max_starts: self.max_starts,
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
    /// Text in the names of the plans, 1-200 characters.
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
    /// Number of plans to whose change a person has agreed, 1-50; with `argument:confirm`.
    #[schemars(range(min = 1, max = 50))]
    pub max_plans: Option<usize>,
}

// A test of a plan, and the test that takes its place.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReplacedTest {
    /// Id of a test in the plan.
    pub old: Uuid,
    /// Id of the test that takes its place.
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
        let max_plans = self.max_plans;
        PlanTestsRequest { plans, project, change, is_dry_run, is_confirmed, max_plans }
            .run(&context.caller)
            .await
    }
}
