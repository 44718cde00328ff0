//! Saved tests (supplement 6).

use crate::{
    sandbox::{
        answers::{
            answer::{Answer, InvalidRequestPolicy},
            answered::Answered,
            api_error::ApiError,
            caller::Caller,
            pages::page,
            test_record,
        },
        model::{
            folder::normalize, project::Project, records::at_version, saved_test::SavedTest, world::World,
        },
    },
    service::api::{
        ListPage,
        tests::{GetTest, ListTests, TestCase, TestSummary},
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
