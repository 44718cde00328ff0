//! Saved tests (supplement 6).

use crate::{
    sandbox::model::{moment::Millis, outcome::ScriptedOutcome},
    service::api::tests::TestContent,
};

impl TestKind {
    /// Least and most seconds when nothing is said (supplement 6.2).
    pub(crate) const fn default_budget(self) -> (Option<i64>, i64) {
        match self {
            Self::Verification => (None, 19_800),
            Self::Discovery => (Some(3_600), 10_800),
            Self::Task => (Some(0), 19_800),
        }
    }
}

/// A test, and what happens when it is run.
#[derive(Clone, Debug)]
pub(crate) struct SavedTest {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: TestKind,
    /// `None`: at the root.
    pub(crate) folder: Option<String>,
    pub(crate) version: u32,
    pub(crate) tags: Vec<String>,
    pub(crate) players: Vec<ScriptedPlayer>,
    /// Outcome of the first attempt, the second, ...; later attempts end like the last one.
    pub(crate) outcomes: Vec<ScriptedOutcome>,
    pub(crate) cases: Vec<CaseLink>,
    /// What people wrote, of which `players` and `cases` are made.
    pub(crate) content: TestContent,
}

/// Kinds of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestKind {
    Verification,
    Discovery,
    Task,
}

impl TestKind {
    /// The kind that the service calls so.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Verification, Self::Discovery, Self::Task].into_iter().find(|kind| kind.name() == name)
    }

    /// The service's word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Verification => "verification",
            Self::Discovery => "discovery",
            Self::Task => "task",
        }
    }
}

/// A player of a test.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedPlayer {
    pub(crate) steps: Vec<ScriptedStep>,
}

/// A step of a player.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedStep {
    pub(crate) id: String,
    /// The collection that it comes from.
    pub(crate) shared: Option<String>,
    pub(crate) goal: String,
    pub(crate) expected: Vec<String>,
    /// How long it takes.
    pub(crate) duration: Millis,
    /// What the agent reports when all is well.
    pub(crate) report: String,
}

/// A case of the test-management system that a test is linked to.
#[derive(Clone, Debug)]
pub(crate) struct CaseLink {
    pub(crate) suite: u32,
    pub(crate) case: u64,
    /// Whether the case still exists there.
    pub(crate) exists: bool,
}

impl SavedTest {
    /// How attempt number `attempt` (from 0) ends.
    pub(crate) fn outcome(&self, attempt: usize) -> Option<&ScriptedOutcome> {
        self.outcomes.get(attempt).or(self.outcomes.last())
    }
}
