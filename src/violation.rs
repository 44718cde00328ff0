//! A broken rule of a call's arguments.

use std::fmt;

use serde::Serialize;

use crate::text::guidance::Guidance;

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Position in the arguments: dotted names and indices such as `job_ids.0`. Empty for the arguments as a whole.
    pub path: String,
    /// The rule that does not hold at `path`, as the predicate of a sentence: "is required".
    pub rule: Guidance,
}

impl Violation {
    /// Creates a violation of `rule` at `path`.
    pub fn new(path: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { path: path.into(), rule: rule.into().into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return write!(formatter, "{}", self.rule);
        }
        write!(formatter, "`{}` {}", self.path, self.rule)
    }
}
