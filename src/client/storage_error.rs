//! Why a request to the storage host failed.

use std::time::Duration;

use http::StatusCode;

use super::{
    RequestKind,
    storage_xml::{describe_error, reports_expired_address, reports_request_timeout},
    transport_error::TransportError,
};

/// Why a request to the storage host failed.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// Requests must not be sent to this address.
    #[error("the address {0}")]
    Address(&'static str),
    /// The address has expired or was never valid. Another address may be accepted.
    #[error("the storage host refused the address: {message}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// Status and error document.
        message: String,
    },
    /// An equal request may succeed later.
    #[error("{message}")]
    Transient {
        /// What happened.
        message: String,
        /// How long the storage host asks to wait.
        retry_after: Option<Duration>,
    },
    /// The storage host accepted the bytes, but did not return the `ETag` that the completion of the upload needs.
    #[error("the storage host answered {0} without an ETag")]
    NoEtag(StatusCode),
    /// An equal request will fail again.
    #[error("the storage host answered {0}")]
    Final(String),
}

impl StorageError {
    /// Creates a transient error for which the storage host asks for no wait.
    pub fn transient(message: impl Into<String>) -> Self {
        Self::Transient { message: message.into(), retry_after: None }
    }

    /// Classifies a response that is not 2xx.
    pub(super) fn from_response(status: StatusCode, body: &[u8], retry_after: Option<Duration>) -> Self {
        let message = format!("{status}: {}", describe_error(body));

        let status = status.as_u16();
        if reports_expired_address(status, body) {
            return Self::Refused { status, message };
        }
        if RequestKind::StorageObject.is_transient_status(status) || reports_request_timeout(body) {
            return Self::Transient { message, retry_after };
        }

        Self::Final(message)
    }
}

impl From<TransportError> for StorageError {
    fn from(error: TransportError) -> Self {
        if RequestKind::StorageObject.is_transient_error(&error) {
            return Self::transient(error.to_string());
        }

        Self::Final(error.to_string())
    }
}
