//! Files as a host serves them: whole, in part, or not again (supplement 12.2).

use std::{convert::Infallible, ops::Range};

use axum::body::{Body, Bytes};
use futures_util::stream;
use http::{HeaderValue, StatusCode, header};

use super::{Conditions, Headers, ids::hash};

/// Size of the pieces in which a long file is sent.
const PIECE: u64 = 64 * 1024;

/// Bytes that one hash gives.
const BLOCK: u64 = size_of::<u64>() as u64;

/// A file.
#[derive(Debug)]
pub(super) struct File {
    /// With its directories.
    pub(super) name: &'static str,
    pub(super) content_type: &'static str,
    pub(super) etag: String,
    pub(super) content: Content,
}

/// What a file consists of.
#[derive(Debug)]
pub(super) enum Content {
    Whole(Bytes),
    /// So many bytes that follow from the number and are never held.
    Derived {
        number: u64,
        size: u64,
    },
}

impl Content {
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Derived { size, .. } => *size,
        }
    }

    /// A part that lies inside.
    fn part(&self, span: &Range<u64>) -> Bytes {
        match self {
            Self::Whole(bytes) => {
                let at = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(bytes.len());
                bytes.slice(at(span.start)..at(span.end))
            }
            Self::Derived { number, .. } => {
                let bytes = (span.start / BLOCK..).flat_map(|block| derived(*number, block));
                let before = usize::try_from(span.start % BLOCK).unwrap_or_default();
                bytes.skip(before).take(usize::try_from(span.end - span.start).unwrap_or_default()).collect()
            }
        }
    }
}

fn derived(number: u64, block: u64) -> [u8; size_of::<u64>()] {
    hash(&[&number.to_string(), &block.to_string()]).to_le_bytes()
}

/// What is answered to a request for a file: status, headers, and which bytes.
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) headers: Headers,
    span: Range<u64>,
}

/// Whether the caller has the file already.
pub(super) fn is_known(file: &File, conditions: &Conditions) -> bool {
    let tags = conditions.if_none_match.as_deref();
    tags.is_some_and(|tags| tags.split(',').map(bare).any(|tag| tag == "*" || tag == bare(&file.etag)))
}

/// An `ETag` without what may surround it.
fn bare(tag: &str) -> &str {
    tag.trim().trim_start_matches("W/").trim_matches('"')
}

impl File {
    /// What is answered to a request for this file.
    pub(super) fn head(&self, conditions: &Conditions) -> Head {
        let size = self.content.size();
        if is_known(self, conditions) {
            let headers = text_headers([(header::ETAG, self.etag.clone())]);
            return Head { status: StatusCode::NOT_MODIFIED, headers, span: 0..0 };
        }

        // A part of a file that has changed meanwhile is of no use: it comes whole.
        let is_same = conditions.if_range.as_deref().is_none_or(|tag| bare(tag) == bare(&self.etag));
        let range = conditions.range.as_deref().filter(|_| is_same);
        let (status, span, range) = match wanted(range, size) {
            Wanted::Whole => (StatusCode::OK, 0..size, None),
            Wanted::Nothing => {
                let headers = text_headers([(header::CONTENT_RANGE, format!("bytes */{size}"))]);
                return Head { status: StatusCode::RANGE_NOT_SATISFIABLE, headers, span: 0..0 };
            }
            Wanted::Part(span) => {
                let range = format!("bytes {}-{}/{size}", span.start, span.end - 1);
                (StatusCode::PARTIAL_CONTENT, span, Some((header::CONTENT_RANGE, range)))
            }
        };

        let own = [
            (header::CONTENT_TYPE, self.content_type.to_owned()),
            (header::CONTENT_LENGTH, (span.end - span.start).to_string()),
            (header::ETAG, self.etag.clone()),
            (header::ACCEPT_RANGES, "bytes".to_owned()),
        ];

        Head { status, headers: text_headers(own.into_iter().chain(range)), span }
    }

    /// The answer, all at once.
    pub(super) fn answer(&self, conditions: &Conditions) -> (StatusCode, Headers, Bytes) {
        let head = self.head(conditions);
        (head.status, head.headers, self.content.part(&head.span))
    }

    /// The bytes of an answer, piece by piece.
    pub(super) fn stream(self, head: &Head) -> Body {
        let Range { start, end } = head.span;
        Body::from_stream(stream::unfold(start, move |at| {
            let next = (at + PIECE).min(end);
            let piece = (at < next).then(|| (Ok::<_, Infallible>(self.content.part(&(at..next))), next));
            std::future::ready(piece)
        }))
    }
}

fn text_headers(texts: impl IntoIterator<Item = (header::HeaderName, String)>) -> Headers {
    let texts = texts.into_iter();
    texts.filter_map(|(name, text)| Some((name, HeaderValue::from_str(&text).ok()?))).collect()
}

/// How much of a file is wanted.
#[derive(Debug, PartialEq)]
enum Wanted {
    Whole,
    Part(Range<u64>),
    /// Nothing that the file has.
    Nothing,
}

/// Reads `Range`: one range of bytes; anything else is passed over.
fn wanted(range: Option<&str>, size: u64) -> Wanted {
    let range = range.and_then(|range| range.trim().strip_prefix("bytes="));
    let Some((first, last)) = range.and_then(|range| range.split_once('-')) else { return Wanted::Whole };
    let span = match (first.trim().parse::<u64>(), last.trim()) {
        (Ok(first), "") => first..size,
        (Ok(first), last) => match last.parse::<u64>() {
            Ok(last) if last >= first => first..last.saturating_add(1).min(size),
            _ => return Wanted::Whole,
        },
        (Err(_), last) if first.trim().is_empty() => match last.parse::<u64>() {
            Ok(length) => size.saturating_sub(length)..size,
            Err(_) => return Wanted::Whole,
        },
        _ => return Wanted::Whole,
    };

    if span.is_empty() { Wanted::Nothing } else { Wanted::Part(span) }
}
