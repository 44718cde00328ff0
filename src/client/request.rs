//! A request to a host of the service, and after which failures it is repeated: those that are transient, so that an
//! equal request may succeed a moment later.
//!
//! | request | transient statuses | transient errors without a response |
//! |-|-|-|
//! | reading, or stated to be repeatable | 429, 502, 503, 504 | connection not opened or lost |
//! | writing | none | connection not opened |
//! | file of the service | 408, 429, 500, 502, 503, 504 | connection not opened or lost, time limit |
//! | part of an upload, or file at a presigned address | 408, 429, 5xx | all |
//!
//! A TLS error of the service's own hosts is final, because a certificate does not change between two attempts.
//! How often a request is repeated is decided by [`RETRY_POLICY`] for calls, and by uploads and downloads for the files
//! that they transfer.

use std::{ops::RangeInclusive, time::Duration};

use http::Method;

use self::ErrorKind::{Connect, Lost, Setup, Timeout, Tls, TooLong, Truncated};
use crate::{
    backoff::Backoff,
    service::{operation::UrlBase, request::FileRange, tool::FailureHints},
};

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
    /// The records that the request names, such as `run 7`; empty if it names none.
    pub subject: String,
    /// The project in the path.
    pub project: Option<&'a str>,
    /// What the caller does after some failures.
    pub hints: FailureHints,
}

impl HttpRequest<'_> {
    /// The operation and what the request is about, as the beginning of a message.
    pub fn label(&self) -> String {
        let separator = if self.subject.is_empty() { "" } else { ": " };
        format!("{}{separator}{}", self.operation, self.subject)
    }
}

/// A host of the service that receives the API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceHost {
    /// The main API.
    Main,
    /// The host of knowledge files and run artifacts.
    Knowledge,
}

impl ServiceHost {
    /// Returns the host that serves the paths below `url_base`.
    pub fn for_url_base(url_base: UrlBase) -> Self {
        if url_base == UrlBase::Knowledge { Self::Knowledge } else { Self::Main }
    }

    /// Returns the name of the setting that holds the address of the host.
    pub const fn setting(self) -> &'static str {
        match self {
            Self::Main => "TAS_BASE_URL",
            Self::Knowledge => "TAS_KNOWLEDGE_URL",
        }
    }
}

/// Why a request has no response, for tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorKind {
    Setup,
    Connect,
    Tls,
    Timeout,
    Lost,
    Truncated,
    TooLong,
}

/// Kind of a request, by what a repetition can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// The request changes nothing, or the service states that repeating it is safe.
    Repeatable,
    /// The request may have an effect each time that it is sent.
    NotRepeatable,
    /// The request opens a file of the service, which can be continued after an error.
    ServiceFile,
    /// The request sends or reads an object at a presigned address. Sending a part again replaces the part.
    StorageObject,
}

/// The failures after which a request is worth repeating.
struct TransientFailures {
    statuses: &'static [RangeInclusive<u16>],
    errors: &'static [ErrorKind],
}

const REPEATABLE: TransientFailures =
    TransientFailures { statuses: &[429..=429, 502..=504], errors: &[Connect, Lost, Truncated] };

const NOT_REPEATABLE: TransientFailures = TransientFailures { statuses: &[], errors: &[Connect] };

const SERVICE_FILE: TransientFailures = TransientFailures {
    statuses: &[408..=408, 429..=429, 500..=500, 502..=504],
    errors: &[Connect, Lost, Truncated, Timeout],
};

const STORAGE_OBJECT: TransientFailures = TransientFailures {
    statuses: &[408..=408, 429..=429, 500..=u16::MAX],
    errors: &[Setup, Connect, Tls, Timeout, Lost, Truncated, TooLong],
};

impl RequestKind {
    /// Returns whether the request is worth repeating after a response with this status.
    pub fn is_transient_status(self, status: u16) -> bool {
        self.transient_failures().statuses.iter().any(|range| range.contains(&status))
    }

    /// Returns whether the request is worth repeating after an error of this kind.
    pub(super) fn is_transient_error(self, kind: ErrorKind) -> bool {
        self.transient_failures().errors.contains(&kind)
    }

    fn transient_failures(self) -> &'static TransientFailures {
        match self {
            Self::Repeatable => &REPEATABLE,
            Self::NotRepeatable => &NOT_REPEATABLE,
            Self::ServiceFile => &SERVICE_FILE,
            Self::StorageObject => &STORAGE_OBJECT,
        }
    }
}

/// How often the requests of a call are repeated. [`RequestKind`] decides after which failures.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Maximum number of requests, including the first.
    pub attempts: u32,
    /// Pauses between them, where the service does not ask for one.
    pub backoff: Backoff,
}

/// The policy of all calls: up to four requests with pauses of about 0.25, 0.5 and 1 s, within the time limit of the
/// call.
///
/// `Retry-After` replaces the pause if it is longer and fits into the time limit. If it does not fit, the response is
/// returned at once, together with the wait that the service asked for.
pub const RETRY_POLICY: RetryPolicy = RetryPolicy {
    attempts: 4,
    backoff: Backoff::new(Duration::from_millis(250), Duration::from_secs(4), 2.0),
};

impl RetryPolicy {
    /// Returns the pause after request number `attempt`, whose failure was transient. Returns `None` if the request is
    /// not repeated: it was the last one, or the pause does not fit into `time_left`.
    pub(super) fn pause(
        &self,
        attempt: u32,
        retry_after: Option<Duration>,
        time_left: Duration,
    ) -> Option<Duration> {
        let pause = retry_after.unwrap_or_default().max(self.backoff.pause_before(attempt + 1));
        (attempt < self.attempts && pause < time_left).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [RequestKind; 4] = [
        RequestKind::Repeatable,
        RequestKind::NotRepeatable,
        RequestKind::ServiceFile,
        RequestKind::StorageObject,
    ];

    /// Columns as in [`KINDS`].
    #[test]
    fn statuses_are_classified_by_the_kind_of_request() {
        let cases = [
            (200, [false, false, false, false]),
            (404, [false, false, false, false]),
            (408, [false, false, true, true]),
            (429, [true, false, true, true]),
            (500, [false, false, true, true]),
            (501, [false, false, false, true]),
            (502, [true, false, true, true]),
            (503, [true, false, true, true]),
            (504, [true, false, true, true]),
            (507, [false, false, false, true]),
        ];

        for (status, expected) in cases {
            assert_eq!(KINDS.map(|kind| kind.is_transient_status(status)), expected, "{status}");
        }
    }

    #[test]
    fn a_wait_that_the_service_asks_for_never_shortens_the_pause() {
        let policy = RetryPolicy { backoff: RETRY_POLICY.backoff.without_jitter(), ..RETRY_POLICY };
        let [own, minute] = [Duration::from_millis(250), Duration::from_secs(60)];

        for (retry_after, time_left, expected) in [
            (None, minute, Some(own)),
            (Some(Duration::ZERO), minute, Some(own)),
            (Some(Duration::from_secs(2)), minute, Some(Duration::from_secs(2))),
            (Some(Duration::ZERO), own, None),
            (Some(minute), minute, None),
        ] {
            assert_eq!(policy.pause(1, retry_after, time_left), expected, "{retry_after:?} {time_left:?}");
        }
    }

    /// Columns as in [`KINDS`].
    #[test]
    fn errors_without_a_response_are_classified_by_the_kind_of_request() {
        for (error, expected) in [
            (Setup, [false, false, false, true]),
            (Connect, [true, true, true, true]),
            (Tls, [false, false, false, true]),
            (Timeout, [false, false, true, true]),
            (Lost, [true, false, true, true]),
            (Truncated, [true, false, true, true]),
            (TooLong, [false, false, false, true]),
        ] {
            assert_eq!(KINDS.map(|kind| kind.is_transient_error(error)), expected, "{error:?}");
        }
    }
}
