//! Changes the tests of one plan, or of all plans whose names contain a text.
//!
//! A plan has no version (service.md 4.4). Each plan is read a second time directly before it is written, and the answer to
//! the write is compared with what was sent, so that the change of another writer is not lost without a word.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use super::project_client::ProjectClient;
use crate::{
    call::{Caller, RequestPreview, arguments::AGREEMENT},
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            Open, Uuid,
            plans::{GetTestPlan, ListTestPlans, TestPlan, TestPlanItem, TestPlanSummary, UpdateTestPlan},
        },
        tool::DRY_RUN,
    },
};

/// Largest number of plans that are changed without a question to the user.
const MOST_UNASKED: usize = 5;

/// Largest number of plans of one call.
const MAX_PLANS: usize = 50;

/// Which plans are changed.
#[derive(Clone, Debug)]
pub(crate) enum ChosenPlans {
    /// The plan with this id.
    One(String),
    /// All plans whose names contain this text.
    Named(String),
}

/// A change of the tests of plans. A test in a plan is not added a second time.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanTestsChange {
    /// Ids of the new tests, in their order.
    pub(crate) add: Vec<String>,
    /// Place of the first new test, from 1; `None` for the end.
    pub(crate) position: Option<usize>,
    /// Retries of the new tests.
    pub(crate) retries: Option<u32>,
    pub(crate) remove: Vec<String>,
    /// Ids of tests with the ids of those that take their places.
    pub(crate) replace: IndexMap<String, String>,
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
    /// Why the plan was not changed, or what else has happened.
    pub error: Option<String>,
}

impl PlanTestsChange {
    /// Returns the tests of a plan after the change. Tests that stay keep all their fields.
    fn apply(&self, items: &[TestPlanItem]) -> Vec<TestPlanItem> {
        let is = |item: &TestPlanItem, id: &String| item.multiplayer_test_id.eq_ignore_ascii_case(id);
        let mut changed: Vec<TestPlanItem> = items.to_vec();

        changed.retain(|item| !self.remove.iter().any(|id| is(item, id)));
        for item in &mut changed {
            if let Some((_, new)) = self.replace.iter().find(|(old, _)| is(item, old)) {
                item.multiplayer_test_id.clone_from(new);
            }
        }

        let missing = self.add.iter().filter(|id| !changed.iter().any(|item| is(item, id)));
        let new = missing.map(|id| TestPlanItem {
            multiplayer_test_id: id.clone(),
            retries: self.retries.unwrap_or_default(),
            more: Open::default(),
        });
        let new: Vec<_> = new.collect();
        let place = self.position.map_or(changed.len(), |position| position.saturating_sub(1));
        let place = place.min(changed.len());
        changed.splice(place..place, new);

        changed
    }
}

/// A request to change the tests of plans.
#[derive(Clone, Debug)]
pub(crate) struct PlanTestsRequest {
    pub(crate) plans: ChosenPlans,
    /// Project, if the caller names one.
    pub(crate) project: Option<String>,
    pub(crate) change: PlanTestsChange,
    pub(crate) is_dry_run: bool,
    pub(crate) is_confirmed: bool,
    /// Number of plans to whose change a user has agreed.
    pub(crate) max_plans: Option<usize>,
}

impl PlanTestsRequest {
    /// Changes the plans, one after the other.
    ///
    /// # Errors
    /// The failures of reading; `not_found` if no plan has the name; `confirmation_required`; the failure of the first
    /// write if no plan could be changed.
    pub(crate) async fn run(self, caller: &Caller) -> Result<PlanTests, Failure> {
        let mut client = ProjectClient { caller: caller.clone(), project: self.project.clone() };
        let mut answer = PlanTests::default();

        let mut planned = Vec::new();
        for id in self.plan_ids(&client).await? {
            let before = read_plan(&mut client, &id).await?;
            let items = self.change.apply(&before.test_items);
            if json!(items) == json!(before.test_items) {
                answer.unchanged.push(before.name);
            } else {
                planned.push((before, items));
            }
        }
        answer.project_id.clone_from(&client.project);
        self.ask(caller, planned.len())?;

        let mut failures = Vec::new();
        for (before, items) in planned {
            let (plan, failure) = self.write(&mut client, &before, &items).await;
            failures.extend(failure);
            answer.plans.push(plan);
        }

        answer.finish(failures, self.is_dry_run)
    }

    async fn plan_ids(&self, client: &ProjectClient) -> Result<Vec<String>, Failure> {
        let name = match &self.plans {
            ChosenPlans::One(id) => return Ok(vec![id.clone()]),
            ChosenPlans::Named(name) => name,
        };
        let filter = Fields::from_iter([("search".to_owned(), json!(name))]);
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

    /// Refuses the change of more plans than a user has agreed to. The detail `agreement` has the argument that states the
    /// number.
    fn ask(&self, caller: &Caller, count: usize) -> Result<(), Failure> {
        let agreed = self.max_plans.filter(|_| self.is_confirmed).unwrap_or(MOST_UNASKED);
        if count <= agreed || self.is_dry_run {
            return Ok(());
        }
        let question = || format!("change_plan_tests changes the tests of {count} plans");
        let hint = format!(
            "nothing was changed: a person must agree; then call again with `argument:confirm: true` and \
             `argument:max_plans: {count}`"
        );
        caller
            .require_agreement(false, question)
            .map_err(|failure| failure.hint(hint).detail(AGREEMENT, json!({"max_plans": count})))
    }

    /// Writes the tests of a plan, unless another writer has changed them since they were read.
    async fn write(
        &self,
        client: &mut ProjectClient,
        before: &TestPlan,
        items: &[TestPlanItem],
    ) -> (ChangedPlan, Option<Failure>) {
        let mut plan = ChangedPlan {
            id: before.id.clone(),
            name: before.name.clone(),
            before: test_ids(&before.test_items),
            after: test_ids(items),
            ..ChangedPlan::default()
        };
        let patch = Open::from_iter([("test_items".to_owned(), json!(items))]);
        let operation = UpdateTestPlan { test_plan_id: Uuid(before.id.clone()), patch };

        let outcome = if self.is_dry_run {
            client.preview(&operation).await.map(|request| plan.request = Some(request))
        } else {
            write_unchanged(client, before, &operation).await.map(|written| {
                if test_ids(&written.test_items) != plan.after {
                    plan.after = test_ids(&written.test_items);
                    plan.error =
                        Some("another writer has changed the plan at the same time: read it".to_owned());
                }
            })
        };
        if let Err(failure) = &outcome {
            plan.after.clone_from(&plan.before);
            plan.error = Some(failure.to_string());
        }

        (plan, outcome.err())
    }
}

/// Writes a plan if its tests are still those that were read.
async fn write_unchanged(
    client: &mut ProjectClient,
    before: &TestPlan,
    operation: &UpdateTestPlan,
) -> Result<TestPlan, Failure> {
    let current = read_plan(client, &before.id).await?;
    if json!(current.test_items) != json!(before.test_items) {
        let message = format!("change_plan_tests: another writer has just changed \"{}\"", before.name);
        return Err(Failure::new(Code::Conflict, message).hint("the plan was left as it is: call again"));
    }

    Ok(client.call(operation).await?.view::<UpdateTestPlan>())
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
