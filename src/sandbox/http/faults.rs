//! Faults that a test or a user injects into the next requests.

use std::{collections::BTreeMap, convert::Infallible, future::ready, time::Duration};

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::{
    body::{Body, Bytes},
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::sandbox::http::reply::{BufferedReply, ConnectionReset};
use crate::service::catalog;

/// Name of a PUT of a part or of a whole file to the storage host, in faults and in the request log.
pub(super) const PUT_PART: &str = "put_part";

/// Name of a GET of a file from the storage host, in faults and in the request log.
pub(super) const GET_FILE: &str = "get_file";

const OVERSTATED: usize = 1_024;

const CHUNK: usize = 64 * 1024;

/// A fault for some requests.
///
/// A fault with a status, body, content type, `reset`, `truncate` or `bytes` replaces the answer of the operation.
/// A fault with only a delay or headers lets the operation answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InjectedFault {
    /// The operation to which the fault applies; all operations if absent. `put_part` and `get_file` are the
    /// requests to the storage host.
    operation: Option<String>,
    status: Option<u16>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// A string is sent unchanged, any other value as JSON.
    body: Option<Value>,
    content_type: Option<String>,
    #[serde(default)]
    delay_ms: u64,
    /// Closes the connection without an answer.
    #[serde(default)]
    pub(super) reset: bool,
    /// States a longer body than is sent, and closes the connection.
    #[serde(default)]
    truncate: bool,
    /// Length of a body of filler bytes.
    bytes: Option<u64>,
    /// Number of bytes of the operation's own answer after which the connection is closed.
    cut: Option<usize>,
    /// Executes the operation before the fault applies.
    #[serde(default)]
    pub(super) after: bool,
    /// How many requests the fault still applies to.
    #[serde(default = "once")]
    times: u32,
    /// Cancelled to end the delay.
    #[serde(skip)]
    release: CancellationToken,
}

const fn once() -> u32 {
    1
}

impl InjectedFault {
    pub(super) fn violation(&self) -> Option<String> {
        let is_known = |name: &str| [PUT_PART, GET_FILE].contains(&name) || catalog::find(name).is_some();
        if let Some(name) = self.operation.as_deref().filter(|name| !is_known(name)) {
            return Some(format!("operation: `{name}` is not in the catalog"));
        }
        if self.status.is_some_and(|status| !(200..600).contains(&status)) {
            return Some("status: must be from 200 to 599".to_owned());
        }

        let mut named = self.named_headers();
        let invalid = named.find(|(name, value)| parse_header(name, value).is_none());
        invalid.map(|(name, _)| format!("headers: `{name}` is not a header, or has no text"))
    }

    pub(super) fn replaces(&self) -> bool {
        self.reset
            || self.truncate
            || self.status.is_some()
            || self.body.is_some()
            || self.content_type.is_some()
            || self.bytes.is_some()
    }

    pub(super) fn status(&self) -> Option<StatusCode> {
        self.status.and_then(|status| StatusCode::from_u16(status).ok())
    }

    /// Waits for the delay of the fault, or until the delay is released.
    pub(super) async fn wait(&self) {
        let delay = Duration::from_millis(self.delay_ms);
        // The timeout is the normal end of the delay.
        drop(tokio::time::timeout(delay, self.release.cancelled()).await);
    }

    /// Returns the response to send. `reply` is the reply of the operation, if the operation was executed.
    pub(super) fn apply(&self, reply: Option<BufferedReply>) -> Response {
        if self.reset {
            return ConnectionReset::response();
        }

        let mut reply = reply.unwrap_or_else(|| self.default_reply());
        if let Some(status) = self.status() {
            reply.status = status;
        }
        if let Some(body) = &self.body {
            reply.body = body.as_str().map_or_else(|| body.to_string(), ToOwned::to_owned).into();
        }

        let full_length = reply.body.len();
        if let Some(cut) = self.cut {
            reply.body.truncate(cut);
        }

        let mut response = reply.into_response();
        self.apply_length_fault(&mut response, full_length);
        self.set_headers(response.headers_mut());

        response
    }

    /// Replaces the body with filler bytes, or makes the response state a wrong length, if the fault has such a field.
    fn apply_length_fault(&self, response: &mut Response, full_length: usize) {
        if let Some(bytes) = self.bytes {
            *response.body_mut() = filler(bytes);
            // The filler is sent in chunks, without a stated length.
            response.headers_mut().remove(header::CONTENT_LENGTH);
        }

        if self.truncate {
            overstate_length(response, full_length + OVERSTATED);
        } else if self.cut.is_some() {
            overstate_length(response, full_length);
        }
    }

    /// Returns the reply in place of an operation that is not executed.
    fn default_reply(&self) -> BufferedReply {
        let status = self.status().unwrap_or(StatusCode::OK);
        if status.is_client_error() || status.is_server_error() {
            BufferedReply::error(status, status.canonical_reason().unwrap_or("injected fault"))
        } else {
            BufferedReply::json(status, &json!({}))
        }
    }

    fn set_headers(&self, headers: &mut HeaderMap) {
        for (name, value) in self.named_headers().filter_map(|(name, value)| parse_header(name, value)) {
            headers.insert(name, value);
        }
    }

    fn named_headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let content_type = self.content_type.iter().map(|text| ("content-type", text.as_str()));
        content_type.chain(self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

fn parse_header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    Some((name.parse().ok()?, value.parse().ok()?))
}

/// The faults that wait for their requests, oldest first.
#[derive(Debug, Default)]
pub(super) struct FaultQueue {
    faults: Vec<InjectedFault>,
    /// Cancelled to end the delays of requests. All delayed requests share it.
    release: CancellationToken,
}

impl FaultQueue {
    pub(super) fn add(&mut self, fault: InjectedFault) {
        self.faults.push(fault);
    }

    pub(super) fn clear(&mut self) {
        self.faults.clear();
    }

    pub(super) fn release(&mut self) {
        std::mem::take(&mut self.release).cancel();
    }

    /// Takes one use of the oldest fault that applies to `operation`.
    pub(super) fn take(&mut self, operation: &str) -> Option<InjectedFault> {
        let applies = |fault: &&mut InjectedFault| {
            fault.times > 0 && fault.operation.as_deref().is_none_or(|name| name == operation)
        };
        let fault = self.faults.iter_mut().find(applies)?;

        fault.times -= 1;
        let mut taken = fault.clone();
        taken.release = self.release.clone();
        self.faults.retain(|fault| fault.times > 0);

        Some(taken)
    }
}

/// Returns a body of `length` letters, in chunks and without a stated length.
fn filler(length: u64) -> Body {
    let chunk = Bytes::from(vec![b'x'; CHUNK]);
    Body::from_stream(stream::unfold(length, move |left| {
        let size = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        let next = (size > 0).then(|| (Ok::<_, Infallible>(chunk.slice(..size)), left - size as u64));
        ready(next)
    }))
}

/// Makes the response state a length of `length` bytes, which exceeds its body.
///
/// The body becomes a stream, because hyper rejects a wrong length for a body of known size.
fn overstate_length(response: &mut Response, length: usize) {
    let body = std::mem::take(response.body_mut()).into_data_stream();
    // Without the pause, hyper reads the end of the body before it has sent the bytes, and drops them.
    let pause = stream::once(tokio::task::yield_now()).map(|()| Ok(Bytes::new()));

    *response.body_mut() = Body::from_stream(body.chain(pause));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
}
