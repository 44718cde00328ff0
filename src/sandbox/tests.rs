//! Saved tests (supplement 6).

use super::{
    Answer, Answered, Caller, Fault, Invalid, World,
    clock::Millis,
    content,
    folders::normal,
    lists::page,
    project::{Project, at_version},
    script::Outcome,
};
use crate::service::api::{
    ListPage,
    tests::{GetTest, ListTests, TestCase, TestContent, TestSummary},
};

/// The text of the service for a test that it does not know.
pub(super) const NOT_FOUND: &str = "test not found";

/// A test, and what happens when it is run.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) kind: Kind,
    /// `None`: at the root.
    pub(super) folder: Option<String>,
    pub(super) version: u32,
    pub(super) tags: Vec<String>,
    pub(super) players: Vec<Player>,
    /// Outcome of the first attempt, the second, ...; later attempts end like the last one.
    pub(super) script: Vec<Outcome>,
    pub(super) cases: Vec<CaseLink>,
    /// What people wrote, of which `players` and `cases` are made.
    pub(super) content: TestContent,
}

/// Kinds of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Verification,
    Discovery,
    Task,
}

impl Kind {
    /// The kind that the service calls so.
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Verification, Self::Discovery, Self::Task].into_iter().find(|kind| kind.name() == name)
    }

    /// The service's word.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Verification => "verification",
            Self::Discovery => "discovery",
            Self::Task => "task",
        }
    }
}

/// A player of a test.
#[derive(Clone, Debug)]
pub(super) struct Player {
    pub(super) steps: Vec<Step>,
}

/// A step of a player.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) id: String,
    /// The collection that it comes from.
    pub(super) shared: Option<String>,
    pub(super) goal: String,
    pub(super) expected: Vec<String>,
    /// How long it takes.
    pub(super) lasts: Millis,
    /// What the agent reports when all is well.
    pub(super) report: String,
}

/// A case of the test-management system that a test is linked to.
#[derive(Clone, Debug)]
pub(super) struct CaseLink {
    pub(super) suite: u32,
    pub(super) case: u64,
    /// Whether the case still exists there.
    pub(super) exists: bool,
}

impl Test {
    /// How attempt number `attempt` (from 0) ends.
    pub(super) fn outcome(&self, attempt: usize) -> Option<&Outcome> {
        self.script.get(attempt).or(self.script.last())
    }
}

impl Answer<ListTests> for World {
    fn answer(
        &mut self,
        asked: ListTests,
        caller: &Caller,
    ) -> Result<Answered<ListPage<TestSummary>>, Fault> {
        let project = self.project(caller)?;
        let tests = project.tests.values().filter(|test| in_folder(project, test, &asked)).collect();
        Ok(page(tests, asked.page, asked.page_size, |test| summary(project, test)).into())
    }
}

fn in_folder(project: &Project, test: &Test, asked: &ListTests) -> bool {
    match (&asked.folder_path, &asked.folder_id) {
        (Some(path), _) => project.folder_path(test.folder.as_deref()) == normal(path),
        (None, Some(id)) => test.folder.as_deref().is_some_and(|folder| folder.eq_ignore_ascii_case(id)),
        (None, None) => true,
    }
}

fn summary(project: &Project, test: &Test) -> TestSummary {
    TestSummary {
        id: test.id.clone(),
        name: test.name.clone(),
        r#type: test.kind.name().to_owned(),
        folder_id: test.folder.clone(),
        folder_path: Some(project.folder_path(test.folder.as_deref()).to_owned()),
    }
}

impl Answer<GetTest> for World {
    const INVALID: Invalid = Invalid::NotFound(NOT_FOUND);

    fn answer(&mut self, asked: GetTest, caller: &Caller) -> Result<Answered<TestCase>, Fault> {
        let project = self.project(caller)?;
        let test = at_version(&project.tests, &project.test_versions, &asked.test_id.0, asked.version);
        let test = test.ok_or_else(|| Fault::not_found(NOT_FOUND))?;
        Ok(content::shown(project, test, asked.include_shared_collection_steps.unwrap_or(true)).into())
    }
}
