//! What an observer of the sandbox receives.

use std::sync::Arc;

use axum::body::Bytes;
use http::Method;

/// Receives every answer of an operation, except answers that an injected fault replaced.
pub type Observer = Arc<dyn Fn(&Exchange) + Send + Sync>;

/// A request and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Method of the request.
    pub method: Method,
    /// Path and query of the request.
    pub path: String,
    /// Status of the answer.
    pub status: u16,
    /// `Content-Type` of the answer.
    pub content_type: Option<String>,
    /// Body of the answer.
    pub body: Bytes,
}
