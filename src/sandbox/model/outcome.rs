//! The scripted outcomes of a test: how its attempts end, and which bugs they detect.

/// How an attempt ends.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedOutcome {
    pub(crate) result: RunResult,
    /// Index of the player that does not pass.
    pub(crate) player: usize,
    /// Index of the step that does not pass.
    pub(crate) step: usize,
    /// What the agent reports at that step.
    pub(crate) report: String,
    pub(crate) findings: Vec<BugFinding>,
}

impl ScriptedOutcome {
    /// Returns an outcome in which every step passes.
    pub(crate) const fn passed() -> Self {
        Self { result: RunResult::Success, player: 0, step: 0, report: String::new(), findings: Vec::new() }
    }
}

/// Results of runs, players and steps (service.md 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Returns the name that the service uses.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Success => "SUCCESS",
            Self::Failed => "FAILED",
            Self::Blocked => "BLOCKED",
            Self::Skipped => "SKIPPED",
            Self::Timeout => "TIMEOUT",
            Self::Error => "ERROR",
            Self::Stopped => "STOPPED",
        }
    }

    /// Returns whether the attempt was cut off, so that a retry may follow. The other results are verdicts.
    pub(crate) const fn is_cut_off(self) -> bool {
        matches!(self, Self::Timeout | Self::Error | Self::Stopped)
    }
}

/// A bug that an attempt detects. Player and step are indices.
#[derive(Clone, Debug)]
pub(crate) struct BugFinding {
    pub(crate) bug: String,
    pub(crate) player: usize,
    pub(crate) step: usize,
    pub(crate) turn: usize,
}
