//! The `Range` header of a request.

use std::ops::Range;

/// How much of a file a request asks for.
#[derive(Debug, PartialEq)]
pub(super) enum RequestedRange {
    /// All bytes of the file.
    Whole,
    /// The bytes of this span.
    Part(Range<u64>),
    /// Bytes that the file does not have.
    Unsatisfiable,
}

impl RequestedRange {
    /// Reads a `Range` header for a file of `size` bytes. Anything other than one range of bytes is ignored.
    pub(super) fn from_header(header: Option<&str>, size: u64) -> Self {
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
