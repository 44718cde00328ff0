//! A problem with a setting, and the failure that lists all of them.

use serde::Serialize;
use serde_json::json;

use crate::failure::{Code, Failure};

/// A setting that is missing or unusable.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SettingProblem {
    /// Name of the setting.
    pub(super) setting: &'static str,
    /// Origin of the value, or `not set`.
    pub(super) origin: String,
    /// The reason, as the end of a sentence that begins with the name of the setting.
    #[serde(rename = "problem")]
    pub(super) reason: String,
}

/// Returns the failure of every call while these problems exist.
pub(super) fn not_configured(problems: &[SettingProblem]) -> Failure {
    let listed = problems
        .iter()
        .map(|SettingProblem { setting, origin, reason }| format!("`{setting}` ({origin}) {reason}"));
    let listed = listed.collect::<Vec<_>>().join("; ");

    Failure::new(Code::NotConfigured, format!("tas-mcp cannot call the service: {listed}"))
        .hint("ask the user to correct these settings in the configuration of the host and to restart the server; `--sandbox` works without settings")
        .detail("problems", json!(problems))
}
