//! Reads the body of a response with a size limit.

use bytes::{Bytes, BytesMut};
use reqwest::Response;

use super::{
    limits::MAX_RESPONSE_BYTES,
    transport_error::{TransportError, error_chain},
};

/// Reads the whole body.
///
/// # Errors
/// The body is longer than [`MAX_RESPONSE_BYTES`], or the connection was lost. A body that states a longer length is not
/// read at all.
pub(super) async fn read_body(response: Response) -> Result<Bytes, TransportError> {
    read_body_up_to(response, MAX_RESPONSE_BYTES).await
}

/// Reads the whole body, which has at most `limit` bytes.
///
/// # Errors
/// As [`read_body`].
pub(super) async fn read_body_up_to(mut response: Response, limit: usize) -> Result<Bytes, TransportError> {
    if response.content_length().is_some_and(|length| length > limit as u64) {
        return Err(TransportError::TooLong);
    }

    let mut body = BytesMut::new();
    while let Some(chunk) = next_chunk(&mut response).await? {
        if body.len() + chunk.len() > limit {
            return Err(TransportError::TooLong);
        }
        body.extend_from_slice(&chunk);
    }

    Ok(body.freeze())
}

/// Returns the next bytes of the body, or `None` at its end.
pub(super) async fn next_chunk(response: &mut Response) -> Result<Option<Bytes>, TransportError> {
    // The address is left out of the error, because its query may contain secrets.
    response.chunk().await.map_err(|error| TransportError::Truncated(error_chain(&error.without_url())))
}
