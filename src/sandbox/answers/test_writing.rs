//! Creating and changing saved tests (supplement 6.3, 6.4).

use std::sync::Arc;

use crate::{
    sandbox::{
        answers::{
            answer::Answer,
            answered::Answered,
            api_error::{ApiError, check_version},
            caller::Caller,
            patch::patched,
            test_draft::TestDraft,
            test_record,
            tests::NOT_FOUND,
        },
        model::{
            folder::{ROOT, normalize},
            project::Project,
            records::find,
            saved_test::{SavedTest, TestKind},
            world::World,
        },
    },
    service::{
        api::{
            Open,
            test_writing::{CreateTest, UpdateTest},
            tests::{TestCase, TestContent},
        },
        arguments::is_uuid,
    },
};

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

/// Returns the record of a new test with the given fields.
fn new_case(project: &Project, id: String, given: Open) -> Result<TestCase, ApiError> {
    let empty = TestCase {
        id,
        project_id: project.id.clone(),
        name: String::new(),
        version: 0,
        tags: Vec::new(),
        test_type: TestKind::Verification.name().to_owned(),
        content: TestContent { source: Some("repository".to_owned()), ..TestContent::default() },
    };

    let case = patched(&empty, given)?;
    if !is_uuid(&case.id) || find(&project.tests, &case.id).is_some() {
        return Err(ApiError::invalid("invalid request: test.id: must be a UUID that no other test has"));
    }

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

impl Project {
    /// Saves a version of a test.
    fn save_test(&mut self, test: SavedTest) {
        let test = Arc::new(test);
        self.test_versions.entry(test.id.clone()).or_default().push(Arc::clone(&test));
        self.tests.insert(test.id.clone(), test);
    }
}
