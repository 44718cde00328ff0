//! Parts of files: asked for with `Range`, and taken out of the whole where a host answers with that.

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use reqwest::Response;

use super::{
    LONGEST_ANSWER,
    transport::{TransportError, bounded, chain},
};
use crate::service::request::Part;

/// What has been read.
pub(super) struct Read {
    pub(super) bytes: Bytes,
    pub(super) total: Option<u64>,
    pub(super) offset: u64,
}

impl Part {
    /// The headers that ask for it.
    pub(super) fn headers(self) -> HeaderMap {
        let last = self.offset.saturating_add(self.length.saturating_sub(1));
        ranged(&format!("bytes={}-{last}", self.offset))
    }

    /// Reads this part of the file that `response` holds, or else its body as a whole: then it is a refusal.
    pub(super) async fn read(self, response: Response) -> Result<Read, TransportError> {
        let (start, total) = content_range(response.headers());
        match response.status() {
            StatusCode::PARTIAL_CONTENT => {
                let (bytes, _) = window(response, 0, self.length).await?;
                Ok(Read { bytes, total, offset: start.unwrap_or(self.offset) })
            }
            StatusCode::OK => {
                let stated = response.content_length();
                if stated.is_some_and(|length| length > LONGEST_ANSWER as u64) {
                    return Ok(Read { bytes: Bytes::new(), total: stated, offset: self.offset });
                }
                let (bytes, counted) = window(response, self.offset, self.length).await?;
                Ok(Read { bytes, total: stated.or(counted), offset: self.offset })
            }
            StatusCode::RANGE_NOT_SATISFIABLE => Ok(Read { bytes: Bytes::new(), total, offset: self.offset }),
            _ => Ok(Read { bytes: bounded(response).await?, total: None, offset: self.offset }),
        }
    }
}

/// Reads at most `length` bytes after the first `before`, and no further; if that was all, the number of all bytes.
async fn window(
    mut response: Response,
    mut before: u64,
    length: u64,
) -> Result<(Bytes, Option<u64>), TransportError> {
    let length = usize::try_from(length).unwrap_or(LONGEST_ANSWER).min(LONGEST_ANSWER);
    let truncated = |error: reqwest::Error| TransportError::Truncated(chain(&error.without_url()));
    let (mut bytes, mut counted) = (BytesMut::new(), 0);

    while let Some(mut chunk) = response.chunk().await.map_err(truncated)? {
        counted += chunk.len() as u64;
        let skipped = chunk.len().min(usize::try_from(before).unwrap_or(usize::MAX));
        chunk.advance(skipped);
        before -= skipped as u64;

        let room = length - bytes.len();
        if chunk.len() > room {
            bytes.extend_from_slice(&chunk.split_to(room));
            return Ok((bytes.freeze(), None));
        }

        bytes.extend_from_slice(&chunk);
        if counted > LONGEST_ANSWER as u64 && bytes.is_empty() {
            return Err(TransportError::TooLong);
        }
    }

    Ok((bytes.freeze(), Some(counted)))
}

/// The header `Range`.
pub(super) fn ranged(range: &str) -> HeaderMap {
    HeaderValue::from_str(range).map(|range| (header::RANGE, range)).into_iter().collect()
}

/// Reads `Content-Range`: where the part begins, and how long the whole is.
pub(super) fn content_range(headers: &HeaderMap) -> (Option<u64>, Option<u64>) {
    let text = headers.get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok());
    let range =
        text.and_then(|text| text.trim().strip_prefix("bytes ")).and_then(|text| text.split_once('/'));
    let Some((span, total)) = range else { return (None, None) };
    let start = span.split_once('-').and_then(|(start, _)| start.trim().parse().ok());
    (start, total.trim().parse().ok())
}
