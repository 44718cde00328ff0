//! The body of a response, and size limits for it.

use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use super::{limits::MAX_RESPONSE_BYTES, transport_error::TransportError};

/// The body of a response, while it is received.
#[derive(Debug)]
pub(super) struct ResponseBody(Incoming);

impl ResponseBody {
    pub(super) fn new(body: Incoming) -> Self {
        Self(body)
    }

    /// Returns the number of bytes that are still to come, if the response states its length.
    pub(super) fn stated_length(&self) -> Option<u64> {
        self.0.size_hint().exact()
    }

    /// Returns the next bytes, or `None` at the end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, hyper::Error> {
        while let Some(frame) = self.0.frame().await.transpose()? {
            // Trailers are ignored.
            if let Ok(bytes) = frame.into_data() {
                return Ok(Some(bytes));
            }
        }

        Ok(None)
    }

    /// Reads the whole body.
    ///
    /// # Errors
    /// The body is longer than [`MAX_RESPONSE_BYTES`], or the connection was lost. A body that states a longer length is
    /// not read at all.
    pub(super) async fn read(self) -> Result<Bytes, TransportError> {
        self.read_up_to(MAX_RESPONSE_BYTES).await
    }

    /// Reads the whole body, which has at most `limit` bytes.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(super) async fn read_up_to(mut self, limit: usize) -> Result<Bytes, TransportError> {
        let stated = usize::try_from(self.stated_length().unwrap_or_default()).unwrap_or(usize::MAX);
        if stated > limit {
            return Err(TransportError::TooLong);
        }

        // The system provides memory only for the bytes that arrive.
        let mut body = BytesMut::with_capacity(stated);
        while let Some(chunk) = self.chunk().await? {
            if body.len() + chunk.len() > limit {
                return Err(TransportError::TooLong);
            }
            body.extend_from_slice(&chunk);
        }

        Ok(body.freeze())
    }
}
