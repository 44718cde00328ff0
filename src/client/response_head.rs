//! Status and headers of a response.

use http::{HeaderMap, HeaderName, StatusCode, Uri, response::Parts};
use url::Url;

/// Status and headers of a response, and the address that the response came from.
#[derive(Debug)]
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

/// Returns the value of a header, if it is text.
pub(super) fn header_text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
