//! Another MCP service behind the HTTP code.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use reqwest::Response;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CustomNotification, ListToolsResult,
        PaginatedRequestParams, ServerNotification,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tas_mcp::http::{Application, HttpServer};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::support::{
    http_client::{FREE_PORTS, modern_metadata},
    service::settings,
};

const METHOD: &str = "notifications/example";

/// A service that sends a notification before it lists no tools.
#[derive(Debug)]
struct Example;

impl ServerHandler for Example {
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let notification = ServerNotification::CustomNotification(CustomNotification::new(METHOD, None));
        context.peer.send_notification(notification).await.expect("a response");
        Ok(ListToolsResult::default())
    }
}

/// Starts a server of the handlers that `open` returns, and returns its address.
fn serve<S: ServerHandler>(open: impl Fn() -> S + Clone + Send + Sync + 'static) -> String {
    let settings =
        settings(&[FREE_PORTS[0], ("TAS_HTTP_ADMIN", "off"), ("TAS_BASE_URL", "http://127.0.0.1:9/api/v1")]);
    let application = Application::for_service(&settings, open).expect("usable settings");
    let server = HttpServer::bind(application).expect("a free port");
    let address = server.address().expect("an address");
    tokio::spawn(server.serve(std::future::pending()));
    format!("http://{address}/mcp")
}

/// Asks a new server for its tools. The client accepts this media type.
async fn list_tools(accepted: &str) -> Response {
    let client = crate::support::plain_client().build().expect("a client");
    let message =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": modern_metadata()}});
    let request = client
        .post(serve(|| Example))
        .header("content-type", "application/json")
        .header("accept", accepted)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/list");
    request.body(message.to_string()).send().await.expect("a response")
}

#[tokio::test]
async fn a_service_sends_notifications_of_any_kind_before_its_answer() {
    let response = list_tools("application/json, text/event-stream").await;

    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = response.text().await.expect("text");
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let messages: Vec<Value> = data.map(|data| serde_json::from_str(data).expect("JSON")).collect();
    let [notification, answer] = messages.as_slice() else { panic!("two messages: {text}") };
    assert_eq!(notification["method"], METHOD);
    assert_eq!((&answer["id"], &answer["result"]["tools"]), (&json!(1), &json!([])), "{answer}");
}

#[tokio::test]
async fn a_client_that_accepts_no_events_gets_the_answer_of_a_service_without_notifications() {
    let response = list_tools("application/json").await;

    assert_eq!(response.headers()["content-type"], "application/json");
    let answer: Value = serde_json::from_str(&response.text().await.expect("text")).expect("JSON");
    assert_eq!(answer["result"]["tools"], json!([]), "{answer}");
}

/// A service that takes its thread for the first request, once before and once in the call, until it has listed its tools for
/// another client.
#[derive(Clone, Debug)]
struct Busy {
    is_opened: Arc<AtomicBool>,
    taken: UnboundedSender<()>,
    other: mpsc::Sender<()>,
    others: Arc<Mutex<mpsc::Receiver<()>>>,
    delays_others: Arc<AtomicBool>,
}

impl Busy {
    /// Returns the service, and what says that a thread is taken.
    fn new() -> (Self, UnboundedReceiver<()>) {
        let (taken, is_taken) = unbounded_channel();
        let (other, others) = mpsc::channel();
        let others = Arc::new(Mutex::new(others));
        let service = Self { is_opened: Arc::default(), taken, other, others, delays_others: Arc::default() };
        (service, is_taken)
    }

    fn open(&self) -> Self {
        if !self.is_opened.swap(true, Ordering::Relaxed) {
            self.take_thread();
        }
        self.clone()
    }

    fn take_thread(&self) {
        self.taken.send(()).expect("a test");
        let others = self.others.lock().expect("no panic");
        if others.recv_timeout(Duration::from_secs(20)).is_err() {
            self.delays_others.store(true, Ordering::Relaxed);
        }
    }
}

impl ServerHandler for Busy {
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.other.send(()).expect("a test");
        Ok(ListToolsResult::default())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.take_thread();
        Ok(CallToolResult::success(Vec::new()).into())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_long_message_takes_no_thread_of_other_requests() {
    let (service, mut is_taken) = Busy::new();
    let delays_others = Arc::clone(&service.delays_others);
    let url = serve(move || service.open());
    let client = crate::support::plain_client().build().expect("a client");
    let send = |method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = client.post(&url).header("content-type", "application/json");
        request.header("mcp-protocol-version", "2025-06-18").body(message.to_string()).send()
    };

    let text = "x".repeat(70 * 1024);
    let long = tokio::spawn(send("tools/call", json!({"name": "write", "arguments": {"text": text}})));
    for _ in 0..2 {
        is_taken.recv().await.expect("a long message");
        let short = send("tools/list", json!({})).await.expect("a response");
        assert_eq!(short.status(), 200);
    }

    let answer = long.await.expect("no panic").expect("a response").text().await.expect("text");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert!(!delays_others.load(Ordering::Relaxed), "no answer to another client meanwhile");
}
