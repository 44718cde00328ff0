//! What can go wrong in a call, in the form that callers see (`design.md` 3).

use serde::Serialize;
use serde_json::{Value, json};

use crate::{fields::Fields, violation::Violation};

/// Longest quotation of the service's own words, in characters.
const LONGEST_QUOTATION: usize = 1_000;

/// Most violations that one failure lists.
const MOST_VIOLATIONS: usize = 50;

/// What kind of failure it is: callers branch on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Rejected before any request.
    InvalidArguments,
    /// A setting is missing or unusable.
    NotConfigured,
    /// Global scope, and nothing identifies the project.
    ProjectRequired,
    /// The given ids were found in none of the projects asked.
    ProjectNotResolved,
    /// The project asked for does not own the ids.
    ProjectScopeMismatch,
    /// The key is missing, wrong, expired or disabled.
    Unauthenticated,
    /// The key lacks a permission.
    PermissionDenied,
    /// The project lacks the feature or the integration.
    FeatureDisabled,
    /// What was asked for does not exist.
    NotFound,
    /// It exists in another state than the call needs.
    Conflict,
    /// Storage or another quota is used up.
    QuotaExceeded,
    /// The service does not take this much.
    TooLarge,
    /// Too many requests.
    RateLimited,
    /// Any other refusal of the service.
    Rejected,
    /// The service cannot be reached, or failed.
    ServiceUnavailable,
    /// A writing request was sent and no answer came.
    OutcomeUnknown,
    /// The answer cannot be one of this operation.
    BadResponse,
    /// A local file is missing, unreadable, outside the files root, changed meanwhile, or cannot be written.
    FileError,
    /// The call is irreversible or costly, and nobody has agreed to it.
    ConfirmationRequired,
    /// The caller cancelled.
    Cancelled,
    /// The call's own limit passed.
    Timeout,
}

/// A failed call.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Kind of the failure.
    pub code: Code,
    /// What failed, and on what.
    pub message: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Status, when the service answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// More, for machines.
    #[serde(skip_serializing_if = "no_fields")]
    pub details: Box<Fields>,
    /// Whether what was asked for may have happened all the same; the hint says so.
    #[serde(skip)]
    pub is_in_doubt: bool,
}

impl Failure {
    /// A failure without hint or details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            status: None,
            details: Box::default(),
            is_in_doubt: false,
        }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what to do next where what was asked for may have happened.
    #[must_use]
    pub fn in_doubt(self, hint: impl Into<String>) -> Self {
        Self { is_in_doubt: true, ..self.hint(hint) }
    }

    /// Adds the status of the service's answer.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Adds a detail.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Arguments that break rules of the tool `tool`.
    pub fn invalid_arguments(tool: &str, violations: &[Violation]) -> Self {
        let first = violations.iter().take(3).map(|one| match one.path.as_str() {
            "" => one.rule.clone(),
            path => format!("`{path}` {}", one.rule),
        });
        let first = first.collect::<Vec<_>>().join("; ");
        let more = match violations.len().saturating_sub(3) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let listed: Vec<_> = violations.iter().take(MOST_VIOLATIONS).collect();
        let failure =
            Self::new(Code::InvalidArguments, format!("invalid arguments for `{tool}`: {first}{more}"))
                .hint("correct every violation in `details.violations` and call again; nothing was sent")
                .detail("violations", json!(listed));

        match violations.len().saturating_sub(MOST_VIOLATIONS) {
            0 => failure,
            omitted => failure.detail("violations_omitted", omitted),
        }
    }

    /// Whether an equal request that changes nothing may succeed the next time.
    pub fn is_passing(&self) -> bool {
        matches!(self.code, Code::ServiceUnavailable | Code::RateLimited | Code::Timeout | Code::BadResponse)
    }

    /// The failure as callers read it: `{"error": {...}}`.
    pub fn to_json(&self) -> String {
        json!({"error": self}).to_string()
    }
}

#[expect(clippy::borrowed_box, reason = "serde hands the field over as it is")]
fn no_fields(fields: &Box<Fields>) -> bool {
    fields.is_empty()
}

/// The service's own words, cut at 1,000 characters.
pub fn quotation(text: &str) -> String {
    let mut quoted: String = text.chars().take(LONGEST_QUOTATION).collect();
    if quoted.len() < text.len() {
        quoted.push_str(" [cut]");
    }
    quoted
}
