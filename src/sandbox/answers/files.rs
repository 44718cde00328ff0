//! A file that a player produces, and the response to a request for it: the whole file, a part, or 304 (service.md 12.2).

use std::{convert::Infallible, future::ready, ops::Range};

use axum::body::{Body, Bytes};
use futures_util::stream;
use http::{HeaderName, HeaderValue, StatusCode, header};

use crate::sandbox::answers::answer::{FileConditions, HeaderList};
use crate::sandbox::model::records::hash;

/// Number of bytes that one hash provides.
const BLOCK: u64 = size_of::<u64>() as u64;

/// Size of the chunks in which a long file is sent.
const CHUNK: u64 = 64 * 1024;

/// A file that a player produces.
#[derive(Debug)]
pub(crate) struct ArtifactFile {
    /// Name with its directories.
    pub(super) name: &'static str,
    pub(super) content_type: &'static str,
    pub(super) etag: String,
    pub(super) content: FileContent,
}

#[derive(Debug)]
pub(super) enum FileContent {
    InMemory(Bytes),
    /// A file, and `padding` further bytes that follow from the seed and are generated when they are read.
    Padded {
        file: &'static [u8],
        padding: u64,
        seed: u64,
    },
}

impl FileContent {
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::InMemory(bytes) => bytes.len() as u64,
            Self::Padded { file, padding, .. } => file.len() as u64 + padding,
        }
    }

    /// Returns the bytes of `span`, which lies inside the file.
    fn read(&self, span: &Range<u64>) -> Bytes {
        match self {
            Self::InMemory(bytes) => {
                let index = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                bytes.slice(index(span.start)..index(span.end))
            }
            // Only the requested bytes are generated, so that a long recording takes no memory.
            Self::Padded { file, seed, .. } => {
                let [start, end] = [span.start, span.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
                let in_file = file.get(start.min(file.len())..end.min(file.len())).unwrap_or_default();

                let padding_start = span.start.saturating_sub(file.len() as u64);
                let block = |number: u64| hash(&[&seed.to_string(), &number.to_string()]).to_le_bytes();
                let padding = (padding_start / BLOCK..).flat_map(block);
                let offset = usize::try_from(padding_start % BLOCK).unwrap_or_default();

                in_file.iter().copied().chain(padding.skip(offset)).take(end - start).collect()
            }
        }
    }
}

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

    pub(super) fn read(&self, conditions: &FileConditions) -> (StatusCode, HeaderList, Bytes) {
        let head = self.head(conditions);
        (head.status, head.headers, self.content.read(&head.span))
    }

    pub(crate) fn stream(self, head: &FileHead) -> Body {
        let Range { start, end } = head.span;
        Body::from_stream(stream::unfold(start, move |offset| {
            let next = (offset + CHUNK).min(end);
            let chunk =
                (offset < next).then(|| (Ok::<_, Infallible>(self.content.read(&(offset..next))), next));
            ready(chunk)
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

/// How much of a file a request asks for.
#[derive(Debug, PartialEq)]
enum RequestedRange {
    Whole,
    Part(Range<u64>),
    /// Bytes that the file does not have.
    Unsatisfiable,
}

impl RequestedRange {
    /// Reads a `Range` header for a file of `size` bytes. Anything other than one range of bytes is ignored.
    fn from_header(header: Option<&str>, size: u64) -> Self {
        // RFC 9110 lets a server ignore a malformed header and several ranges.
        let range = header.and_then(|header| header.trim().strip_prefix("bytes="));
        match range.and_then(|range| parse(range, size)) {
            None => Self::Whole,
            Some(span) if span.is_empty() => Self::Unsatisfiable,
            Some(span) => Self::Part(span),
        }
    }
}

/// Parses `first-last`, `first-` or `-length`. Returns `None` if the range is malformed.
fn parse(range: &str, size: u64) -> Option<Range<u64>> {
    let (first, last) = range.split_once('-')?;
    let (first, last) = (first.trim(), last.trim());

    if first.is_empty() {
        let length: u64 = last.parse().ok()?;
        return Some(size.saturating_sub(length)..size);
    }

    let first: u64 = first.parse().ok()?;
    if last.is_empty() {
        return Some(first..size);
    }

    let last: u64 = last.parse().ok()?;
    // The last position is inclusive, and may be beyond the end of the file.
    (first <= last).then(|| first..last.saturating_add(1).min(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_of_a_padded_file_is_a_slice_of_all_bytes() {
        let content = FileContent::Padded { file: b"a small file", padding: 88, seed: 7 };
        let whole = content.read(&(0..100));

        assert!(whole.len() == 100 && whole.starts_with(b"a small file"));
        for (start, end) in [(0, 8), (3, 4), (7, 23), (12, 20), (13, 99), (99, 100)] {
            let part = content.read(&(start as u64..end as u64));
            assert_eq!(part, whole.slice(start..end), "{start}..{end}");
        }
    }

    #[test]
    fn range_headers_are_read() {
        for (header, expected) in [
            (None, RequestedRange::Whole),
            (Some("bytes=0-9"), RequestedRange::Part(0..10)),
            (Some("bytes=90-"), RequestedRange::Part(90..100)),
            (Some("bytes=-10"), RequestedRange::Part(90..100)),
            (Some("bytes=50-500"), RequestedRange::Part(50..100)),
            (Some("bytes=-500"), RequestedRange::Part(0..100)),
            (Some("bytes=100-"), RequestedRange::Unsatisfiable),
            (Some("bytes=-0"), RequestedRange::Unsatisfiable),
            (Some("bytes=9-0"), RequestedRange::Whole),
            (Some("bytes=0-1,4-5"), RequestedRange::Whole),
            (Some("items=0-9"), RequestedRange::Whole),
            (Some("bytes=-"), RequestedRange::Whole),
        ] {
            assert_eq!(RequestedRange::from_header(header, 100), expected, "{header:?}");
        }
    }
}
