//! Another MCP service behind the HTTP code.

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

#[tokio::test]
async fn a_service_sends_notifications_of_any_kind_before_its_answer() {
    let client = crate::support::plain_client().build().expect("a client");
    let message =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": modern_metadata()}});
    let request = client
        .post(serve(|| Example))
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/list");
    let response = request.body(message.to_string()).send().await.expect("a response");

    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = response.text().await.expect("text");
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let messages: Vec<Value> = data.map(|data| serde_json::from_str(data).expect("JSON")).collect();
    let [notification, answer] = messages.as_slice() else { panic!("two messages: {text}") };
    assert_eq!(notification["method"], METHOD);
    assert_eq!((&answer["id"], &answer["result"]["tools"]), (&json!(1), &json!([])), "{answer}");
}
