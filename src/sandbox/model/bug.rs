//! Bugs of the app, and their review by users (service.md 9).

use serde::Deserialize;

use crate::{fields::Fields, sandbox::model::time::Moment, service::api::bugs::Severity};

/// A defect of the app that runs can detect.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredBug {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) reproduction_steps: String,
    pub(crate) severity: Severity,
    pub(crate) category: String,
    pub(crate) confidence: String,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    pub(crate) details: Option<Fields>,
    /// `None`: no user has reviewed the bug.
    pub(crate) review: Option<BugReview>,
}

/// A user's review of a bug.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BugReview {
    /// Time of the review. All occurrences before it count as reviewed.
    pub(crate) at: Moment,
    pub(crate) reviewer: String,
    pub(crate) comment: Option<String>,
    #[serde(default)]
    pub(crate) archived: bool,
    #[serde(default)]
    pub(crate) suppress_reporting: bool,
}
