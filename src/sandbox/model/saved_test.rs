//! Saved tests, with a script of what happens when they run, and the plans that list them (service.md 4, 6).

use std::num::NonZeroUsize;

use serde::{Deserialize, Deserializer, Serialize};

use crate::sandbox::model::time::{Millis, Moment};
use crate::service::api::Open;
use crate::service::api::tests::TestContent;

/// Slot of players without an extra slot.
pub(crate) const DEFAULT_SLOT: usize = 1;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TestKind {
    Verification,
    Discovery,
    Task,
}

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

#[derive(Clone, Debug)]
pub(crate) struct ScriptedPlayer {
    pub(crate) steps: Vec<ScriptedStep>,
}

/// A step of a player, with what happens in it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedStep {
    #[serde(skip)]
    pub(crate) id: String,
    /// Id of the shared collection that contains the step.
    #[serde(skip)]
    pub(crate) shared: Option<String>,
    pub(crate) goal: String,
    #[serde(default)]
    pub(crate) expected: Vec<String>,
    /// How long the step takes.
    #[serde(rename = "milliseconds")]
    pub(crate) duration: Millis,
    /// What the agent reports if the step passes.
    pub(crate) report: String,
}

/// A case of the test-management system that a test is linked to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseLink {
    pub(crate) suite: u32,
    pub(crate) case: u64,
    /// Whether the test-management system no longer has the case.
    #[serde(default)]
    pub(crate) deleted: bool,
}

/// How an attempt ends. The seed numbers players and steps from 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedOutcome {
    pub(crate) result: RunResult,
    /// Index of the player that does not pass.
    #[serde(default, deserialize_with = "index")]
    pub(crate) player: usize,
    /// Index of the step that does not pass.
    #[serde(default, deserialize_with = "index")]
    pub(crate) step: usize,
    /// What the agent reports at that step.
    #[serde(default)]
    pub(crate) report: String,
    #[serde(default)]
    pub(crate) findings: Vec<BugFinding>,
}

impl ScriptedOutcome {
    pub(crate) const fn passed() -> Self {
        Self { result: RunResult::Success, player: 0, step: 0, report: String::new(), findings: Vec::new() }
    }
}

/// Results of runs, players and steps (service.md 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all(deserialize = "lowercase", serialize = "SCREAMING_SNAKE_CASE"))]
pub(crate) enum RunResult {
    Success,
    Failed,
    Blocked,
    Skipped,
    Timeout,
    Error,
    Stopped,
}

impl RunResult {
    /// Returns whether the attempt was cut off, so that a retry may follow. The other results are verdicts.
    pub(crate) const fn is_cut_off(self) -> bool {
        matches!(self, Self::Timeout | Self::Error | Self::Stopped)
    }
}

/// A bug that an attempt detects. Player and step are indices.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BugFinding {
    pub(crate) bug: String,
    #[serde(default, deserialize_with = "index")]
    pub(crate) player: usize,
    #[serde(deserialize_with = "index")]
    pub(crate) step: usize,
    pub(crate) turn: usize,
}

/// Reads a number that counts from 1 as an index.
fn index<'de, D: Deserializer<'de>>(number: D) -> Result<usize, D::Error> {
    NonZeroUsize::deserialize(number).map(|number| number.get() - 1)
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedPlan {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) items: Vec<PlanItem>,
    /// Extra slots, each with its index and name.
    #[serde(default)]
    pub(crate) slots: Vec<(usize, Option<String>)>,
    pub(crate) default_slot_name: Option<String>,
    pub(crate) created: Moment,
    pub(crate) modified: Moment,
    pub(crate) created_by: String,
    pub(crate) modified_by: String,
    /// Fields that a client added and that the service does not define (service.md 4).
    #[serde(skip)]
    pub(crate) more: Open,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanItem {
    pub(crate) test: String,
    #[serde(default)]
    pub(crate) retries: u32,
    /// Fields that a client added and that the service does not define (service.md 4).
    #[serde(skip)]
    pub(crate) more: Open,
    /// Slot of each player. A player that is not listed has [`DEFAULT_SLOT`].
    #[serde(default)]
    pub(crate) slots: Vec<usize>,
}

impl PlanItem {
    pub(crate) fn slot(&self, index: usize) -> usize {
        self.slots.get(index).copied().unwrap_or(DEFAULT_SLOT)
    }
}
