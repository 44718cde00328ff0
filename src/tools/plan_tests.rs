//! `change_plan_tests`: changes the tests of a plan.
//!
//! A plan has no version (service.md 4.4), and a write replaces all its tests. So the plan is read directly before it is
//! written, and its other tests are written as they were read.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use super::{composite::CompositeTool, context::ToolContext, project_client::ProjectClient};
use crate::{
    call::RequestPreview,
    failure::{Code, Failure},
    service::{
        api::{
            Open, Uuid,
            plans::{GetTestPlan, TestPlan, TestPlanItem, UpdateTestPlan},
        },
        rule::Rule,
        tool::{DRY_RUN, ToolInfo, Toolset},
    },
    text::shorten_name,
};

/// Adds, removes or replaces tests of a plan. Other tests keep their places.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ChangePlanTests {
    /// From `tool:find_by_name/list_test_plans`.
    pub test_plan_id: Uuid,
    /// Ids of tests. One that is in the plan is not added again.
    pub add: Option<Vec<Uuid>>,
    /// Of the first added test; default: the end.
    #[schemars(range(min = 1))]
    pub position: Option<usize>,
    /// Of the added tests, 0-10; default 0.
    #[schemars(range(min = 0, max = 10))]
    pub retries: Option<u32>,
    /// Ids of tests.
    pub remove: Option<Vec<Uuid>>,
    /// `{old id: new id}`.
    pub replace: Option<BTreeMap<String, Uuid>>,
}

/// The plan that was changed.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct PlanTests {
    /// `changed`; `nothing_to_change`; `dry_run`: nothing was sent.
    pub status: &'static str,
    pub project_id: Option<String>,
    pub id: String,
    pub name: String,
    /// Ids of its tests before the change.
    pub before: Vec<String>,
    /// Ids of its tests after the change.
    pub after: Vec<String>,
    /// The request of a dry run.
    #[schemars(with = "Option<Open>")]
    pub request: Option<RequestPreview>,
}

impl CompositeTool for ChangePlanTests {
    const TOOL: ToolInfo = ToolInfo::replaces("change_plan_tests", "Change tests of a plan", Toolset::Plans)
        .extra()
        .needs("project:edit-tests")
        .rules(&[
            Rule::AtLeastOne(&["add", "remove", "replace"]),
            Rule::Needs("position", "add"),
            Rule::Needs("retries", "add"),
        ])
        .recovery_hint("call again: a plan that has the change already is not changed again")
        // The name and the tests of the plan are known only after it is read.
        .asks_confirmation(|_| None);
    type Answer = PlanTests;

    async fn run(self, context: ToolContext) -> Result<PlanTests, Failure> {
        let mut client = ProjectClient { caller: context.caller, project: context.project };
        let plan = self.read_plan(&mut client).await?;
        let changed = self.change(&plan.test_items);
        let mut answer = PlanTests {
            status: "nothing_to_change",
            project_id: client.project.clone(),
            id: plan.id,
            name: shorten_name(&plan.name),
            before: test_ids(&plan.test_items),
            after: test_ids(&changed),
            request: None,
        };
        if answer.after == answer.before {
            return Ok(answer);
        }

        let patch = Open::from_iter([("test_items".to_owned(), json!(changed))]);
        let operation = UpdateTestPlan { test_plan_id: self.test_plan_id, patch };
        if context.is_dry_run {
            answer.status = DRY_RUN;
            answer.request = Some(client.preview(&operation).await?);
        } else {
            let (name, before, after) = (&answer.name, answer.before.len(), answer.after.len());
            client.caller.require_agreement(context.is_confirmed || after >= before, || {
                format!("change_plan_tests shortens the plan `{name}` from {before} to {after} tests")
            })?;
            client.call(&operation).await?;
            answer.status = "changed";
        }

        Ok(answer)
    }
}

impl ChangePlanTests {
    /// Reads the plan. The calls after it go to the project that has answered.
    async fn read_plan(&self, client: &mut ProjectClient) -> Result<TestPlan, Failure> {
        let reply = client.call(&GetTestPlan { test_plan_id: self.test_plan_id.clone() }).await?;
        let count = reply.value().get("test_items").and_then(Value::as_array).map(Vec::len);
        let plan = reply.view::<GetTestPlan>();
        // A test that cannot be read would be lost.
        if count != Some(plan.test_items.len()) {
            let message = "change_plan_tests: the service did not return the tests of the plan";
            return Err(Failure::new(Code::BadResponse, message).hint("nothing was changed"));
        }
        client.project = reply.project().map(str::to_owned).or(client.project.take());

        Ok(plan)
    }

    /// Returns the tests of the plan after the change. Tests that stay keep all their fields.
    fn change(&self, items: &[TestPlanItem]) -> Vec<TestPlanItem> {
        let is = |item: &TestPlanItem, id: &str| item.multiplayer_test_id.eq_ignore_ascii_case(id);
        let mut changed = items.to_vec();

        changed.retain(|item| !self.remove.iter().flatten().any(|id| is(item, &id.0)));
        for item in &mut changed {
            if let Some((_, new)) = self.replace.iter().flatten().find(|(old, _)| is(item, old)) {
                item.multiplayer_test_id.clone_from(&new.0);
            }
        }

        let mut place = self.position.unwrap_or(usize::MAX).saturating_sub(1).min(changed.len());
        for Uuid(id) in self.add.iter().flatten() {
            if !changed.iter().any(|item| is(item, id)) {
                let retries = self.retries.unwrap_or_default();
                let item = TestPlanItem { multiplayer_test_id: id.clone(), retries, more: Open::new() };
                changed.insert(place, item);
                place += 1;
            }
        }

        changed
    }
}

fn test_ids(items: &[TestPlanItem]) -> Vec<String> {
    items.iter().map(|item| item.multiplayer_test_id.clone()).collect()
}
