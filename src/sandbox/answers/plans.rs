//! Test plans (service.md 4).

use std::{cmp::Ordering, sync::Arc};

use super::{prelude::*, records::patched};
use crate::sandbox::model::saved_test::{PlanItem, SavedPlan};
use crate::service::api::plans::{
    Audit, CreateTestPlan, DeleteTestPlan, GetTestPlan, ListTestPlans, TestPlan, TestPlanItem, TestPlanSlot,
    TestPlanSort, TestPlanSummary, UpdateTestPlan,
};

pub(crate) const NOT_FOUND: &str = "test plan not found";

impl SavedPlan {
    fn audit(&self) -> Audit {
        Audit {
            created_at: Some(self.created.to_string()),
            modified_at: Some(self.modified.to_string()),
            created_by: Some(self.created_by.clone()),
            modified_by: Some(self.modified_by.clone()),
        }
    }

    fn to_record(&self, project: &Project) -> TestPlan {
        let item = |item: &PlanItem| TestPlanItem {
            multiplayer_test_id: item.test.clone(),
            retries: item.retries,
            more: item.more.clone(),
        };
        let slots = self.slots.iter().map(|(index, name)| TestPlanSlot { index: *index, name: name.clone() });

        TestPlan {
            id: self.id.clone(),
            project_id: project.id.clone(),
            name: self.name.clone(),
            test_items: self.items.iter().map(item).collect(),
            slots: Some(slots.collect()),
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
    fn answer(&mut self, request: ListTestPlans, caller: &Caller) -> AnswerResult<ListPage<TestPlanSummary>> {
        let project = self.project(caller)?;
        let mut plans: Vec<_> =
            project.plans.values().filter(|plan| plan.matches(request.search.as_deref())).collect();
        plans.sort_by(|one, other| one.compare(other, request.sort_by.unwrap_or(TestPlanSort::Name)));

        let plans = in_order(plans, request.sort_order.unwrap_or(SortOrder::Asc));

        Ok(page(plans, request.page, request.page_size, |plan| TestPlanSummary {
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
    fn answer(&mut self, request: GetTestPlan, caller: &Caller) -> AnswerResult<TestPlan> {
        let project = self.project(caller)?;
        let plan = existing(&project.plans, &request.test_plan_id.0, NOT_FOUND)?;
        Ok(plan.to_record(project).into())
    }
}

impl Answer<CreateTestPlan> for World {
    fn answer(&mut self, request: CreateTestPlan, caller: &Caller) -> AnswerResult<TestPlan> {
        let (id, now) = (self.ids.uuid(), self.now);
        let project = self.project_mut(caller)?;
        let id = request.id.map_or(id, |id| id.0.to_ascii_lowercase());
        if project.plans.contains_key(&id) {
            return Err(ApiError::invalid("a test plan with this id already exists"));
        }

        let items = request.test_items.into_iter().map(|item| TestPlanItem {
            multiplayer_test_id: item.multiplayer_test_id.0,
            retries: item.retries.unwrap_or(0),
            more: Open::new(),
        });
        let plan = SavedPlan {
            id,
            name: request.name,
            items: project.plan_items(items.collect(), &[])?,
            slots: Vec::new(),
            default_slot_name: None,
            created: now,
            modified: now,
            created_by: caller.key_id.to_owned(),
            modified_by: caller.key_id.to_owned(),
            more: Open::new(),
        };

        let record = plan.to_record(project);
        project.plans.insert(plan.id.clone(), Arc::new(plan));

        Ok(Answered::created(record))
    }
}

impl Answer<UpdateTestPlan> for World {
    fn answer(&mut self, request: UpdateTestPlan, caller: &Caller) -> AnswerResult<TestPlan> {
        let now = self.now;
        let project = self.project_mut(caller)?;
        let plan = existing(&project.plans, &request.test_plan_id.0, NOT_FOUND)?;
        let after = patched(&plan.to_record(project), request.patch)?;
        let plan = SavedPlan {
            name: after.name,
            items: project.plan_items(after.test_items, &plan.items)?,
            modified: now,
            modified_by: caller.key_id.to_owned(),
            more: after.more,
            ..SavedPlan::clone(plan)
        };

        let record = plan.to_record(project);
        project.plans.insert(plan.id.clone(), Arc::new(plan));

        Ok(record.into())
    }
}

impl Answer<DeleteTestPlan> for World {
    fn answer(&mut self, request: DeleteTestPlan, caller: &Caller) -> AnswerResult<Deleted> {
        let project = self.project_mut(caller)?;
        let id = existing(&project.plans, &request.test_plan_id.0, NOT_FOUND)?.id.clone();
        project.plans.shift_remove(&id);
        Ok(Deleted { id, deleted: true }.into())
    }
}

impl Project {
    /// Returns the items of a plan. A test that is in `before` keeps its slots, which requests cannot change
    /// (service.md 4.4).
    fn plan_items(&self, items: Vec<TestPlanItem>, before: &[PlanItem]) -> Result<Vec<PlanItem>, ApiError> {
        let to_item = |item: TestPlanItem| {
            let test = find(&self.tests, &item.multiplayer_test_id)
                .ok_or_else(|| ApiError::invalid(format!("unknown test: {}", item.multiplayer_test_id)))?;
            let slots =
                before.iter().find(|before| before.test == test.id).map(|before| before.slots.clone());
            let (test, slots) = (test.id.clone(), slots.unwrap_or_default());
            Ok(PlanItem { test, retries: item.retries, more: item.more, slots })
        };
        items.into_iter().map(to_item).collect()
    }
}
