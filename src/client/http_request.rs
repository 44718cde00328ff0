//! A request to a host of the service.

use std::fmt;

use http::Method;

use super::RequestKind;
use crate::service::{operation::UrlBase, request::FileRange, tool::FailureHints};

/// What a request is about. The description is made only when a message needs it, because most requests succeed.
pub trait Subject: fmt::Debug + Sync {
    /// Returns the records that the request names, such as `run 7`. Returns an empty text if the request names none.
    fn describe(&self) -> String;
}

/// One request, which is sent as often as its [`RequestKind`] and the retry policy allow.
#[derive(Clone, Debug)]
pub struct HttpRequest<'a> {
    /// Name of the operation, for messages and logs.
    pub operation: &'static str,
    /// Base of the path; it decides which host receives the request.
    pub url_base: UrlBase,
    /// Whether the request carries the API key.
    pub has_key: bool,
    /// HTTP method.
    pub method: Method,
    /// Path and query below the address of the host.
    pub path_and_query: String,
    /// JSON body.
    pub body: Option<&'a [u8]>,
    /// Requested part of a file. Redirects are followed for files only.
    pub part: Option<FileRange>,
    /// Kind of the request, which decides what is repeated.
    pub kind: RequestKind,
    /// What the request is about.
    pub subject: Option<&'a dyn Subject>,
    /// The project in the path.
    pub project: Option<&'a str>,
    /// What the caller does after some failures.
    pub hints: FailureHints,
}

impl HttpRequest<'_> {
    /// Returns the operation and what the request is about, as the beginning of a message.
    pub fn label(&self) -> String {
        let subject = self.subject.map(Subject::describe).unwrap_or_default();
        let separator = if subject.is_empty() { "" } else { ": " };
        format!("{}{separator}{subject}", self.operation)
    }
}
