//! Why a request has no response.

use std::{error::Error, time::Duration};

use hyper_util::client::legacy;

use super::limits::MAX_RESPONSE_BYTES;

/// An error of a library.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// Why a request has no response.
#[derive(Debug, thiserror::Error)]
pub(super) enum TransportError {
    #[error("the request could not be set up: {0}")]
    Setup(String),
    #[error("the connection could not be opened: {0}")]
    Connect(String),
    #[error("the secure connection could not be established: {0}")]
    Tls(String),
    #[error("no response came within {} s", .0.as_secs())]
    Timeout(Duration),
    #[error("the connection was lost before a response came: {0}")]
    Lost(String),
    #[error("the connection was lost before the response was complete: {0}")]
    Truncated(String),
    #[error("the response is longer than {} MiB", MAX_RESPONSE_BYTES / 1024 / 1024)]
    TooLong,
}

/// Kind of a [`TransportError`], for tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransportErrorKind {
    Setup,
    Connect,
    Tls,
    Timeout,
    Lost,
    Truncated,
    TooLong,
}

impl TransportError {
    pub(super) fn kind(&self) -> TransportErrorKind {
        match self {
            Self::Setup(_) => TransportErrorKind::Setup,
            Self::Connect(_) => TransportErrorKind::Connect,
            Self::Tls(_) => TransportErrorKind::Tls,
            Self::Timeout(_) => TransportErrorKind::Timeout,
            Self::Lost(_) => TransportErrorKind::Lost,
            Self::Truncated(_) => TransportErrorKind::Truncated,
            Self::TooLong => TransportErrorKind::TooLong,
        }
    }

    /// Returns whether the service may have received the request.
    pub(super) fn may_have_been_sent(&self) -> bool {
        matches!(self, Self::Timeout(_) | Self::Lost(_) | Self::Truncated(_) | Self::TooLong)
    }
}

impl From<http::Error> for TransportError {
    fn from(error: http::Error) -> Self {
        Self::Setup(error_chain(&error))
    }
}

impl From<legacy::Error> for TransportError {
    fn from(error: legacy::Error) -> Self {
        // The text of the error itself only names its kind, which the variants name too.
        let text = error_chain(error.source().unwrap_or(&error));

        // A TLS error is also a connect error, so that it is recognized first.
        if is_tls_error(&error) {
            Self::Tls(text)
        } else if error.is_connect() {
            Self::Connect(text)
        } else {
            Self::Lost(text)
        }
    }
}

impl From<hyper::Error> for TransportError {
    fn from(error: hyper::Error) -> Self {
        Self::Truncated(error_chain(&error))
    }
}

/// Returns the error and its sources in one line. A source that the text ends in already is not repeated.
pub(super) fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();

    while let Some(error) = source {
        let message = error.to_string();
        if !text.ends_with(&message) {
            text = format!("{text}: {message}");
        }
        source = error.source();
    }

    text
}

fn is_tls_error(error: &(dyn Error + 'static)) -> bool {
    // `source` of an I/O error skips the error that it wraps, and the connector wraps TLS errors in I/O errors.
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);

    error.is::<rustls::Error>()
        || wrapped.is_some_and(|wrapped| is_tls_error(wrapped))
        || error.source().is_some_and(is_tls_error)
}
