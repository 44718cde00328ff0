//! Bugs of the game, and their review by people (specification, Bug).

use crate::{fields::Fields, sandbox::model::moment::Moment, service::api::bugs::Severity};

/// A fault of the game that runs can come across.
#[derive(Debug)]
pub(crate) struct Bug {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) reproduction_steps: String,
    pub(crate) severity: Severity,
    pub(crate) category: String,
    pub(crate) confidence: String,
    pub(crate) tags: Vec<String>,
    pub(crate) details: Option<Fields>,
    /// `None`: nobody has confirmed it yet.
    pub(crate) review: Option<BugReview>,
}

/// A person's confirmation of a bug.
#[derive(Debug)]
pub(crate) struct BugReview {
    /// Everything detected until then was reviewed.
    pub(crate) at: Moment,
    pub(crate) by: String,
    pub(crate) comment: Option<String>,
    pub(crate) archived: bool,
    pub(crate) suppress_reporting: bool,
}

impl BugReview {
    pub(crate) const fn status(&self) -> &'static str {
        if self.archived { "archived" } else { "active" }
    }
}
