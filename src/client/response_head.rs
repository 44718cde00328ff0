//! Status and headers of a response.

use std::fmt;

use http::{HeaderMap, HeaderName, StatusCode, Uri, response::Parts};
use url::Url;

/// Status and headers of a response, and the address that the response came from. Its `Debug` shows the status only, because
/// the address may be a permission.
pub(super) struct ResponseHead {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    address: Uri,
}

impl ResponseHead {
    pub(super) fn new(address: Uri, parts: Parts) -> Self {
        Self { status: parts.status, headers: parts.headers, address }
    }

    /// Returns the value of a header, if it is text.
    pub(super) fn text(&self, name: HeaderName) -> Option<&str> {
        header_text(&self.headers, name)
    }

    /// Returns the absolute address that `reference` stands for in this response.
    pub(super) fn resolve(&self, reference: &str) -> Option<Url> {
        let base = Url::parse(&self.address.to_string()).ok()?;
        base.join(reference).ok()
    }
}

impl fmt::Debug for ResponseHead {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ResponseHead").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Returns the value of a header, if it is text.
pub(super) fn header_text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
