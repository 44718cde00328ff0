//! The response to a request for a file: the whole file, a part, or 304 (service.md 12.2).

use std::{convert::Infallible, ops::Range};

use axum::body::{Body, Bytes};
use futures_util::stream;
use http::{HeaderName, HeaderValue, StatusCode, header};

use crate::sandbox::answers::{
    answered::HeaderList, artifact_file::ArtifactFile, byte_range::RequestedRange, caller::FileConditions,
};

/// Size of the chunks in which a long file is sent.
const CHUNK: u64 = 64 * 1024;

/// Status and headers of the response, and the bytes that follow.
pub(crate) struct FileHead {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderList,
    span: Range<u64>,
}

impl FileHead {
    fn without_body(status: StatusCode, name: HeaderName, value: String) -> Self {
        Self { status, headers: text_headers([(name, value)]), span: 0..0 }
    }
}

impl ArtifactFile {
    /// Returns whether the caller already has the file, by its `If-None-Match`.
    pub(super) fn is_cached_by(&self, conditions: &FileConditions) -> bool {
        let tags = conditions.if_none_match.as_deref();
        tags.is_some_and(|tags| {
            tags.split(',').map(bare_etag).any(|tag| tag == "*" || tag == bare_etag(&self.etag))
        })
    }

    /// Returns status, headers and span of the response to a request with these conditions.
    pub(crate) fn head(&self, conditions: &FileConditions) -> FileHead {
        let size = self.content.size();
        if self.is_cached_by(conditions) {
            return FileHead::without_body(StatusCode::NOT_MODIFIED, header::ETAG, self.etag.clone());
        }

        // A part of another version of the file does not continue the part that the caller has.
        let if_range = conditions.if_range.as_deref();
        let is_same_file = if_range.is_none_or(|tag| bare_etag(tag) == bare_etag(&self.etag));
        let range = conditions.range.as_deref().filter(|_| is_same_file);

        match RequestedRange::from_header(range, size) {
            RequestedRange::Whole => self.success(StatusCode::OK, 0..size, None),
            RequestedRange::Part(span) => {
                let range = format!("bytes {}-{}/{size}", span.start, span.end - 1);
                self.success(StatusCode::PARTIAL_CONTENT, span, Some((header::CONTENT_RANGE, range)))
            }
            RequestedRange::Unsatisfiable => FileHead::without_body(
                StatusCode::RANGE_NOT_SATISFIABLE,
                header::CONTENT_RANGE,
                format!("bytes */{size}"),
            ),
        }
    }

    fn success(
        &self,
        status: StatusCode,
        span: Range<u64>,
        content_range: Option<(HeaderName, String)>,
    ) -> FileHead {
        let headers = [
            (header::CONTENT_TYPE, self.content_type.to_owned()),
            (header::CONTENT_LENGTH, (span.end - span.start).to_string()),
            (header::ETAG, self.etag.clone()),
            (header::ACCEPT_RANGES, "bytes".to_owned()),
        ];

        FileHead { status, headers: text_headers(headers.into_iter().chain(content_range)), span }
    }

    /// Returns the complete response.
    pub(super) fn read(&self, conditions: &FileConditions) -> (StatusCode, HeaderList, Bytes) {
        let head = self.head(conditions);
        (head.status, head.headers, self.content.read(&head.span))
    }

    /// Returns the body of a response in chunks.
    pub(crate) fn stream(self, head: &FileHead) -> Body {
        let Range { start, end } = head.span;
        Body::from_stream(stream::unfold(start, move |offset| {
            let next = (offset + CHUNK).min(end);
            let chunk =
                (offset < next).then(|| (Ok::<_, Infallible>(self.content.read(&(offset..next))), next));
            std::future::ready(chunk)
        }))
    }
}

/// Returns an `ETag` without the prefix `W/` and the quotes.
fn bare_etag(tag: &str) -> &str {
    tag.trim().trim_start_matches("W/").trim_matches('"')
}

/// Returns headers with these texts. A text that is not a header value is left out.
fn text_headers(texts: impl IntoIterator<Item = (HeaderName, String)>) -> HeaderList {
    let texts = texts.into_iter();
    texts.filter_map(|(name, text)| Some((name, HeaderValue::from_str(&text).ok()?))).collect()
}
