//! A collector of traces (OTLP over HTTP).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{Router, body::Bytes, routing::post};
use http::{HeaderMap, StatusCode};
use tokio::{net::TcpListener, task::AbortHandle};

use super::protocol_buffer::Message;

/// A request with spans: its headers and its body.
type Received = (HeaderMap, Bytes);

/// A collector on the loopback. It ends when this value is dropped.
pub(crate) struct Collector {
    /// Address of the collector, as `OTEL_EXPORTER_OTLP_ENDPOINT` names it.
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
    serving: AbortHandle,
}

/// A span that a collector has received.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) name: String,
    pub(crate) kind: u64,
    pub(crate) trace: String,
    pub(crate) parent: String,
    pub(crate) state: String,
    /// Start and end, in nanoseconds since 1970.
    pub(crate) times: (u64, u64),
    /// Code and message.
    pub(crate) status: (u64, String),
    pub(crate) attributes: BTreeMap<String, String>,
    /// Spans of the linked traces.
    pub(crate) links: Vec<String>,
    /// Attributes of the program.
    pub(crate) resource: BTreeMap<String, String>,
}

impl Collector {
    /// Starts a collector, which answers each request with the status that `answer` returns.
    pub(crate) async fn start<A, F>(answer: A) -> Self
    where
        A: Fn() -> F + Clone + Send + Sync + 'static,
        F: Future<Output = StatusCode> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
        let receive = move |headers: HeaderMap, body: Bytes| {
            log.lock().expect("no test panics here").push((headers, body));
            answer()
        };
        let router = Router::new().route("/v1/traces", post(receive));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await }).abort_handle();

        Self { url, received, serving }
    }

    /// Starts a collector that takes every span.
    pub(crate) async fn accepting() -> Self {
        Self::start(|| std::future::ready(StatusCode::OK)).await
    }

    /// Returns the requests so far.
    pub(crate) fn requests(&self) -> Vec<Received> {
        self.received.lock().expect("no test panics here").clone()
    }

    /// Returns the spans so far.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.requests().iter().flat_map(|(_, body)| spans(Message(body))).collect()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Returns the spans of an `ExportTraceServiceRequest`.
fn spans(request: Message<'_>) -> Vec<Span> {
    let of_resource = |spans: Message<'_>| {
        let resource = spans.messages(1).next().map(|resource| attributes(resource, 1)).unwrap_or_default();
        let scopes = spans.messages(2).flat_map(|scope| scope.messages(2).collect::<Vec<_>>());
        scopes.map(|one| span(one, resource.clone())).collect::<Vec<_>>()
    };
    request.messages(1).flat_map(of_resource).collect()
}

fn span(message: Message<'_>, resource: BTreeMap<String, String>) -> Span {
    let status = message.messages(15).next().unwrap_or(Message(&[]));
    Span {
        trace: message.digits(1),
        state: message.text(3),
        parent: message.digits(4),
        name: message.text(5),
        kind: message.number(6),
        times: (message.number(7), message.number(8)),
        attributes: attributes(message, 9),
        links: message.messages(13).map(|link| link.digits(2)).collect(),
        status: (status.number(3), status.text(2)),
        resource,
    }
}

/// Returns the attributes in the fields with this number. The server sends attributes with texts only.
fn attributes(message: Message<'_>, field: u64) -> BTreeMap<String, String> {
    let pair = |pair: Message<'_>| {
        (pair.text(1), pair.messages(2).next().map(|value| value.text(1)).unwrap_or_default())
    };
    message.messages(field).map(pair).collect()
}
