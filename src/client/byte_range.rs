//! Parts of files: requested with the header `Range`. A host may ignore the header and send the whole file; then the
//! part is cut out of it.

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::{
    limits::MAX_RESPONSE_BYTES,
    response_body::ResponseBody,
    response_head::{ResponseHead, header_text},
    transport_error::TransportError,
};
use crate::service::request::FileRange;

/// The bytes of a part of a file.
pub(super) struct FilePart {
    pub(super) bytes: Bytes,
    /// Size of the whole file, if the host states it or the file was read to its end.
    pub(super) total: Option<u64>,
    /// Position of the bytes in the file.
    pub(super) offset: u64,
}

/// Returns the headers that request `part`.
pub(super) fn part_headers(part: FileRange) -> HeaderMap {
    let last = part.offset.saturating_add(part.length.saturating_sub(1));
    range_headers(&format!("bytes={}-{last}", part.offset))
}

/// Returns the header `Range` with this value.
pub(super) fn range_headers(range: &str) -> HeaderMap {
    HeaderValue::from_str(range).map(|range| (header::RANGE, range)).into_iter().collect()
}

/// Reads `part` of the file in the response. The body of a response without a file is read completely, as it explains why
/// there is none.
pub(super) async fn read_part(
    part: FileRange,
    head: &ResponseHead,
    body: ResponseBody,
) -> Result<FilePart, TransportError> {
    let (start, total) = content_range(&head.headers);
    let offset = part.offset;

    match head.status {
        StatusCode::PARTIAL_CONTENT => {
            let (bytes, _) = read_window(body, 0, part.length).await?;
            Ok(FilePart { bytes, total, offset: start.unwrap_or(offset) })
        }
        StatusCode::OK => {
            let stated = body.stated_length();
            // The size is reported, so that the caller can explain why the file is not read.
            if stated.is_some_and(|length| length > MAX_RESPONSE_BYTES as u64) {
                return Ok(FilePart { bytes: Bytes::new(), total: stated, offset });
            }

            let (bytes, counted) = read_window(body, offset, part.length).await?;
            Ok(FilePart { bytes, total: stated.or(counted), offset })
        }
        // The file ends before the requested position. The header still states its size.
        StatusCode::RANGE_NOT_SATISFIABLE => Ok(FilePart { bytes: Bytes::new(), total, offset }),
        _ => Ok(FilePart { bytes: body.read().await?, total: None, offset }),
    }
}

/// Skips `skip` bytes of the body and returns at most `length` bytes after them, and the size of the body if it was read
/// to its end.
async fn read_window(
    mut body: ResponseBody,
    mut skip: u64,
    length: u64,
) -> Result<(Bytes, Option<u64>), TransportError> {
    let length = usize::try_from(length).unwrap_or(MAX_RESPONSE_BYTES).min(MAX_RESPONSE_BYTES);
    let (mut bytes, mut received) = (BytesMut::new(), 0);

    while let Some(mut chunk) = body.chunk().await? {
        received += chunk.len() as u64;
        let skipped = chunk.len().min(usize::try_from(skip).unwrap_or(usize::MAX));
        chunk.advance(skipped);
        skip -= skipped as u64;

        let room = length - bytes.len();
        if chunk.len() > room {
            bytes.extend_from_slice(&chunk.split_to(room));
            return Ok((bytes.freeze(), None));
        }

        bytes.extend_from_slice(&chunk);
        // A body without a stated length is skipped up to the same limit.
        if received > MAX_RESPONSE_BYTES as u64 && bytes.is_empty() {
            return Err(TransportError::TooLong);
        }
    }

    Ok((bytes.freeze(), Some(received)))
}

/// Reads the header `Content-Range`: position of the part, and size of the whole file.
pub(super) fn content_range(headers: &HeaderMap) -> (Option<u64>, Option<u64>) {
    header_text(headers, header::CONTENT_RANGE).map(parse_content_range).unwrap_or_default()
}

fn parse_content_range(text: &str) -> (Option<u64>, Option<u64>) {
    let range = text.trim().strip_prefix("bytes ").and_then(|text| text.split_once('/'));
    let Some((span, total)) = range else { return (None, None) };
    let start = span.split_once('-').and_then(|(start, _)| start.trim().parse().ok());

    (start, total.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_range_gives_position_and_size() {
        for (text, expected) in [
            ("bytes 0-499/1234", (Some(0), Some(1_234))),
            ("bytes 500-999/*", (Some(500), None)),
            ("bytes */1234", (None, Some(1_234))),
            ("items 0-1/2", (None, None)),
            ("bytes 0-499", (None, None)),
            ("", (None, None)),
        ] {
            assert_eq!(parse_content_range(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_part_is_requested_by_its_first_and_last_byte() {
        for (offset, length, expected) in [
            (0, 500, "bytes=0-499"),
            (500, 1, "bytes=500-500"),
            (u64::MAX, 2, "bytes=18446744073709551615-18446744073709551615"),
        ] {
            let headers = part_headers(FileRange { offset, length });
            assert_eq!(header_text(&headers, header::RANGE), Some(expected));
        }
    }
}
