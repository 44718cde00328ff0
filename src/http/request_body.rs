//! Reads the body of a request, within limits of size, time and memory.

use std::{sync::Arc, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::refusal::Refusal;

/// Time limit of reading a body.
const READ_LIMIT: Duration = Duration::from_secs(30);

/// Largest size of all bodies that are being read, in KiB.
const MAX_BUFFERED_KIB: usize = 256 * 1024;

/// Longest body that is read although it is refused, in bytes.
const MAX_DISCARDED_BYTES: usize = 64 * 1024 * 1024;

/// Time limit of reading a body that is refused.
const DISCARD_LIMIT: Duration = Duration::from_secs(2);

/// How long a client waits before it sends a body again, in seconds.
const PAUSE_S: u64 = 1;

/// Reads the bodies of requests.
#[derive(Debug)]
pub(super) struct BodyReader {
    max_bytes: usize,
    /// The memory of all bodies, in KiB.
    memory: Arc<Semaphore>,
    time_limit: Duration,
}

/// A body, and the memory that it occupies.
#[derive(Debug)]
pub(super) struct BufferedBody {
    pub(super) bytes: Bytes,
    _memory: OwnedSemaphorePermit,
}

impl BodyReader {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, memory: Arc::new(Semaphore::new(MAX_BUFFERED_KIB)), time_limit: READ_LIMIT }
    }

    /// Reads a body.
    ///
    /// # Errors
    /// Status 415 for another media type than JSON, 413 for a long body, 503 if the memory is used up, 408 after the time
    /// limit, and 400 if the body ends early.
    pub(super) async fn read(&self, headers: &HeaderMap, body: Body) -> Result<BufferedBody, Refusal> {
        check_media_type(headers)?;
        let memory = match self.reserve(headers) {
            Ok(memory) => memory,
            Err(refusal) => {
                discard(body).await;
                return Err(refusal);
            }
        };

        let reading = tokio::time::timeout(self.time_limit, Limited::new(body, self.max_bytes).collect());
        let read = reading.await.map_err(|_| {
            Refusal::new(
                StatusCode::REQUEST_TIMEOUT,
                format!("no complete body within {} s", self.time_limit.as_secs()),
            )
        })?;

        match read {
            Ok(body) => Ok(BufferedBody { bytes: body.to_bytes(), _memory: memory }),
            Err(error) if error.is::<LengthLimitError>() => Err(self.too_large()),
            Err(_) => Err(Refusal::new(StatusCode::BAD_REQUEST, "the body is incomplete")),
        }
    }

    /// Reserves the memory of a body, as long as its header says, or of the longest body.
    fn reserve(&self, headers: &HeaderMap) -> Result<OwnedSemaphorePermit, Refusal> {
        let stated =
            headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let bytes: usize = stated.unwrap_or(self.max_bytes);
        if bytes > self.max_bytes {
            return Err(self.too_large());
        }

        let kib = u32::try_from(bytes / 1024 + 1).unwrap_or(u32::MAX);
        Arc::clone(&self.memory).try_acquire_many_owned(kib).map_err(|_| {
            let message = "the server is busy: too many long requests at the same time";
            Refusal::retry_after(StatusCode::SERVICE_UNAVAILABLE, message, PAUSE_S)
        })
    }

    fn too_large(&self) -> Refusal {
        let message = format!("the body is longer than {} bytes", self.max_bytes);
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }
}

/// Reads a body and drops it, within limits. Many clients read no response before they have sent their body.
async fn discard(body: Body) {
    let mut body = Limited::new(body, MAX_DISCARDED_BYTES);
    // Each frame is dropped at once, so that a refused body takes no memory.
    let reading = async { while let Some(Ok(_)) = body.frame().await {} };

    // A body that does not end in time is left unread.
    tokio::time::timeout(DISCARD_LIMIT, reading).await.unwrap_or_default();
}

fn check_media_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (media_type, _) = value.split_once(';').unwrap_or((value, ""));
    if media_type.trim().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the header Content-Type must be application/json"))
}
