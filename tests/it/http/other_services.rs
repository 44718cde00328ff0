//! Another MCP service behind the HTTP code.

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CustomNotification, ListToolsResult, PaginatedRequestParams, ServerNotification},
    service::RequestContext,
};
use serde_json::{Value, json};
use tas_mcp::http::Application;

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, events},
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

#[tokio::test]
async fn a_service_sends_notifications_of_any_kind_before_its_answer() {
    let base_url = ("TAS_BASE_URL", "http://127.0.0.1:9/api/v1");
    let settings = settings(&[&FREE_PORTS[..], &[base_url]].concat());
    let application = Application::for_service(&settings, || Example).expect("usable settings");
    let server = HttpUnderTest::serve(application);
    let response = server.modern("/mcp", &[], "tools/list", json!({})).await;

    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = response.text().await.expect("text");
    let messages = events(&text).into_iter().map(|data| serde_json::from_str(&data).expect("JSON"));
    let messages: Vec<Value> = messages.collect();
    let [notification, answer] = messages.as_slice() else { panic!("two messages: {text}") };
    assert_eq!(notification["method"], METHOD);
    assert_eq!((&answer["id"], &answer["result"]["tools"]), (&json!(1), &json!([])), "{answer}");
}
