//! Shared step collections (service.md 8).

use std::sync::Arc;

use super::{prelude::*, records::patched};
use crate::sandbox::model::records::{at_version, step_id};
use crate::sandbox::model::test_content;
use crate::service::api::shared_steps::{
    CreateSharedStep, DeleteSharedStep, GetSharedStep, ListSharedSteps, SharedStep, SharedStepSummary,
    StepList, UpdateSharedStep,
};

pub(crate) const NOT_FOUND: &str = "shared step not found";

const MAX_ID_LENGTH: usize = 60;

impl Answer<ListSharedSteps> for World {
    fn answer(
        &mut self,
        request: ListSharedSteps,
        caller: &Caller,
    ) -> AnswerResult<ListPage<SharedStepSummary>> {
        let collections = self.project(caller)?.shared_steps.values().collect();
        Ok(page(collections, request.page, request.page_size, |collection| summary(collection)).into())
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
    fn answer(&mut self, request: GetSharedStep, caller: &Caller) -> AnswerResult<SharedStep> {
        let project = self.project(caller)?;
        let (records, versions) = (&project.shared_steps, &project.shared_step_versions);
        let found = at_version(records, versions, &request.shared_step_id.0, request.version);
        Ok(to_record(found.ok_or_else(|| ApiError::not_found(NOT_FOUND))?).into())
    }
}

pub(super) fn to_record(collection: &SharedStep) -> SharedStep {
    let mut collection = collection.clone();
    collection.steps.steps_by_key.values_mut().for_each(test_content::derive);
    collection
}

impl Answer<CreateSharedStep> for World {
    fn answer(&mut self, request: CreateSharedStep, caller: &Caller) -> AnswerResult<SharedStep> {
        let now = self.now;
        let project = self.project_mut(caller)?;
        let id = match request.id {
            Some(id) if id.is_empty() || project.shared_steps.contains_key(&id) => {
                return Err(ApiError::invalid("a shared step with this id already exists"));
            }
            Some(id) => id,
            None => unused_id(project, &request.name),
        };

        let collection = SharedStep {
            id,
            project_id: project.id.clone(),
            name: request.name,
            // A new record has version 0 (service.md 8).
            version: 0,
            is_shared: true,
            created_at: Some(now.to_string()),
            created_by: Some(caller.key_id.to_owned()),
            steps: StepList { steps_by_key: request.steps_by_key, step_order: request.step_order },
            more: Open::new(),
        };

        project.save_shared_step(collection).map(Answered::created)
    }
}

impl Answer<UpdateSharedStep> for World {
    fn answer(&mut self, request: UpdateSharedStep, caller: &Caller) -> AnswerResult<SharedStep> {
        let project = self.project_mut(caller)?;
        let before = project.shared_steps.get(&request.shared_step_id.0);
        let before = Arc::clone(before.ok_or_else(|| ApiError::not_found(NOT_FOUND))?);

        check_version(request.expected_version, before.version)?;
        let after = patched(&*before, request.patch)?;
        let saved = project.save_shared_step(SharedStep {
            version: before.version + 1,
            name: after.name,
            steps: after.steps,
            more: after.more,
            ..SharedStep::clone(&before)
        })?;

        // Tests do not store the steps of collections, but their players are derived from them.
        project.update_tests_of_collection(&saved.id);

        Ok(saved.into())
    }
}

impl Answer<DeleteSharedStep> for World {
    fn answer(&mut self, request: DeleteSharedStep, caller: &Caller) -> AnswerResult<Deleted> {
        let project = self.project_mut(caller)?;
        let id = existing(&project.shared_steps, &request.shared_step_id.0, NOT_FOUND)?.id.clone();
        if project.tests.values().any(|test| test_content::refers_to(&test.content, &id)) {
            return Err(ApiError::conflict("cannot delete shared step that is referenced by tests"));
        }

        project.shared_steps.shift_remove(&id);
        project.shared_step_versions.remove(&id);

        Ok(Deleted { id, deleted: true }.into())
    }
}

/// Returns an unused id that is derived from the name: `ssc_<name>` (service.md 8).
fn unused_id(project: &Project, name: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    let id: String = format!("ssc_{name}").chars().take(MAX_ID_LENGTH).map(letter).collect();
    let numbered = (2..).map(|number| format!("{id}_{number}"));
    let mut ids = std::iter::once(id.clone()).chain(numbered);
    ids.find(|id| !project.shared_steps.contains_key(id)).unwrap_or(id)
}

impl Project {
    fn save_shared_step(&mut self, mut collection: SharedStep) -> Result<SharedStep, ApiError> {
        let StepList { steps_by_key, step_order } = &mut collection.steps;
        if let Some(key) = step_order.iter().find(|key| !steps_by_key.contains_key(*key)) {
            return Err(ApiError::invalid(format!("unknown key in step_order: {key}")));
        }

        let version = collection.version.to_string();
        for (key, step) in steps_by_key {
            step.test_step_id.get_or_insert_with(|| step_id(&[&collection.id, key, &version]));
        }

        let saved = Arc::new(collection);
        self.shared_step_versions.entry(saved.id.clone()).or_default().push(Arc::clone(&saved));
        self.shared_steps.insert(saved.id.clone(), Arc::clone(&saved));

        Ok(to_record(&saved))
    }
}
