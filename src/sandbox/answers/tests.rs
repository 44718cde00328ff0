//! Saved tests (service.md 6).

use crate::{
    sandbox::{
        answers::{
            answer::{Answer, InvalidRequestPolicy},
            answered::Answered,
            api_error::{ApiError, check_version},
            caller::Caller,
            pages::page,
            patch::patched,
            test_draft::TestDraft,
            test_record,
        },
        model::{
            folder::{ROOT, normalize},
            project::Project,
            records::{at_version, find},
            saved_test::{SavedTest, TestKind},
            world::World,
        },
    },
    service::{
        api::{
            Deleted, ListPage, Open,
            tests::{
                CreateTest, DeleteTest, GetTest, ListTests, TestCase, TestContent, TestSummary, UpdateTest,
            },
        },
        arguments::is_uuid,
    },
};

/// Error text of the service for an unknown test.
pub(crate) const NOT_FOUND: &str = "test not found";

impl Answer<ListTests> for World {
    fn answer(
        &mut self,
        request: ListTests,
        caller: &Caller,
    ) -> Result<Answered<ListPage<TestSummary>>, ApiError> {
        let project = self.project(caller)?;
        let tests = project.tests.values().filter(|test| in_folder(project, test, &request)).collect();
        Ok(page(tests, request.page, request.page_size, |test| summary(project, test)).into())
    }
}

/// Returns whether a test is in the folder that the request names.
fn in_folder(project: &Project, test: &SavedTest, request: &ListTests) -> bool {
    match (&request.folder_path, &request.folder_id) {
        (Some(path), _) => project.folder_path(test.folder.as_deref()) == normalize(path),
        (None, Some(id)) => test.folder.as_deref().is_some_and(|folder| folder.eq_ignore_ascii_case(id)),
        // Without a folder, the tests of every folder are listed (service.md 6.1).
        (None, None) => true,
    }
}

/// Returns the record of a test in a list.
fn summary(project: &Project, test: &SavedTest) -> TestSummary {
    TestSummary {
        id: test.id.clone(),
        name: test.name.clone(),
        r#type: test.kind.name().to_owned(),
        folder_id: test.folder.clone(),
        folder_path: Some(project.folder_path(test.folder.as_deref()).to_owned()),
    }
}

impl Answer<GetTest> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::NotFound(NOT_FOUND);

    fn answer(&mut self, request: GetTest, caller: &Caller) -> Result<Answered<TestCase>, ApiError> {
        let project = self.project(caller)?;
        let test = at_version(&project.tests, &project.test_versions, &request.test_id.0, request.version);
        let test = test.ok_or_else(|| ApiError::not_found(NOT_FOUND))?;
        Ok(test_record::to_record(project, test, request.include_shared_collection_steps.unwrap_or(true))
            .into())
    }
}

impl Answer<CreateTest> for World {
    fn answer(&mut self, request: CreateTest, caller: &Caller) -> Result<Answered<TestCase>, ApiError> {
        let id = self.ids.uuid();
        let project = self.project_mut(caller)?;
        let folder = match request.folder_id {
            Some(id) => find_folder(project, &id)?,
            None => folder_at(project, request.folder_path.as_deref())?,
        };
        let case = new_case(project, id, request.test)?;
        let draft = TestDraft { case, folder, unknown: request.shared_collection_steps_mode, before: None };
        let test = draft.finish(project)?;
        let record =
            test_record::to_record(project, &test, request.include_shared_collection_steps.unwrap_or(true));

        project.save_test(test);

        Ok(Answered::created(record))
    }
}

/// Returns the record of a new test with `fields`.
fn new_case(project: &Project, id: String, fields: Open) -> Result<TestCase, ApiError> {
    let empty = TestCase {
        id,
        project_id: project.id.clone(),
        name: String::new(),
        version: 0,
        tags: Vec::new(),
        test_type: TestKind::Verification.name().to_owned(),
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
    fn answer(&mut self, request: UpdateTest, caller: &Caller) -> Result<Answered<TestCase>, ApiError> {
        let project = self.project_mut(caller)?;
        let before =
            find(&project.tests, &request.test_id.0).ok_or_else(|| ApiError::not_found(NOT_FOUND))?;
        check_version(request.expected_version, before.version)?;

        let folder = match (request.folder_id, request.folder_path) {
            (Some(id), _) => find_folder(project, &id)?,
            (None, Some(path)) => folder_at(project, path.as_deref())?,
            (None, None) => before.folder.clone(),
        };
        let case = changed_case(project, before, request.patch)?;
        let unknown = request.shared_collection_steps_mode;
        let test = TestDraft { case, folder, unknown, before: Some(before) }.finish(project)?;
        let record =
            test_record::to_record(project, &test, request.include_shared_collection_steps.unwrap_or(true));

        project.save_test(test);

        Ok(record.into())
    }
}

/// Returns the record after a patch. A changed kind resets the time budget, unless the patch contains one.
fn changed_case(project: &Project, before: &SavedTest, patch: Open) -> Result<TestCase, ApiError> {
    let mut content = before.content.clone();
    if patch.get("test_type").is_some_and(|kind| kind != before.kind.name()) {
        // The defaults depend on the kind (service.md 6.2).
        (content.min_seconds, content.max_seconds) = (None, None);
    }

    let present = test_record::with_content(project, before, content);
    let case = patched(&present, patch)?;

    Ok(TestCase { id: present.id, project_id: present.project_id, version: before.version + 1, ..case })
}

fn find_folder(project: &Project, id: &str) -> Result<Option<String>, ApiError> {
    let folder =
        find(&project.folders, id).ok_or_else(|| ApiError::invalid(format!("folder not found: {id}")))?;
    Ok(Some(folder.id.clone()))
}

fn folder_at(project: &Project, path: Option<&str>) -> Result<Option<String>, ApiError> {
    let path = normalize(path.unwrap_or(ROOT));
    if path == ROOT {
        return Ok(None);
    }

    let folder =
        project.folder_at(path).ok_or_else(|| ApiError::invalid(format!("folder not found: {path}")))?;

    Ok(Some(folder.id.clone()))
}

impl Answer<DeleteTest> for World {
    // The operation has no 400 (service.md 6.5). Ignored body fields delete less, never more.
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

        Ok(Deleted { id, deleted: true }.into())
    }
}
