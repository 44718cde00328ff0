//! A request to a host of the service.

use http::Method;

use super::RequestKind;
use crate::service::{operation::UrlBase, request::FileRange};

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
    /// How to find out whether a writing request was performed, if its response is lost.
    pub recovery_hint: Option<&'static str>,
}
