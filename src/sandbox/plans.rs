//! Test plans (supplement 4).

use std::cmp::Ordering;

use super::{Answer, Answered, Caller, Fault, Invalid, World, clock::Moment, lists, project::find};
use crate::api::{
    ListPage, SortOrder,
    plans::{
        Audit, GetTestPlan, ListTestPlans, TestPlan, TestPlanItem, TestPlanSlot, TestPlanSort,
        TestPlanSummary,
    },
};

/// The text of the service for a plan that it does not know.
pub(super) const NOT_FOUND: &str = "test plan not found";

/// Slot of players that no extra slot is assigned to.
pub(super) const DEFAULT_SLOT: usize = 1;

/// A test plan.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) items: Vec<Item>,
    /// Extra slots: index and name.
    pub(super) slots: Vec<(usize, Option<String>)>,
    pub(super) default_slot_name: Option<String>,
    pub(super) created: Moment,
    pub(super) modified: Moment,
    pub(super) created_by: String,
    pub(super) modified_by: String,
}

/// A test of a plan.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) test: String,
    pub(super) retries: u8,
    /// Slot of each player; [`DEFAULT_SLOT`] for those that are not listed.
    pub(super) slots: Vec<usize>,
}

impl Item {
    /// The slot of the player at `index`.
    pub(super) fn slot(&self, index: usize) -> usize {
        self.slots.get(index).copied().unwrap_or(DEFAULT_SLOT)
    }
}

impl Plan {
    fn audit(&self) -> Audit {
        Audit {
            created_at: Some(self.created.to_string()),
            modified_at: Some(self.modified.to_string()),
            created_by: Some(self.created_by.clone()),
            modified_by: Some(self.modified_by.clone()),
        }
    }

    fn compare(&self, other: &Self, by: TestPlanSort) -> Ordering {
        match by {
            TestPlanSort::Name => self.name.cmp(&other.name),
            TestPlanSort::TestCount => self.items.len().cmp(&other.items.len()),
            TestPlanSort::ModifiedAt => self.modified.cmp(&other.modified),
            TestPlanSort::CreatedAt => self.created.cmp(&other.created),
        }
    }

    fn matches(&self, search: Option<&str>) -> bool {
        search.is_none_or(|search| self.name.to_lowercase().contains(&search.to_lowercase()))
    }
}

impl Answer<ListTestPlans> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(
        &mut self,
        asked: ListTestPlans,
        caller: &Caller,
    ) -> Result<Answered<ListPage<TestPlanSummary>>, Fault> {
        let project = self.project(caller)?;
        let mut plans: Vec<_> =
            project.plans.values().filter(|plan| plan.matches(asked.search.as_deref())).collect();
        plans.sort_by(|one, other| one.compare(other, asked.sort_by.unwrap_or(TestPlanSort::Name)));
        let plans = lists::ordered(plans, asked.sort_order.unwrap_or(SortOrder::Asc));
        Ok(lists::page(plans, asked.page, asked.page_size, |plan| TestPlanSummary {
            id: plan.id.clone(),
            project_id: project.id.clone(),
            name: plan.name.clone(),
            test_count: plan.items.len(),
            audit: plan.audit(),
        })
        .into())
    }
}

impl Answer<GetTestPlan> for World {
    const INVALID: Invalid = Invalid::NotFound(NOT_FOUND);

    fn answer(&mut self, asked: GetTestPlan, caller: &Caller) -> Result<Answered<TestPlan>, Fault> {
        let project = self.project(caller)?;
        let plan = find(&project.plans, &asked.test_plan_id.0).ok_or_else(|| Fault::not_found(NOT_FOUND))?;
        Ok(TestPlan {
            id: plan.id.clone(),
            project_id: project.id.clone(),
            name: plan.name.clone(),
            test_items: plan.items.iter().map(item).collect(),
            slots: Some(plan.slots.iter().map(slot).collect()),
            default_slot_name: plan.default_slot_name.clone(),
            audit: plan.audit(),
        }
        .into())
    }
}

fn item(item: &Item) -> TestPlanItem {
    TestPlanItem { multiplayer_test_id: item.test.clone(), retries: item.retries }
}

fn slot((index, name): &(usize, Option<String>)) -> TestPlanSlot {
    TestPlanSlot { index: *index, name: name.clone() }
}
