//! Files that are read in chunks, whatever their size, and continued where an earlier attempt ended.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};

use super::{byte_range::range_headers, response_body::ResponseBody, transport_error::error_chain};

/// A download that receives no byte for this time has failed.
const STALL_LIMIT: Duration = Duration::from_secs(30);

/// Where an interrupted download continues, and of which version of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumeFrom {
    /// Number of bytes that are present already.
    pub offset: u64,
    /// `ETag` of the version that these bytes belong to, unchanged.
    pub etag: Option<String>,
}

impl ResumeFrom {
    /// Returns the headers that request the missing bytes. The host sends the whole file if it has changed.
    pub(super) fn headers(&self) -> HeaderMap {
        let etag = self.etag.as_deref().and_then(|etag| HeaderValue::from_str(etag).ok());
        // Without an `ETag`, the missing bytes could belong to another version: the whole file is requested.
        let Some(etag) = etag.filter(|_| self.offset > 0) else { return HeaderMap::new() };

        let mut headers = range_headers(&format!("bytes={}-", self.offset));
        headers.insert(header::IF_RANGE, etag);

        headers
    }
}

/// The body of a file, while it is received.
#[derive(Debug)]
pub struct DownloadStream {
    pub(super) body: ResponseBody,
    /// Position of the first byte in the file.
    pub offset: u64,
    /// Size of the whole file in bytes, if the response states it.
    pub total: Option<u64>,
    /// `ETag`, unchanged.
    pub etag: Option<String>,
    /// `Last-Modified`
    pub modified: Option<SystemTime>,
}

/// Why a file was not received to its end.
#[derive(Debug, thiserror::Error)]
#[error("the connection was lost: {0}")]
pub struct StreamError(String);

impl DownloadStream {
    /// Returns the next bytes, or `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, StreamError> {
        match tokio::time::timeout(STALL_LIMIT, self.body.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk),
            Ok(Err(error)) => Err(StreamError(error_chain(&error))),
            Err(_) => Err(StreamError(format!("no byte came for {} s", STALL_LIMIT.as_secs()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_version_is_continued() {
        for (offset, etag, expected) in [
            (0, None, None),
            (0, Some("\"v1\""), None),
            (10, None, None),
            (10, Some("line\nbreak"), None),
            (10, Some("\"v1\""), Some(("bytes=10-", "\"v1\""))),
        ] {
            let headers = ResumeFrom { offset, etag: etag.map(str::to_owned) }.headers();
            let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
            let requested = text(header::RANGE).zip(text(header::IF_RANGE));
            assert_eq!(requested, expected, "{offset} {etag:?}");
        }
    }
}
