//! Shared step collections (specification, Shared step collection; supplement 8).

use super::{Answer, Answered, Caller, Fault, Invalid, World, content, lists::page, project::at_version};
use crate::api::{
    ListPage,
    steps::{GetSharedStep, ListSharedSteps, SharedStep, SharedStepSummary},
};

/// The text of the service for a collection that it does not know.
pub(super) const NOT_FOUND: &str = "shared step not found";

impl Answer<ListSharedSteps> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(
        &mut self,
        asked: ListSharedSteps,
        caller: &Caller,
    ) -> Result<Answered<ListPage<SharedStepSummary>>, Fault> {
        let collections = self.project(caller)?.shared_steps.values().collect();
        Ok(page(collections, asked.page, asked.page_size, |collection| summary(collection)).into())
    }
}

fn summary(collection: &SharedStep) -> SharedStepSummary {
    SharedStepSummary {
        id: collection.id.clone(),
        project_id: collection.project_id.clone(),
        name: collection.name.clone(),
        steps_count: collection.steps.step_order.len(),
        created_at: collection.created_at.clone(),
        created_by: collection.created_by.clone(),
    }
}

impl Answer<GetSharedStep> for World {
    const INVALID: Invalid = Invalid::NotFound(NOT_FOUND);

    fn answer(&mut self, asked: GetSharedStep, caller: &Caller) -> Result<Answered<SharedStep>, Fault> {
        let project = self.project(caller)?;
        let (records, versions) = (&project.shared_steps, &project.shared_step_versions);
        let found = at_version(records, versions, &asked.shared_step_id.0, asked.version);
        Ok(shown(found.ok_or_else(|| Fault::not_found(NOT_FOUND))?).into())
    }
}

/// The collection as readers see it.
pub(super) fn shown(collection: &SharedStep) -> SharedStep {
    let mut collection = collection.clone();
    collection.steps.steps_by_key.values_mut().for_each(content::derive);
    collection
}
