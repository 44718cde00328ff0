//! Saved tests (service.md 6).

use std::collections::BTreeMap;

use serde_json::json;

use super::{prelude::*, records::patched, shared_steps, test_draft::TestDraft};
use crate::sandbox::model::records::at_version;
use crate::sandbox::model::saved_test::TestKind;
use crate::sandbox::model::test_content::{derive, is_collection};
use crate::sandbox::model::world::{ROOT, normalize};
use crate::service::api::tests::{
    CreateTest, DeleteTest, GetTest, ListTests, TestCase, TestContent, TestSummary, UpdateTest,
};
use crate::service::arguments::is_uuid;

pub(crate) const NOT_FOUND: &str = "test not found";

impl Answer<ListTests> for World {
    fn answer(&mut self, request: ListTests, caller: &Caller) -> AnswerResult<ListPage<TestSummary>> {
        let project = self.project(caller)?;
        let tests = project.tests.values().filter(|test| in_folder(project, test, &request)).collect();
        Ok(page(tests, request.page, request.page_size, |test| summary(project, test)).into())
    }
}

fn in_folder(project: &Project, test: &SavedTest, request: &ListTests) -> bool {
    match (&request.folder_path, &request.folder_id) {
        (Some(path), _) => project.folder_path(test.folder.as_deref()) == normalize(path),
        (None, Some(id)) => test.folder.as_deref().is_some_and(|folder| folder.eq_ignore_ascii_case(id)),
        // Without a folder, the tests of every folder are listed (service.md 6.1).
        (None, None) => true,
    }
}

fn summary(project: &Project, test: &SavedTest) -> TestSummary {
    TestSummary {
        id: test.id.clone(),
        name: test.name.clone(),
        r#type: wire_name(test.kind),
        folder_id: test.folder.clone(),
        folder_path: Some(project.folder_path(test.folder.as_deref()).to_owned()),
    }
}

impl Answer<GetTest> for World {
    fn answer(&mut self, request: GetTest, caller: &Caller) -> AnswerResult<TestCase> {
        let project = self.project(caller)?;
        let test = at_version(&project.tests, &project.test_versions, &request.test_id.0, request.version);
        let test = test.ok_or_else(|| ApiError::not_found(NOT_FOUND))?;
        Ok(to_record(project, test, request.include_shared_collection_steps.unwrap_or(true)).into())
    }
}

impl Answer<CreateTest> for World {
    fn answer(&mut self, request: CreateTest, caller: &Caller) -> AnswerResult<TestCase> {
        let id = self.ids.uuid();
        let project = self.project_mut(caller)?;
        let folder = find_folder(project, request.folder_id.as_deref(), request.folder_path.as_deref())?;
        let case = new_case(project, id, request.test)?;
        let draft = TestDraft { case, folder, unknown: request.shared_collection_steps_mode, before: None };
        let test = draft.finish(project)?;
        let record = to_record(project, &test, request.include_shared_collection_steps.unwrap_or(true));

        project.save_test(test);

        Ok(Answered::created(record))
    }
}

fn new_case(project: &Project, id: String, fields: Open) -> Result<TestCase, ApiError> {
    let empty = TestCase {
        id,
        project_id: project.id.clone(),
        name: String::new(),
        version: 0,
        tags: Vec::new(),
        test_type: wire_name(TestKind::Verification),
        content: TestContent { source: Some("repository".to_owned()), ..TestContent::default() },
    };

    let case = patched(&empty, fields)?;
    if !is_uuid(&case.id) || find(&project.tests, &case.id).is_some() {
        return Err(ApiError::invalid("invalid request: test.id: must be a UUID that no other test has"));
    }

    // The service ignores the version of a new test (service.md 6.3).
    Ok(TestCase { id: case.id.to_ascii_lowercase(), project_id: empty.project_id, version: 0, ..case })
}

impl Answer<UpdateTest> for World {
    fn answer(&mut self, request: UpdateTest, caller: &Caller) -> AnswerResult<TestCase> {
        let project = self.project_mut(caller)?;
        let before = existing(&project.tests, &request.test_id.0, NOT_FOUND)?;
        check_version(request.expected_version, before.version)?;

        let folder = match (request.folder_id, request.folder_path) {
            (None, None) => before.folder.clone(),
            (id, path) => find_folder(project, id.as_deref(), path.flatten().as_deref())?,
        };
        let case = changed_case(project, before, request.patch)?;
        let unknown = request.shared_collection_steps_mode;
        let test = TestDraft { case, folder, unknown, before: Some(before) }.finish(project)?;
        let record = to_record(project, &test, request.include_shared_collection_steps.unwrap_or(true));

        project.save_test(test);

        Ok(record.into())
    }
}

/// Returns the record after a patch. A changed kind resets the time budget, unless the patch contains one.
fn changed_case(project: &Project, before: &SavedTest, patch: Open) -> Result<TestCase, ApiError> {
    let mut content = before.content.clone();
    if patch.get("test_type").is_some_and(|kind| *kind != json!(before.kind)) {
        // The defaults depend on the kind (service.md 6.2).
        (content.min_seconds, content.max_seconds) = (None, None);
    }

    let present = with_content(project, before, content);
    let case = patched(&present, patch)?;

    Ok(TestCase { id: present.id, project_id: present.project_id, version: before.version + 1, ..case })
}

/// Returns the folder with this id or at this path; `None` for the root.
fn find_folder(project: &Project, id: Option<&str>, path: Option<&str>) -> Result<Option<String>, ApiError> {
    let (name, found) = match (id, normalize(path.unwrap_or(ROOT))) {
        (Some(id), _) => (id, find(&project.folders, id)),
        (None, ROOT) => return Ok(None),
        (None, path) => (path, project.folder_at(path)),
    };
    let folder = found.ok_or_else(|| ApiError::invalid(format!("folder not found: {name}")))?;
    Ok(Some(folder.id.clone()))
}

impl Answer<DeleteTest> for World {
    fn answer(&mut self, request: DeleteTest, caller: &Caller) -> AnswerResult<Deleted> {
        let project = self.project_mut(caller)?;
        let id = existing(&project.tests, &request.test_id.0, NOT_FOUND)?.id.clone();

        if request.delete_associated_jobs == Some(true) {
            project.jobs.retain(|_, job| job.test.id != id);
        } else if request.force_delete != Some(true) && project.has_runs_of(&id) {
            return Err(ApiError::conflict("cannot delete tests with associated runs"));
        }

        project.remove_test(&id);

        Ok(Deleted { id, deleted: true }.into())
    }
}

fn to_record(project: &Project, test: &SavedTest, with_collections: bool) -> TestCase {
    let mut content = test.content.clone();
    let items = content.players_by_key.values_mut().filter_map(|player| player.items_by_key.as_mut());

    for item in items.flat_map(BTreeMap::values_mut) {
        derive(&mut item.step);
        let collection = item.collection_id.as_deref().filter(|_| with_collections && is_collection(item));
        if let Some(collection) = collection.and_then(|id| find(&project.shared_steps, id)) {
            let steps = shared_steps::to_record(collection).steps;
            (item.steps_by_key, item.step_order) = (Some(steps.steps_by_key), Some(steps.step_order));
        }
    }

    with_content(project, test, content)
}

fn with_content(project: &Project, test: &SavedTest, content: TestContent) -> TestCase {
    TestCase {
        id: test.id.clone(),
        project_id: project.id.clone(),
        name: test.name.clone(),
        version: test.version,
        tags: test.tags.clone(),
        test_type: wire_name(test.kind),
        content,
    }
}
