//! Faults that a test or a person orders for the next requests.

use std::{collections::BTreeMap, convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes},
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt as _, stream};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    server::Reset,
    service::Reply,
    storage::{GET_FILE, PUT_PART},
};
use crate::service::catalog;

/// Size of the pieces in which a long body is sent.
const PIECE: usize = 64 * 1024;

/// How much longer than its body a truncated answer claims to be.
const MISSING: usize = 1_024;

/// A fault for some requests.
///
/// One that names an answer (status, body, content type, `reset`, `truncate`, `bytes`) takes the place of the
/// operation's own; one that names only a delay or headers lets the operation answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    /// Only for this operation; `put_part` and `get_file` stand for what is PUT to and got from the storage host.
    operation: Option<String>,
    status: Option<u16>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// A string is sent as it is, anything else as JSON.
    body: Option<Value>,
    content_type: Option<String>,
    #[serde(default)]
    delay_ms: u64,
    /// Ends the connection without an answer.
    #[serde(default)]
    reset: bool,
    /// Claims a longer body than is sent, and ends the connection.
    #[serde(default)]
    truncate: bool,
    /// Sends so many bytes.
    bytes: Option<u64>,
    /// Sends only so many bytes of the operation's own answer, and ends the connection.
    cut: Option<usize>,
    /// The operation is executed first, and only then the fault applies.
    #[serde(default)]
    pub(super) after: bool,
    #[serde(default = "once")]
    times: u32,
    /// Ends the delay of a request that waits.
    #[serde(skip)]
    released: CancellationToken,
}

const fn once() -> u32 {
    1
}

impl Order {
    /// Why the order cannot be carried out, if so.
    pub(super) fn problem(&self) -> Option<String> {
        let is_known = |name: &str| [PUT_PART, GET_FILE].contains(&name) || catalog::find(name).is_some();
        if let Some(name) = self.operation.as_deref().filter(|name| !is_known(name)) {
            return Some(format!("operation: `{name}` is not in the catalog"));
        }
        if self.status.is_some_and(|status| !(200..600).contains(&status)) {
            return Some("status: must be from 200 to 599".to_owned());
        }

        let bad = self.headers.iter().find(|(name, value)| parsed(name, value).is_none());
        if let Some((name, _)) = bad {
            return Some(format!("headers: `{name}` is not a header"));
        }

        let content_type = self.content_type.as_deref();

        content_type
            .filter(|text| HeaderValue::from_str(text).is_err())
            .map(|_| "content_type: is not a header value".to_owned())
    }

    /// Whether the fault takes the place of the operation's answer.
    pub(super) fn replaces(&self) -> bool {
        self.reset
            || self.truncate
            || self.status.is_some()
            || self.body.is_some()
            || self.content_type.is_some()
            || self.bytes.is_some()
    }

    /// Whether the connection ends without an answer.
    pub(super) fn resets(&self) -> bool {
        self.reset
    }

    /// Waits as ordered.
    pub(super) async fn wait(&self) {
        let delay = Duration::from_millis(self.delay_ms);
        // Its end is no error: that is how long it was to wait.
        drop(tokio::time::timeout(delay, self.released.cancelled()).await);
    }

    /// The answer to send; `reply` is that of the operation, if it was executed.
    pub(super) fn apply(&self, reply: Option<Reply>) -> Response {
        if self.reset {
            let mut response = Response::new(Body::empty());
            response.extensions_mut().insert(Reset);
            return response;
        }

        let mut reply = reply.unwrap_or_else(|| self.stand_in());
        if let Some(status) = self.status() {
            reply.status = status;
        }

        if let Some(body) = &self.body {
            reply.body = text_of(body).into();
        }

        let length = reply.body.len();
        if let Some(cut) = self.cut {
            reply.body.truncate(cut);
        }

        let mut response = reply.into_response();
        if let Some(bytes) = self.bytes {
            *response.body_mut() = filler(bytes);
            response.headers_mut().remove(header::CONTENT_LENGTH);
        }

        if self.truncate {
            truncate(&mut response, length + MISSING);
        } else if self.cut.is_some() {
            truncate(&mut response, length);
        }

        self.set_headers(response.headers_mut());

        response
    }

    /// The status of the answer, where one is ordered.
    pub(super) fn status(&self) -> Option<StatusCode> {
        self.status.and_then(|status| StatusCode::from_u16(status).ok())
    }

    /// The answer of an operation that is not executed.
    fn stand_in(&self) -> Reply {
        let status = self.status().unwrap_or(StatusCode::OK);
        if status.is_client_error() || status.is_server_error() {
            Reply::error(status, status.canonical_reason().unwrap_or("ordered fault"))
        } else {
            Reply::json(status, &json!({}))
        }
    }

    fn set_headers(&self, headers: &mut HeaderMap) {
        let content_type = self.content_type.iter().map(|text| ("content-type", text));
        let named = self.headers.iter().map(|(name, value)| (name.as_str(), value));
        for (name, value) in content_type.chain(named).filter_map(|(name, value)| parsed(name, value)) {
            headers.insert(name, value);
        }
    }
}

/// The orders that are still to be carried out, oldest first.
#[derive(Debug, Default)]
pub(super) struct Faults {
    orders: Vec<Order>,
    /// Shared by the requests that wait.
    released: CancellationToken,
}

impl Faults {
    /// Orders a fault.
    pub(super) fn add(&mut self, order: Order) {
        self.orders.push(order);
    }

    /// Forgets what is still to be carried out.
    pub(super) fn forget(&mut self) {
        self.orders.clear();
    }

    /// Ends the delays of the requests under way.
    pub(super) fn release(&mut self) {
        std::mem::take(&mut self.released).cancel();
    }

    /// Takes the oldest fault for a request of that operation.
    pub(super) fn take(&mut self, operation: &str) -> Option<Order> {
        let concerns = |order: &Order| order.operation.as_deref().is_none_or(|name| name == operation);
        let position = self.orders.iter().position(|order| order.times > 0 && concerns(order))?;
        let order = self.orders.get_mut(position)?;

        order.times -= 1;
        let taken = Order { released: self.released.clone(), ..order.clone() };
        self.orders.retain(|order| order.times > 0);

        Some(taken)
    }
}

fn parsed(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    Some((name.parse().ok()?, value.parse().ok()?))
}

fn text_of(body: &Value) -> String {
    body.as_str().map_or_else(|| body.to_string(), ToOwned::to_owned)
}

/// A body of `bytes` letters, in pieces and without a stated length.
fn filler(bytes: u64) -> Body {
    let piece = Bytes::from(vec![b'x'; PIECE]);
    Body::from_stream(stream::unfold(bytes, move |left| {
        let size = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        let next = (size > 0).then(|| (Ok::<_, Infallible>(piece.slice(..size)), left - size as u64));
        std::future::ready(next)
    }))
}

/// Makes the answer claim `length` bytes, which is more than it sends. As a stream, since hyper checks the length of a body that it knows.
fn truncate(response: &mut Response, length: usize) {
    let body = std::mem::take(response.body_mut()).into_data_stream();
    // What has been written is sent while the body makes wait; its early end would drop it.
    let pause = stream::once(tokio::task::yield_now()).map(|()| Ok(Bytes::new()));
    *response.body_mut() = Body::from_stream(body.chain(pause));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
}
