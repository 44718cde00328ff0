//! Which failures of a request are transient, so that an equal request may succeed a moment later.
//!
//! | request | transient statuses | transient transport errors |
//! |-|-|-|
//! | reading, or stated to be repeatable | 429, 502, 503, 504 | connection not opened or lost |
//! | writing | none | connection not opened |
//! | file of the service | 408, 429, 500, 502, 503, 504 | connection not opened or lost, time limit |
//! | part of an upload, or file at a presigned address | 408, 429, 5xx | all |
//!
//! A TLS error of the service's own hosts is final, because a certificate does not change between two attempts.
//! How often a request is repeated is decided elsewhere: by [`super::RETRY_POLICY`] for calls, and by uploads and downloads
//! for the files that they transfer.

use std::ops::RangeInclusive;

use super::transport_error::{
    TransportError,
    TransportErrorKind::{self, Connect, Lost, Setup, Timeout, Tls, TooLong, Truncated},
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

/// The failures after which a request is worth repeating.
struct TransientFailures {
    statuses: &'static [RangeInclusive<u16>],
    errors: &'static [TransportErrorKind],
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

    /// Returns whether the request is worth repeating after this transport error.
    pub(super) fn is_transient_error(self, error: &TransportError) -> bool {
        self.transient_failures().errors.contains(&error.kind())
    }

    const fn transient_failures(self) -> &'static TransientFailures {
        match self {
            Self::Repeatable => &REPEATABLE,
            Self::NotRepeatable => &NOT_REPEATABLE,
            Self::ServiceFile => &SERVICE_FILE,
            Self::StorageObject => &STORAGE_OBJECT,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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

    /// Columns as in [`KINDS`].
    #[test]
    fn transport_errors_are_classified_by_the_kind_of_request() {
        let text = String::new;

        for (error, expected) in [
            (TransportError::Setup(text()), [false, false, false, true]),
            (TransportError::Connect(text()), [true, true, true, true]),
            (TransportError::Tls(text()), [false, false, false, true]),
            (TransportError::Timeout(Duration::ZERO), [false, false, true, true]),
            (TransportError::Lost(text()), [true, false, true, true]),
            (TransportError::Truncated(text()), [true, false, true, true]),
            (TransportError::TooLong, [false, false, false, true]),
        ] {
            assert_eq!(KINDS.map(|kind| kind.is_transient_error(&error)), expected, "{error:?}");
        }
    }
}
