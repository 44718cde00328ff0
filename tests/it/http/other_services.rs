//! Another MCP service behind the HTTP code.

use reqwest::Response;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CustomNotification, ListToolsResult, PaginatedRequestParams, ServerNotification},
    service::RequestContext,
};
use serde_json::{Value, json};
use tas_mcp::http::{Application, HttpServer};

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

/// Asks a new server for its tools. The client accepts this media type.
async fn list_tools(accepted: &str) -> Response {
    let settings =
        settings(&[FREE_PORTS[0], ("TAS_HTTP_ADMIN", "off"), ("TAS_BASE_URL", "http://127.0.0.1:9/api/v1")]);
    let application = Application::for_service(&settings, || Example).expect("usable settings");
    let server = HttpServer::bind(application).expect("a free port");
    let address = server.address().expect("an address");
    tokio::spawn(server.serve(std::future::pending()));

    let client = crate::support::plain_client().build().expect("a client");
    let message =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": modern_metadata()}});
    let request = client
        .post(format!("http://{address}/mcp"))
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
