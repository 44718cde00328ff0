//! The failure of a call: code, message and hint for callers, and typed facts for the program itself.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    fields::Fields,
    text::{
        first_characters,
        guidance::{Guidance, OfferedTools},
        remove_hidden_from_fields, visible,
    },
};

/// Maximum length of a text of the service that a failure quotes, in characters.
const MAX_QUOTE_CHARACTERS: usize = 1_000;

/// Maximum number of violations in the message.
const MAX_NAMED_VIOLATIONS: usize = 3;

/// Kind of a failure. Callers branch on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The arguments break rules of the tool. No request was sent.
    InvalidArguments,
    /// A setting is missing or unusable.
    NotConfigured,
    /// The key belongs to an organization, and neither arguments nor settings identify the project.
    ProjectRequired,
    /// None of the projects that were asked has the given ids.
    ProjectNotResolved,
    /// The ids belong to another project than the requested one.
    ProjectScopeMismatch,
    /// The key is missing, wrong, expired or disabled.
    Unauthenticated,
    /// The key lacks a permission.
    PermissionDenied,
    /// The project lacks the feature or the integration.
    FeatureDisabled,
    /// The record or file does not exist.
    NotFound,
    /// The record is in a state that does not allow the call.
    Conflict,
    /// Storage or another quota is used up.
    QuotaExceeded,
    /// The request is larger than the service accepts.
    TooLarge,
    /// The service received too many requests.
    RateLimited,
    /// The service refused the call for any other reason.
    Rejected,
    /// The service cannot be reached, or failed.
    ServiceUnavailable,
    /// A writing request was sent and no response came.
    OutcomeUnknown,
    /// The response cannot be one of this operation.
    BadResponse,
    /// A local file is missing, unreadable, outside the files root, was modified during the call, or cannot be written.
    FileError,
    /// The call is irreversible or costly, and no user has confirmed it.
    ConfirmationRequired,
    /// The caller cancelled the call.
    Cancelled,
    /// The time limit of the call passed.
    Timeout,
}

impl Code {
    /// Returns what a caller can do after any failure of this kind. It names no tool, because no tool is always
    /// offered.
    pub const fn general_hint(self) -> &'static str {
        match self {
            Self::InvalidArguments => "correct the arguments and call again; nothing was sent",
            Self::NotConfigured => "the setting must be corrected, and the server restarted",
            Self::ProjectRequired => "pass `argument:project_id`",
            Self::ProjectNotResolved => "check the ids",
            Self::ProjectScopeMismatch => "ask the user before another project is used",
            Self::Unauthenticated => "the API key must be checked or replaced",
            Self::PermissionDenied => "a key with the permission is needed",
            Self::FeatureDisabled => "a project administrator can enable the feature",
            Self::NotFound => {
                "check the id and its kind: run, job, test and plan ids are not interchangeable"
            }
            Self::Conflict => "read the current state, then decide whether to call again",
            Self::QuotaExceeded => {
                "storage must be freed, or the quota raised; until then, the call fails again"
            }
            Self::TooLarge => "send less, or ask for less",
            Self::RateLimited => "wait a minute before the next call, and call less often",
            Self::Rejected => "change what the message names; an equal call fails again",
            Self::ServiceUnavailable => "call again later",
            Self::OutcomeUnknown => "check what happened before another call",
            Self::BadResponse => {
                "call again later; if the failure persists, report it to the operator of the service"
            }
            Self::FileError => "check the path and the file",
            Self::ConfirmationRequired => {
                "a person must agree; then call again with `argument:confirm: true`"
            }
            Self::Cancelled => "call again if the result is still needed",
            Self::Timeout => "call again later, or ask for less",
        }
    }
}

/// A failed call.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Kind of the failure.
    pub code: Code,
    /// What failed, and on which input.
    pub message: String,
    /// What the caller can do next.
    pub hint: Guidance,
    /// HTTP status, if the service responded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Further data for programs that call the tool. The program itself reads [`Self::facts`].
    #[serde(skip_serializing_if = "Fields::is_empty")]
    pub details: Box<Fields>,
    /// Typed facts that decide what the program does next.
    #[serde(skip)]
    pub facts: Box<FailureFacts>,
}

/// Facts about a failure that decide what the program does next. They are boxed, because most failures have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureFacts {
    /// How long the service asks to wait before the next request.
    pub retry_after: Option<Duration>,
    /// Whether the service may have performed the call although it failed.
    pub is_uncertain: bool,
    /// Project that owns the ids of the call, if it is not the requested one.
    pub owning_project: Option<String>,
    /// The permission that the key lacks, if the service named it.
    pub missing_permission: Option<String>,
    /// The rules that the arguments break.
    pub violations: Vec<Violation>,
    /// Lines about the records that a user can choose from, if a name is not unique.
    pub choices: Vec<String>,
    /// The cause, if the code alone does not decide what the program does next.
    pub cause: Option<Cause>,
}

/// Cause of a failure, where failures with the same code must be handled differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The service refused a change because the record has another version.
    StaleRecord,
    /// No local file can be written any more: the disk is full, or the directory cannot be written to.
    Unwritable,
    /// A setting is missing, and not only unusable.
    MissingSetting,
    /// Read-only mode: the call would change something.
    ReadOnly,
}

impl Failure {
    /// Creates a failure with the general hint of its code, and without status, details and facts.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: code.general_hint().into(),
            status: None,
            details: Box::default(),
            facts: Box::default(),
        }
    }

    /// Sets the hint: what the caller can do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Guidance>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Adds a text to the hint.
    #[must_use]
    pub fn and_hint(mut self, text: &'static str) -> Self {
        self.hint = self.hint.and(text);
        self
    }

    /// Returns the failure with a hint that names offered tools only. A hint of which nothing is left becomes the
    /// general hint of the code.
    #[must_use]
    pub fn for_caller(mut self, tools: &dyn OfferedTools) -> Self {
        let code = if self.facts.is_uncertain { Code::OutcomeUnknown } else { self.code };
        let hint = self.hint.for_caller(tools);
        self.hint = hint.map_or_else(|| code.general_hint().into(), Guidance::from);
        self
    }

    /// Marks the outcome of the call as uncertain, and sets the hint, which must tell how to find out.
    #[must_use]
    pub fn uncertain(mut self, hint: impl Into<Guidance>) -> Self {
        self.facts.is_uncertain = true;
        self.hint(hint)
    }

    /// Sets the HTTP status.
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

    /// Sets how long the service asks to wait, as a fact and as the detail `retry_after_s`.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.facts.retry_after = Some(wait);
        self.detail("retry_after_s", wait.as_secs())
    }

    /// Sets the project that owns the ids of the call, as a fact and as the detail `owning_project`.
    #[must_use]
    pub fn owning_project(mut self, project: &str) -> Self {
        self.facts.owning_project = Some(project.to_owned());
        self.detail("owning_project", project)
    }

    /// Sets the permission that the key lacks, as a fact and as the detail `required_permission`.
    #[must_use]
    pub fn missing_permission(mut self, permission: &str) -> Self {
        self.facts.missing_permission = Some(permission.to_owned());
        self.detail("required_permission", permission)
    }

    /// Creates the failure for arguments that break rules of the tool `tool`.
    pub fn invalid_arguments(tool: &str, violations: &[Violation]) -> Self {
        let named = violations.iter().take(MAX_NAMED_VIOLATIONS).map(ToString::to_string);
        let named = named.collect::<Vec<_>>().join("; ");
        let more = match violations.len().saturating_sub(MAX_NAMED_VIOLATIONS) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };

        let mut failure =
            Self::new(Code::InvalidArguments, format!("invalid arguments for `{tool}`: {named}{more}"))
                .hint("correct every violation in `details.violations` and call again; nothing was sent")
                .detail("violations", json!(violations));
        failure.facts.violations = violations.to_vec();
        failure
    }

    /// Returns whether an equal call that changes nothing may succeed later. This is the classification of a whole
    /// call, after the retries of its requests (`client::RequestKind` classifies single requests).
    pub fn is_transient(&self) -> bool {
        matches!(self.code, Code::ServiceUnavailable | Code::RateLimited | Code::Timeout | Code::BadResponse)
    }

    /// Returns the failure without hidden characters in its texts.
    #[must_use]
    pub fn visible(mut self) -> Self {
        self.message = visible(&self.message).into_owned();
        self.hint.edit(|text| visible(text).into_owned());
        remove_hidden_from_fields(&mut self.details);
        self
    }

    /// Returns the failure as callers read it: `{"error": {...}}`.
    pub fn to_json(&self) -> String {
        json!({"error": self}).to_string()
    }
}

/// Returns a text of the service for use in a failure, cut after 1,000 characters.
pub fn quote(text: &str) -> String {
    let start = first_characters(text, MAX_QUOTE_CHARACTERS);
    if start.len() == text.len() { text.to_owned() } else { format!("{start} [cut]") }
}

/// One broken rule of the arguments of a call.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_first_three_violations() {
        let violations = [0, 1, 2, 3, 4].map(|index| Violation::new(format!("job_ids.{index}"), "is empty"));
        let failure = Failure::invalid_arguments("t", &violations);
        let named = "`job_ids.0` is empty; `job_ids.1` is empty; `job_ids.2` is empty";
        assert_eq!(failure.message, format!("invalid arguments for `t`: {named}; and 2 more"));
    }
}
