//! Creating and changing saved tests (supplement 6.3, 6.4).

use std::sync::Arc;

use super::{
    Answer, Answered, Caller, Fault, World, content,
    draft::Draft,
    folders::{ROOT, normal},
    merge::patched,
    project::{Project, find},
    tests::{Kind, NOT_FOUND, Test},
};
use crate::service::{
    api::{
        Open,
        test_writing::{CreateTest, UpdateTest},
        tests::{TestCase, TestContent},
    },
    arguments::is_uuid,
};

impl Answer<CreateTest> for World {
    fn answer(&mut self, asked: CreateTest, caller: &Caller) -> Result<Answered<TestCase>, Fault> {
        let id = self.ids.uuid();
        let project = self.project_mut(caller)?;
        let folder = match asked.folder_id {
            Some(id) => known_folder(project, &id)?,
            None => folder_at(project, asked.folder_path.as_deref())?,
        };
        let case = new_case(project, id, asked.test)?;
        let draft = Draft { case, folder, unknown: asked.shared_collection_steps_mode, before: None };
        let test = draft.finished(project)?;
        let shown = content::shown(project, &test, asked.include_shared_collection_steps.unwrap_or(true));

        project.save_test(test);

        Ok(Answered::created(shown))
    }
}

/// The record of a new test, as far as it is given.
fn new_case(project: &Project, id: String, given: Open) -> Result<TestCase, Fault> {
    let empty = TestCase {
        id,
        project_id: project.id.clone(),
        name: String::new(),
        version: 0,
        tags: Vec::new(),
        test_type: Kind::Verification.name().to_owned(),
        content: TestContent { source: Some("repository".to_owned()), ..TestContent::default() },
    };

    let case = patched(&empty, given)?;
    if !is_uuid(&case.id) || find(&project.tests, &case.id).is_some() {
        return Err(Fault::invalid("invalid request: test.id: must be a UUID that no other test has"));
    }

    Ok(TestCase { id: case.id.to_ascii_lowercase(), project_id: empty.project_id, version: 0, ..case })
}

impl Answer<UpdateTest> for World {
    fn answer(&mut self, asked: UpdateTest, caller: &Caller) -> Result<Answered<TestCase>, Fault> {
        let project = self.project_mut(caller)?;
        let before = find(&project.tests, &asked.test_id.0).ok_or_else(|| Fault::not_found(NOT_FOUND))?;
        Fault::unless_latest(asked.expected_version, before.version)?;

        let folder = match (asked.folder_id, asked.folder_path) {
            (Some(id), _) => known_folder(project, &id)?,
            (None, Some(path)) => folder_at(project, path.as_deref())?,
            (None, None) => before.folder.clone(),
        };
        let case = changed_case(project, before, asked.patch)?;
        let unknown = asked.shared_collection_steps_mode;
        let test = Draft { case, folder, unknown, before: Some(before) }.finished(project)?;
        let shown = content::shown(project, &test, asked.include_shared_collection_steps.unwrap_or(true));

        project.save_test(test);

        Ok(shown.into())
    }
}

/// The record after a patch. Another kind of test has the time budget of its kind, unless one is given.
fn changed_case(project: &Project, before: &Test, patch: Open) -> Result<TestCase, Fault> {
    let mut content = before.content.clone();
    if patch.get("test_type").is_some_and(|kind| kind != before.kind.name()) {
        (content.min_seconds, content.max_seconds) = (None, None);
    }

    let present = content::case(project, before, content);
    let case = patched(&present, patch)?;

    Ok(TestCase { id: present.id, project_id: present.project_id, version: before.version + 1, ..case })
}

fn known_folder(project: &Project, id: &str) -> Result<Option<String>, Fault> {
    let folder =
        find(&project.folders, id).ok_or_else(|| Fault::invalid(format!("folder not found: {id}")))?;
    Ok(Some(folder.id.clone()))
}

fn folder_at(project: &Project, path: Option<&str>) -> Result<Option<String>, Fault> {
    let path = normal(path.unwrap_or(ROOT));
    if path == ROOT {
        return Ok(None);
    }

    let folder =
        project.folder_at(path).ok_or_else(|| Fault::invalid(format!("folder not found: {path}")))?;

    Ok(Some(folder.id.clone()))
}

impl Project {
    /// Saves a version of a test.
    fn save_test(&mut self, test: Test) {
        let test = Arc::new(test);
        self.test_versions.entry(test.id.clone()).or_default().push(Arc::clone(&test));
        self.tests.insert(test.id.clone(), test);
    }
}
