//! The effect of a tool on the service and on local files.

use std::fmt::{Display, Formatter, Result};

/// What a call of a tool changes. The effect decides the annotations of the tool and whether a request may be
/// repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Reads,
    /// Creates a new record on every call.
    Creates,
    /// Changes an existing record or file and may lose its earlier content. A second equal call changes nothing more.
    Replaces,
    /// Ends a process. A second equal call finds nothing to stop.
    Stops,
    /// Deletes a record permanently. A second equal call finds nothing to delete.
    Deletes,
}

impl Effect {
    /// Returns whether the tool changes nothing.
    pub const fn is_read_only(self) -> bool {
        matches!(self, Self::Reads)
    }

    /// Returns whether the tool may lose existing data.
    pub const fn is_destructive(self) -> bool {
        matches!(self, Self::Replaces | Self::Stops | Self::Deletes)
    }

    /// Returns whether a second equal call changes nothing more.
    pub const fn is_idempotent(self) -> bool {
        !matches!(self, Self::Creates)
    }
}

impl Display for Effect {
    /// Writes the MCP hints that are true, separated by commas.
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let hints = [
            ("read-only", self.is_read_only()),
            ("destructive", self.is_destructive()),
            ("idempotent", self.is_idempotent()),
        ];
        let mut true_hints = hints.iter().filter(|(_, is_true)| *is_true).map(|(hint, _)| *hint);

        formatter.write_str(true_hints.next().unwrap_or_default())?;
        true_hints.try_for_each(|hint| write!(formatter, ", {hint}"))
    }
}
