//! Saved tests, with a script of what happens when they run (service.md 6).

use crate::{
    sandbox::model::{moment::Millis, outcome::ScriptedOutcome},
    service::api::tests::TestContent,
};

impl TestKind {
    /// Returns the default of the least and the most seconds (service.md 6.2).
    pub(crate) const fn default_budget(self) -> (Option<i64>, i64) {
        match self {
            Self::Verification => (None, 19_800),
            Self::Discovery => (Some(3_600), 10_800),
            Self::Task => (Some(0), 19_800),
        }
    }
}

/// A test, and what happens when it runs.
#[derive(Clone, Debug)]
pub(crate) struct SavedTest {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: TestKind,
    /// `None`: the test is at the root.
    pub(crate) folder: Option<String>,
    pub(crate) version: u32,
    pub(crate) tags: Vec<String>,
    pub(crate) players: Vec<ScriptedPlayer>,
    /// Outcomes of the attempts in order. Further attempts end like the last one.
    pub(crate) outcomes: Vec<ScriptedOutcome>,
    pub(crate) cases: Vec<CaseLink>,
    /// The content as it was written. `players` and `cases` are derived from it.
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
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Verification, Self::Discovery, Self::Task].into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the name that the service uses.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Verification => "verification",
            Self::Discovery => "discovery",
            Self::Task => "task",
        }
    }
}

/// A player of a test, with its steps.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedPlayer {
    pub(crate) steps: Vec<ScriptedStep>,
}

/// A step of a player, with what happens in it.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedStep {
    pub(crate) id: String,
    /// Id of the shared collection that contains the step.
    pub(crate) shared: Option<String>,
    pub(crate) goal: String,
    pub(crate) expected: Vec<String>,
    /// How long the step takes.
    pub(crate) duration: Millis,
    /// What the agent reports if the step passes.
    pub(crate) report: String,
}

/// A case of the test-management system that a test is linked to.
#[derive(Clone, Debug)]
pub(crate) struct CaseLink {
    pub(crate) suite: u32,
    pub(crate) case: u64,
    /// Whether the test-management system still has the case.
    pub(crate) exists: bool,
}

impl SavedTest {
    /// Returns the outcome of attempt `attempt` (from 0).
    pub(crate) fn outcome(&self, attempt: usize) -> Option<&ScriptedOutcome> {
        self.outcomes.get(attempt).or(self.outcomes.last())
    }
}
