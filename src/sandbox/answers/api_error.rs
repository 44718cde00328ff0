//! Errors in the form of the service.

use http::StatusCode;
use serde_json::{Value, json};

/// An error response of the service.
#[derive(Debug)]
pub struct ApiError {
    /// HTTP status.
    pub status: StatusCode,
    /// JSON body.
    pub body: Value,
}

impl ApiError {
    /// Creates an error with the general error body.
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, body: json!({"error": error.into()}) }
    }

    /// Creates a 400.
    pub(crate) fn invalid(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// Creates a 401.
    pub(crate) fn unauthorized(error: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, error)
    }

    /// Creates a 403.
    pub(crate) fn forbidden(error: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, error)
    }

    /// Creates a 404.
    pub(super) fn not_found(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// Creates a 409.
    pub(super) fn conflict(error: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, error)
    }

    /// Creates a 500 for an error that the sandbox itself causes.
    pub(super) fn internal(error: &impl ToString) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

/// Checks that a writer has seen the latest version of a record.
///
/// # Errors
///
/// Returns a 409 if `expected` is not `latest` (service.md 6.4, 8).
pub(super) fn check_version(expected: u64, latest: u32) -> Result<(), ApiError> {
    if expected == u64::from(latest) {
        return Ok(());
    }

    let error = "version conflict";
    let body = json!({"error": error, "expected_version": expected, "latest_version": latest});

    Err(ApiError { status: StatusCode::CONFLICT, body })
}
