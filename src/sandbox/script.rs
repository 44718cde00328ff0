//! How attempts of a test end, as its script says.

/// How an attempt ends.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) ending: Ending,
    /// Index of the player who does not pass, and of the step.
    pub(super) player: usize,
    pub(super) step: usize,
    /// What the agent reports there.
    pub(super) report: String,
    pub(super) findings: Vec<Finding>,
}

impl Outcome {
    /// Everything passes.
    pub(super) const fn passed() -> Self {
        Self { ending: Ending::Success, player: 0, step: 0, report: String::new(), findings: Vec::new() }
    }
}

/// Results of runs, players and steps (supplement 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Success,
    Failed,
    Blocked,
    Skipped,
    Timeout,
    Error,
    Stopped,
}

impl Ending {
    /// The service's word.
    pub(super) const fn name(self) -> &'static str {
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
    pub(super) const fn is_cut_off(self) -> bool {
        matches!(self, Self::Timeout | Self::Error | Self::Stopped)
    }
}

/// A bug that an attempt comes across. Player and step are indices.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) bug: String,
    pub(super) player: usize,
    pub(super) step: usize,
    pub(super) turn: usize,
}
