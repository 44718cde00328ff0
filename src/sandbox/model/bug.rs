//! Bugs of the app, and their review by users (service.md 9).

use crate::{fields::Fields, sandbox::model::moment::Moment, service::api::bugs::Severity};

/// A defect of the app that runs can detect.
#[derive(Debug)]
pub(crate) struct StoredBug {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) reproduction_steps: String,
    pub(crate) severity: Severity,
    pub(crate) category: String,
    pub(crate) confidence: String,
    pub(crate) tags: Vec<String>,
    pub(crate) details: Option<Fields>,
    /// `None`: no user has reviewed the bug.
    pub(crate) review: Option<BugReview>,
}

/// A user's review of a bug.
#[derive(Debug)]
pub(crate) struct BugReview {
    /// Time of the review. All occurrences before it count as reviewed.
    pub(crate) at: Moment,
    pub(crate) reviewer: String,
    pub(crate) comment: Option<String>,
    pub(crate) archived: bool,
    pub(crate) suppress_reporting: bool,
}

impl BugReview {
    /// Returns the name that the service uses for the status.
    pub(crate) const fn status(&self) -> &'static str {
        if self.archived { "archived" } else { "active" }
    }
}
