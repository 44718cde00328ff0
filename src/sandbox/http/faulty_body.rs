//! Response bodies that are too long, or shorter than their stated length.

use std::convert::Infallible;

use axum::{
    body::{Body, Bytes},
    response::Response,
};
use futures_util::{StreamExt as _, stream};
use http::{HeaderValue, header};

/// Size of the chunks in which a long body is sent.
const CHUNK: usize = 64 * 1024;

/// Returns a body of `length` letters, in chunks and without a stated length.
pub(super) fn filler(length: u64) -> Body {
    let chunk = Bytes::from(vec![b'x'; CHUNK]);
    Body::from_stream(stream::unfold(length, move |left| {
        let size = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        let next = (size > 0).then(|| (Ok::<_, Infallible>(chunk.slice(..size)), left - size as u64));
        std::future::ready(next)
    }))
}

/// Makes the response state a length of `length` bytes, which exceeds its body.
///
/// The body becomes a stream, because hyper rejects a wrong length for a body of known size.
pub(super) fn overstate_length(response: &mut Response, length: usize) {
    let body = std::mem::take(response.body_mut()).into_data_stream();
    // Without the pause, hyper reads the end of the body before it has sent the bytes, and drops them.
    let pause = stream::once(tokio::task::yield_now()).map(|()| Ok(Bytes::new()));

    *response.body_mut() = Body::from_stream(body.chain(pause));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
}
