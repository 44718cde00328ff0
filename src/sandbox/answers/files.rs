//! Files: those that a player produces, whole or in parts (service.md 12.2), and presigned addresses of the storage host, which
//! work without a key, such as those of the installers of Minions (service.md 14).

use std::ops::Range;

use axum::body::Bytes;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};

use super::prelude::*;
use crate::{
    sandbox::answers::answer::{FileConditions, HeaderList},
    service::api::configs::{GetMinionDownload, Installer},
};

pub(crate) const STORAGE_PREFIX: &str = "/storage";

/// How long the address of an installer is valid, in seconds (service.md 14).
const INSTALLER_VALIDITY_S: u32 = 24 * 60 * 60;

/// A file that a player produces.
#[derive(Debug)]
pub(crate) struct ArtifactFile {
    pub(super) name: String,
    pub(super) content_type: &'static str,
    pub(super) etag: String,
    pub(super) content: Bytes,
}

impl ArtifactFile {
    pub(super) fn size(&self) -> u64 {
        self.content.len() as u64
    }

    /// Returns the status, the headers and the bytes of the response to a request with these conditions.
    pub(crate) fn read(&self, conditions: &FileConditions) -> (StatusCode, HeaderList, Bytes) {
        // A part of another version of the file does not continue the part that the caller has.
        let is_same_file = conditions.if_range.as_deref().is_none_or(|tag| tag == self.etag);
        let range = conditions.range.as_deref().filter(|_| is_same_file);
        let size = self.content.len();

        match range.and_then(|range| requested_range(range, size)) {
            None => self.success(StatusCode::OK, 0..size, None),
            Some(span) if span.is_empty() => {
                let headers = text_headers([(header::CONTENT_RANGE, format!("bytes */{size}"))]);
                (StatusCode::RANGE_NOT_SATISFIABLE, headers, Bytes::new())
            }
            Some(span) => {
                let range = format!("bytes {}-{}/{size}", span.start, span.end - 1);
                self.success(StatusCode::PARTIAL_CONTENT, span, Some((header::CONTENT_RANGE, range)))
            }
        }
    }

    fn success(
        &self,
        status: StatusCode,
        span: Range<usize>,
        content_range: Option<(HeaderName, String)>,
    ) -> (StatusCode, HeaderList, Bytes) {
        let headers = [
            (header::CONTENT_TYPE, self.content_type.to_owned()),
            (header::CONTENT_LENGTH, span.len().to_string()),
            (header::ETAG, self.etag.clone()),
            (header::ACCEPT_RANGES, "bytes".to_owned()),
        ];

        (status, text_headers(headers.into_iter().chain(content_range)), self.content.slice(span))
    }
}

/// Returns headers with these texts. A text that is not a header value is left out.
fn text_headers(texts: impl IntoIterator<Item = (HeaderName, String)>) -> HeaderList {
    let texts = texts.into_iter();
    texts.filter_map(|(name, text)| Some((name, HeaderValue::from_str(&text).ok()?))).collect()
}

/// Returns the bytes that a `Range` header asks for: `first-last`, `first-` or `-length`. They are empty if the file does
/// not have them. Returns `None` for any other header, which RFC 9110 lets a server ignore.
fn requested_range(header: &str, size: usize) -> Option<Range<usize>> {
    let (first, last) = header.strip_prefix("bytes=")?.split_once('-')?;

    if first.is_empty() {
        return Some(size.saturating_sub(last.parse().ok()?)..size);
    }

    let first: usize = first.parse().ok()?;
    // The last position is inclusive, and may be beyond the end of the file.
    let end = if last.is_empty() { size } else { last.parse::<usize>().ok()?.saturating_add(1).min(size) };

    (last.is_empty() || first < end || first >= size).then_some(first.min(size)..end)
}

/// Returns `address` with the query of a presigned address. The storage host of the sandbox does not check it.
pub(super) fn sign(address: &str, now: Moment, seconds: u32) -> String {
    let date = now.timestamp().strftime("%Y%m%dT%H%M%SZ");
    format!("{address}?X-Amz-Date={date}&X-Amz-Expires={seconds}&X-Amz-Signature=5a0db0c5")
}

impl Answer<GetMinionDownload> for World {
    fn answer(&mut self, request: GetMinionDownload, _: &Caller) -> AnswerResult<Installer> {
        // Downloads take the name of the file from the address.
        let file = format!("minion-2.8.1-{}.zip", wire_name(request.platform));
        let installer = format!("{}{}/minions/{file}", self.knowledge_url, STORAGE_PREFIX);
        let address = sign(&installer, self.now, INSTALLER_VALIDITY_S);
        Answered::redirect(StatusCode::TEMPORARY_REDIRECT, &address)
    }
}
