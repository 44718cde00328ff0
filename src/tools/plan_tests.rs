//! `change_plan_tests`: changes the tests of one plan, or of all plans whose names contain a text.
//!
//! A plan has no version (service.md 4.4). Each plan is read again directly before it is written, so that the change is made
//! to the tests that it has then.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use super::{composite::CompositeTool, context::ToolContext, project_client::ProjectClient};
use crate::{
    call::RequestPreview,
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            Open, Uuid,
            plans::{GetTestPlan, ListTestPlans, TestPlan, TestPlanItem, TestPlanSummary, UpdateTestPlan},
        },
        rule::Rule,
        tool::{DRY_RUN, ToolInfo, Toolset},
    },
};

/// Largest number of plans that are changed without a question to the user.
const MOST_UNASKED: usize = 5;

/// Largest number of plans of one call.
const MAX_PLANS: usize = 50;

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
#[expect(missing_docs, reason = "it would become a part of the description of the argument")]
pub struct ReplacedTest {
    /// Id of a test in the plan.
    pub old: Uuid,
    /// Id of the test that takes its place.
    pub new: Uuid,
}

/// The plans that were changed.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct PlanTests {
    /// `changed`; `incomplete`: see `plans[].error`; `nothing_to_change`; `dry_run`: nothing was sent.
    pub status: &'static str,
    /// The project of the plans.
    pub project_id: Option<String>,
    /// The plans that the change concerns.
    pub plans: Vec<ChangedPlan>,
    /// Names of the plans that need no change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unchanged: Vec<String>,
}

/// A plan that was changed.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ChangedPlan {
    pub id: String,
    pub name: String,
    /// Ids of its tests before the change.
    pub before: Vec<String>,
    /// Ids of its tests after the change.
    pub after: Vec<String>,
    /// The request of a dry run.
    #[schemars(with = "Option<Open>")]
    pub request: Option<RequestPreview>,
    /// Why the plan was not changed.
    pub error: Option<String>,
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
        let mut client = ProjectClient { caller: context.caller.clone(), project: context.project.clone() };
        let mut answer = PlanTests::default();
        let mut planned = Vec::new();
        for id in self.plan_ids(&client).await? {
            let plan = read_plan(&mut client, &id).await?;
            if json!(self.change(&plan.test_items)) == json!(plan.test_items) {
                answer.unchanged.push(plan.name);
            } else {
                planned.push(plan);
            }
        }
        answer.project_id.clone_from(&client.project);

        let count = planned.len();
        let agreed = self.max_plans.filter(|_| context.is_confirmed).unwrap_or(MOST_UNASKED);
        if count > agreed && !context.is_dry_run {
            let question = format!("change_plan_tests changes the tests of {count} plans");
            client.require_agreement(question, "max_plans", count)?;
        }

        let mut failures = Vec::new();
        for plan in planned {
            let mut changed =
                ChangedPlan { id: plan.id.clone(), name: plan.name.clone(), ..ChangedPlan::default() };
            if let Err(failure) = self.write(&mut client, plan, &mut changed, context.is_dry_run).await {
                changed.error = Some(failure.to_string());
                failures.push(failure);
            }
            answer.plans.push(changed);
        }

        answer.finish(failures, context.is_dry_run)
    }
}

impl ChangePlanTests {
    async fn plan_ids(&self, client: &ProjectClient) -> Result<Vec<String>, Failure> {
        if let Some(Uuid(id)) = &self.test_plan_id {
            return Ok(vec![id.clone()]);
        }
        let filter = Fields::from_iter([("search".to_owned(), json!(self.plan_name))]);
        let plans = client.read_list::<ListTestPlans, TestPlanSummary>(&filter).await?;

        if plans.is_empty() {
            let message = "change_plan_tests: no plan has a name with this text";
            return Err(Failure::new(Code::NotFound, message)
                .hint("nothing was changed[[: `tool:list_test_plans` lists the plans]]"));
        }
        if plans.len() > MAX_PLANS {
            let count = plans.len();
            let message = format!("change_plan_tests: {count} plans have this text, more than {MAX_PLANS}");
            return Err(Failure::new(Code::TooLarge, message).hint("nothing was changed: pass a longer text"));
        }

        Ok(plans.into_iter().map(|plan| plan.id).collect())
    }

    /// Returns the tests of a plan after the change. Tests that stay keep all their fields.
    fn change(&self, items: &[TestPlanItem]) -> Vec<TestPlanItem> {
        let is = |item: &TestPlanItem, id: &Uuid| item.multiplayer_test_id.eq_ignore_ascii_case(&id.0);
        let mut changed = items.to_vec();

        changed.retain(|item| !self.remove.iter().flatten().any(|id| is(item, id)));
        for item in &mut changed {
            if let Some(pair) = self.replace.iter().flatten().find(|pair| is(item, &pair.old)) {
                item.multiplayer_test_id.clone_from(&pair.new.0);
            }
        }

        let missing = self.add.iter().flatten().filter(|id| !changed.iter().any(|item| is(item, id)));
        let new = missing.map(|id| TestPlanItem {
            multiplayer_test_id: id.0.clone(),
            retries: self.retries.unwrap_or_default(),
            more: Open::default(),
        });
        let new: Vec<_> = new.collect();
        let place = self.position.map_or(changed.len(), |position| position.saturating_sub(1));
        let place = place.min(changed.len());
        changed.splice(place..place, new);

        changed
    }

    /// Writes the tests of a plan as they are now, changed. `plan` is what a dry run shows.
    async fn write(
        &self,
        client: &mut ProjectClient,
        mut plan: TestPlan,
        changed: &mut ChangedPlan,
        is_dry_run: bool,
    ) -> Result<(), Failure> {
        if !is_dry_run {
            plan = read_plan(client, &plan.id).await?;
        }
        let items = self.change(&plan.test_items);
        changed.before = test_ids(&plan.test_items);
        changed.after.clone_from(&changed.before);

        let patch = Open::from_iter([("test_items".to_owned(), json!(items))]);
        let operation = UpdateTestPlan { test_plan_id: Uuid(plan.id), patch };
        if is_dry_run {
            changed.request = Some(client.preview(&operation).await?);
            changed.after = test_ids(&items);
        } else {
            let written = client.call(&operation).await?.view::<UpdateTestPlan>();
            changed.after = test_ids(&written.test_items);
        }

        Ok(())
    }
}

/// Reads a plan. The calls after it go to the project that has answered.
async fn read_plan(client: &mut ProjectClient, id: &str) -> Result<TestPlan, Failure> {
    let reply = client.call(&GetTestPlan { test_plan_id: Uuid(id.to_owned()) }).await?;
    if !reply.value().get("test_items").is_some_and(Value::is_array) {
        let message = "change_plan_tests: the service did not return the tests of the plan";
        return Err(Failure::new(Code::BadResponse, message).hint("nothing was changed"));
    }
    client.project = reply.project().map(str::to_owned).or(client.project.take());

    Ok(reply.view::<GetTestPlan>())
}

fn test_ids(items: &[TestPlanItem]) -> Vec<String> {
    items.iter().map(|item| item.multiplayer_test_id.clone()).collect()
}

impl PlanTests {
    /// Sets the status.
    ///
    /// # Errors
    /// The first failure if no plan was changed.
    fn finish(mut self, failures: Vec<Failure>, is_dry_run: bool) -> Result<Self, Failure> {
        let all_failed = failures.len() == self.plans.len();
        if let Some(failure) = failures.into_iter().next().filter(|_| all_failed) {
            return Err(failure);
        }

        self.status = if self.plans.is_empty() {
            "nothing_to_change"
        } else if is_dry_run {
            DRY_RUN
        } else if self.plans.iter().any(|plan| plan.error.is_some()) {
            "incomplete"
        } else {
            "changed"
        };
        Ok(self)
    }
}
