//! The progress of a run, a player or a step.

use crate::sandbox::model::moment::Moment;

/// Progress of a run, a player or a step (service.md 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunProgress {
    Initializing,
    Running,
    Completed,
}

impl RunProgress {
    /// Returns the name that the service uses.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Initializing => "INITIALIZING",
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
        }
    }

    /// Returns the progress at `now` of a run or step that lasts from `start` to `end`. `None` means never.
    pub(super) fn between(start: Option<Moment>, end: Option<Moment>, now: Moment) -> Self {
        if end.is_some_and(|end| end <= now) {
            Self::Completed
        } else if start.is_some_and(|start| start <= now) {
            Self::Running
        } else {
            Self::Initializing
        }
    }
}
