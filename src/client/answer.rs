//! What the service answered, before anything is made of it.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, header};
use jiff::Timestamp;
use reqwest::Url;

/// An answer of the service, whole and bounded.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Body, at most [`super::LONGEST_ANSWER`] bytes.
    pub body: Bytes,
    /// The header `Location` of a redirect, as an absolute address.
    pub location: Option<String>,
    /// How long to wait before the next request, where the service says so.
    pub retry_after: Option<Duration>,
    /// What time it is at the service, where it says so.
    pub date: Option<Timestamp>,
    /// How many requests it took.
    pub attempts: u32,
    /// What the answer says of the file that a part was asked of.
    pub file: FileMetadata,
}

/// A file, as an answer describes it.
#[derive(Clone, Debug, Default)]
pub struct FileMetadata {
    /// `Content-Type`
    pub content_type: Option<String>,
    /// `ETag`, as it came.
    pub etag: Option<String>,
    /// Bytes of the whole file, where the answer says.
    pub total: Option<u64>,
    /// Where the body begins in the file.
    pub offset: u64,
    /// Whether it was found elsewhere than where it was asked for, after redirects.
    pub is_elsewhere: bool,
    /// Why a redirect was not followed, if one was not.
    pub obstacle: Option<String>,
}

impl Answer {
    pub(super) fn new(status: u16, url: &Url, headers: &HeaderMap, body: Bytes) -> Self {
        let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
        Self {
            status,
            body,
            location: text(header::LOCATION).map(|location| absolute(url, location)),
            retry_after: retry_after(headers),
            date: text(header::DATE).and_then(moment),
            attempts: 1,
            file: FileMetadata {
                content_type: text(header::CONTENT_TYPE).map(str::to_owned),
                etag: text(header::ETAG).map(str::to_owned),
                ..FileMetadata::default()
            },
        }
    }

    pub(super) fn after(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Whether the status is one of success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

fn absolute(url: &Url, location: &str) -> String {
    url.join(location).map_or_else(|_| location.to_owned(), Into::into)
}

/// Reads `Retry-After`: seconds, or a date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let wait = moment(text)?.duration_since(Timestamp::now());
    Some(Duration::try_from(wait).unwrap_or_default())
}

/// Reads a date.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::parse(text).ok().map(|date| date.timestamp())
}
