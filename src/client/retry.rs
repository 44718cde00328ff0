//! After which failures a request is repeated: those that are transient, so that an equal request may succeed a moment
//! later.
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

use std::time::Duration;

use super::transport_error::TransportError::{self, Connect, Lost, Timeout, Truncated};
use crate::{
    backoff::{Backoff, RetryPolicy},
    service::request::Request,
};

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

impl RequestKind {
    pub(super) fn of(request: &Request) -> Self {
        if request.operation.is_repeatable(&request.arguments) {
            Self::Repeatable
        } else {
            Self::NotRepeatable
        }
    }

    /// Returns whether the request is worth repeating after a response with this status.
    pub fn is_transient_status(self, status: u16) -> bool {
        match self {
            Self::Repeatable => matches!(status, 429 | 502..=504),
            Self::NotRepeatable => false,
            Self::ServiceFile => matches!(status, 408 | 429 | 500 | 502..=504),
            Self::StorageObject => matches!(status, 408 | 429 | 500..),
        }
    }

    pub(super) fn is_transient_error(self, error: &TransportError) -> bool {
        match self {
            Self::Repeatable => matches!(error, Connect { .. } | Lost(_) | Truncated(_)),
            Self::NotRepeatable => matches!(error, Connect { .. }),
            Self::ServiceFile => matches!(error, Connect { .. } | Lost(_) | Truncated(_) | Timeout(_)),
            Self::StorageObject => true,
        }
    }
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
        for (statuses, expected) in [
            (&[200, 404][..], [false, false, false, false]),
            (&[408, 500], [false, false, true, true]),
            (&[429, 502, 503, 504], [true, false, true, true]),
            (&[501, 507], [false, false, false, true]),
        ] {
            for status in statuses {
                assert_eq!(KINDS.map(|kind| kind.is_transient_status(*status)), expected, "{status}");
            }
        }
    }

    /// Columns as in [`KINDS`].
    #[test]
    fn errors_without_a_response_are_classified_by_the_kind_of_request() {
        let (reason, host) = (String::new, String::new());
        for (error, expected) in [
            (TransportError::Setup(reason()), [false, false, false, true]),
            (Connect { host, reason: reason() }, [true, true, true, true]),
            (
                TransportError::Tls { reason: reason(), cause: rustls::Error::HandshakeNotComplete },
                [false, false, false, true],
            ),
            (Timeout(Duration::ZERO), [false, false, true, true]),
            (Lost(reason()), [true, false, true, true]),
            (Truncated(reason()), [true, false, true, true]),
            (TransportError::TooLong, [false, false, false, true]),
        ] {
            let is_transient = KINDS.map(|kind| kind.is_transient_error(&error));

            assert_eq!(is_transient, expected, "{error:?}");
        }
    }
}
