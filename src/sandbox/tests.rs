//! Saved tests and their folders (supplement 6, 7).

use std::sync::Arc;

use super::{
    Answer, Answered, Caller, Fault, World,
    clock::Millis,
    lists::page,
    project::{Project, find},
    script::Outcome,
};
use crate::api::{
    ListPage,
    tests::{ListTests, TestSummary},
};

/// A folder of the test repository.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: String,
}

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
}

/// Kinds of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Verification,
    Discovery,
    Task,
}

impl Kind {
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
        (Some(path), _) => folder_path(project, test) == normal(path),
        (None, Some(id)) => test.folder.as_deref().is_some_and(|folder| folder.eq_ignore_ascii_case(id)),
        (None, None) => true,
    }
}

fn normal(path: &str) -> &str {
    match path.trim_matches('/') {
        "" => "/",
        path => path,
    }
}

fn folder_path<'a>(project: &'a Project, test: &Test) -> &'a str {
    let folder = test.folder.as_ref().and_then(|id| find(&project.folders, id));
    folder.map_or("/", |folder| &folder.path)
}

fn summary(project: &Project, test: &Arc<Test>) -> TestSummary {
    TestSummary {
        id: test.id.clone(),
        name: test.name.clone(),
        r#type: test.kind.name().to_owned(),
        folder_id: test.folder.clone(),
        folder_path: Some(folder_path(project, test).to_owned()),
    }
}
