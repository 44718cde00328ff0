//! A broken rule of a call's arguments.

use serde::Serialize;

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Position in the arguments: dotted names and indices such as `job_ids.0`. Empty for the arguments as a whole.
    pub path: String,
    /// The rule that does not hold at `path`.
    pub rule: String,
}

impl Violation {
    /// A violation of `rule` at `path`.
    pub fn new(path: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { path: path.into(), rule: rule.into() }
    }
}
