//! Test plans (supplement 4).

use std::{cmp::Ordering, sync::Arc};

use super::{
    Answer, Answered, Caller, Fault, Invalid, World,
    clock::Moment,
    lists,
    merge::patched,
    project::{Project, find},
};
use crate::service::api::{
    ListPage, Open, SortOrder,
    plans::{
        Audit, CreateTestPlan, GetTestPlan, ListTestPlans, TestPlan, TestPlanItem, TestPlanSlot,
        TestPlanSort, TestPlanSummary, UpdateTestPlan,
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
    /// Fields that somebody added and nobody knows.
    pub(super) more: Open,
}

/// A test of a plan.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) test: String,
    pub(super) retries: u32,
    /// Fields that somebody added and nobody knows.
    pub(super) more: Open,
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

    fn shown(&self, project: &Project) -> TestPlan {
        TestPlan {
            id: self.id.clone(),
            project_id: project.id.clone(),
            name: self.name.clone(),
            test_items: self.items.iter().map(item).collect(),
            slots: Some(self.slots.iter().map(slot).collect()),
            default_slot_name: self.default_slot_name.clone(),
            audit: self.audit(),
            more: self.more.clone(),
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
        Ok(plan.shown(project).into())
    }
}

impl Answer<CreateTestPlan> for World {
    fn answer(&mut self, asked: CreateTestPlan, caller: &Caller) -> Result<Answered<TestPlan>, Fault> {
        let (id, now) = (self.ids.uuid(), self.now);
        let project = self.project_mut(caller)?;
        let id = asked.id.map_or(id, |id| id.0.to_ascii_lowercase());
        if project.plans.contains_key(&id) {
            return Err(Fault::invalid("a test plan with this id already exists"));
        }

        let items = asked.test_items.into_iter().map(|item| TestPlanItem {
            multiplayer_test_id: item.multiplayer_test_id.0,
            retries: item.retries.unwrap_or(0),
            more: Open::new(),
        });
        let plan = Plan {
            id,
            name: asked.name,
            items: project.plan_items(items.collect(), &[])?,
            slots: Vec::new(),
            default_slot_name: None,
            created: now,
            modified: now,
            created_by: caller.key_id.to_owned(),
            modified_by: caller.key_id.to_owned(),
            more: Open::new(),
        };

        let shown = plan.shown(project);
        project.plans.insert(plan.id.clone(), Arc::new(plan));

        Ok(Answered::created(shown))
    }
}

impl Answer<UpdateTestPlan> for World {
    fn answer(&mut self, asked: UpdateTestPlan, caller: &Caller) -> Result<Answered<TestPlan>, Fault> {
        let now = self.now;
        let project = self.project_mut(caller)?;
        let plan = find(&project.plans, &asked.test_plan_id.0).ok_or_else(|| Fault::not_found(NOT_FOUND))?;
        let after = patched(&plan.shown(project), asked.patch)?;
        let plan = Plan {
            name: after.name,
            items: project.plan_items(after.test_items, &plan.items)?,
            modified: now,
            modified_by: caller.key_id.to_owned(),
            more: after.more,
            ..Plan::clone(plan)
        };

        let shown = plan.shown(project);
        project.plans.insert(plan.id.clone(), Arc::new(plan));

        Ok(shown.into())
    }
}

impl Project {
    /// Items of a plan; tests that were in it before keep their slots.
    fn plan_items(&self, items: Vec<TestPlanItem>, before: &[Item]) -> Result<Vec<Item>, Fault> {
        let made = |item: TestPlanItem| {
            let test = find(&self.tests, &item.multiplayer_test_id)
                .ok_or_else(|| Fault::invalid(format!("unknown test: {}", item.multiplayer_test_id)))?;
            let slots =
                before.iter().find(|before| before.test == test.id).map(|before| before.slots.clone());
            let (test, slots) = (test.id.clone(), slots.unwrap_or_default());
            Ok(Item { test, retries: item.retries, more: item.more, slots })
        };
        items.into_iter().map(made).collect()
    }
}

fn item(item: &Item) -> TestPlanItem {
    TestPlanItem { multiplayer_test_id: item.test.clone(), retries: item.retries, more: item.more.clone() }
}

fn slot((index, name): &(usize, Option<String>)) -> TestPlanSlot {
    TestPlanSlot { index: *index, name: name.clone() }
}
