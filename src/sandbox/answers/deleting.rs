//! Deleting tests, test plans and shared steps (supplement 4.5, 6.5, 8).

use std::sync::Arc;

use crate::{
    sandbox::{
        answers::{
            answer::{Answer, InvalidRequestPolicy},
            answered::Answered,
            api_error::ApiError,
            caller::Caller,
            plans, shared_steps,
            tests::NOT_FOUND,
        },
        model::{
            project::Project, records::find, test_content, test_plan::SavedPlan, timeline::Timeline,
            world::World,
        },
    },
    service::api::deleting::{DeleteSharedStep, DeleteTest, DeleteTestPlan, Deleted},
};

impl Answer<DeleteTest> for World {
    // The fields of the body extend what is deleted. Without a readable body, less is deleted, never more.
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::Ignore;

    fn answer(&mut self, request: DeleteTest, caller: &Caller) -> Result<Answered<Deleted>, ApiError> {
        let project = self.project_mut(caller)?;
        let test = find(&project.tests, &request.test_id.0).ok_or_else(|| ApiError::not_found(NOT_FOUND))?;
        let id = test.id.clone();

        if request.delete_associated_jobs == Some(true) {
            project.jobs.retain(|_, job| job.test.id != id);
        } else if request.force_delete != Some(true) && project.has_runs_of(&id) {
            return Err(ApiError::conflict("cannot delete tests with associated runs"));
        }

        project.remove_test(&id);

        Ok(deleted(id))
    }
}

impl Answer<DeleteTestPlan> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::NotFound(plans::NOT_FOUND);

    fn answer(&mut self, request: DeleteTestPlan, caller: &Caller) -> Result<Answered<Deleted>, ApiError> {
        let project = self.project_mut(caller)?;
        let plan = find(&project.plans, &request.test_plan_id.0);
        let id = plan.ok_or_else(|| ApiError::not_found(plans::NOT_FOUND))?.id.clone();
        project.plans.shift_remove(&id);
        Ok(deleted(id))
    }
}

impl Answer<DeleteSharedStep> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::NotFound(shared_steps::NOT_FOUND);

    fn answer(&mut self, request: DeleteSharedStep, caller: &Caller) -> Result<Answered<Deleted>, ApiError> {
        let project = self.project_mut(caller)?;
        let collection = find(&project.shared_steps, &request.shared_step_id.0);
        let id = collection.ok_or_else(|| ApiError::not_found(shared_steps::NOT_FOUND))?.id.clone();
        if project.tests.values().any(|test| test_content::refers_to(&test.content, &id)) {
            return Err(ApiError::conflict("cannot delete shared step that is referenced by tests"));
        }

        project.shared_steps.shift_remove(&id);
        project.shared_step_versions.remove(&id);

        Ok(deleted(id))
    }
}

fn deleted(id: String) -> Answered<Deleted> {
    Deleted { id, deleted: true }.into()
}

impl Project {
    /// Returns whether a test has runs. A queued job counts, because it will have a run.
    fn has_runs_of(&self, test: &str) -> bool {
        self.jobs.values().any(|job| job.test.id == test && Timeline::from_job(job).has_attempts())
    }

    /// Removes a test from the repository and from every plan. Its runs keep the test as it was.
    fn remove_test(&mut self, test: &str) {
        self.tests.shift_remove(test);
        self.test_versions.remove(test);
        for plan in self.plans.values_mut().filter(|plan| plan.items.iter().any(|item| item.test == test)) {
            let items = plan.items.iter().filter(|item| item.test != test).cloned().collect();
            *plan = Arc::new(SavedPlan { items, ..SavedPlan::clone(plan) });
        }
    }
}
