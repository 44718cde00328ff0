//! A problem with a setting, and the failure that lists all of them.

use serde::Serialize;
use serde_json::json;

use crate::failure::{Code, Failure};

/// Origin of a setting without a value.
pub(super) const NOT_SET: &str = "not set";

/// A setting that is missing or unusable.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SettingProblem {
    /// Name of the setting.
    pub(super) setting: &'static str,
    /// Origin of the value, or [`NOT_SET`].
    pub(super) origin: String,
    /// The reason, as the end of a sentence that begins with the name of the setting.
    #[serde(rename = "problem")]
    pub(super) reason: String,
}

/// Returns the failure of every call while these problems exist.
pub(super) fn not_configured(problems: &[SettingProblem]) -> Failure {
    let hint = if problems.iter().any(|problem| problem.origin == NOT_SET) {
        "run `tas-mcp login` in a terminal, or set what is missing, such as in the configuration of the host, and restart the server; `--sandbox` works without settings"
    } else {
        "correct these settings where they come from, such as the configuration of the host, and restart the server; `--sandbox` works without settings"
    };
    Failure::new(Code::NotConfigured, format!("tas-mcp cannot call the service: {}", list(problems)))
        .hint(hint)
        .detail("problems", json!(problems))
}

/// Returns the failure of a server that does not start because of these problems.
pub(super) fn cannot_start(problems: &[SettingProblem]) -> Failure {
    Failure::new(Code::NotConfigured, format!("the server cannot start: {}", list(problems)))
        .detail("problems", json!(problems))
}

/// Returns the failure of a command that would pass these settings on to another process.
pub(super) fn cannot_be_passed_on(problems: &[SettingProblem]) -> Failure {
    Failure::new(Code::NotConfigured, format!("a server could not use these settings: {}", list(problems)))
        .detail("problems", json!(problems))
}

fn list(problems: &[SettingProblem]) -> String {
    let listed = problems.iter().map(|SettingProblem { setting, origin, reason }| match origin.as_str() {
        NOT_SET => format!("`{setting}` {reason}"),
        origin => format!("`{setting}` ({origin}) {reason}"),
    });
    listed.collect::<Vec<_>>().join("; ")
}
