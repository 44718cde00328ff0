//! How attempts of a test end, as its script says.

/// How an attempt ends.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedOutcome {
    pub(crate) result: RunResult,
    /// Index of the player who does not pass, and of the step.
    pub(crate) player: usize,
    pub(crate) step: usize,
    /// What the agent reports there.
    pub(crate) report: String,
    pub(crate) findings: Vec<BugFinding>,
}

impl ScriptedOutcome {
    /// Everything passes.
    pub(crate) const fn passed() -> Self {
        Self { result: RunResult::Success, player: 0, step: 0, report: String::new(), findings: Vec::new() }
    }
}

/// Results of runs, players and steps (supplement 2.3).
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
    /// The service's word.
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

    /// Whether the attempt was cut off, which a retry may follow; the others are verdicts.
    pub(crate) const fn is_cut_off(self) -> bool {
        matches!(self, Self::Timeout | Self::Error | Self::Stopped)
    }
}

/// A bug that an attempt comes across. Player and step are indices.
#[derive(Clone, Debug)]
pub(crate) struct BugFinding {
    pub(crate) bug: String,
    pub(crate) player: usize,
    pub(crate) step: usize,
    pub(crate) turn: usize,
}
