//! Subscriptions over HTTP: a response that lasts.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::sandbox::{Options, keys, seed};

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, events, json_of},
    service::Service,
};

const KEY: &str = "x-api-key";

fn uri() -> String {
    format!("tas://projects/demo/runs/{}", seed::RUN_RUNNING)
}

fn params() -> Value {
    json!({"notifications": {"resourceSubscriptions": [uri()]}})
}

/// Starts a sandbox whose runs end within seconds (`speed` 600) or never (0), and a server for it.
async fn start(speed: f64) -> (Service, HttpUnderTest) {
    let service = Service::with(Options { speed, ..Options::default() }).await;
    let server = HttpUnderTest::start(&service.settings(keys::DEMO, &FREE_PORTS));
    (service, server)
}

fn messages(text: &str) -> Vec<Value> {
    events(text).iter().map(|event| serde_json::from_str(event).expect("JSON")).collect()
}

/// Returns the number of updates in a complete response, whose last message is the answer.
fn updates(text: &str) -> usize {
    let messages = messages(text);
    let (answer, others) = messages.split_last().expect("an answer");
    assert_eq!((&answer["id"], &answer["result"]["resultType"]), (&json!(1), &json!("complete")), "{answer}");
    assert_eq!(others[0]["method"], "notifications/subscriptions/acknowledged", "{text}");
    for update in &others[1..] {
        assert_eq!(update["method"], "notifications/resources/updated");
        assert_eq!(update["params"]["uri"], uri());
    }
    others.len() - 1
}

#[tokio::test]
async fn a_response_lasts_until_the_record_is_completed() {
    let (_service, server) = start(600.0).await;
    let response = server.modern("/mcp", &[], "subscriptions/listen", params()).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert!(updates(&response.text().await.expect("text")) >= 1);
    let (_, metrics) = server.admin("/metrics").await;
    assert!(metrics.contains(r#""subscriptions/listen""#), "{metrics}");

    let read = server.modern("/mcp", &[], "resources/read", json!({"uri": uri()})).await;
    let record = json_of(read).await["result"]["contents"][0]["text"].clone();
    assert!(record.as_str().expect("a text").contains(r#""state":"COMPLETED""#), "{record}");
}

#[tokio::test]
async fn another_credential_is_told_nothing() {
    let (_service, server) = start(600.0).await;
    for (key, is_told) in [(keys::ARENA, false), (keys::DEMO, true)] {
        let response = server.modern("/mcp", &[(KEY, key)], "subscriptions/listen", params()).await;
        assert_eq!(updates(&response.text().await.expect("text")) > 0, is_told, "{key}");
    }
}

#[tokio::test]
async fn nothing_is_read_after_the_client_has_closed_the_response() {
    let (service, server) = start(0.0).await;
    let mut response = server.modern("/mcp", &[], "subscriptions/listen", params()).await;
    response.chunk().await.expect("a body").expect("the acknowledgement");
    while service.requests().await.iter().filter(|line| line.contains("/runs/")).count() < 2 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    drop(response);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = service.requests().await.len();
    // The first pauses are a few seconds long.
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(service.requests().await.len(), before);
}

#[tokio::test]
async fn the_end_of_the_server_ends_a_response() {
    let (_service, mut server) = start(0.0).await;
    let mut response = server.modern("/mcp", &[], "subscriptions/listen", params()).await;
    let mut text = String::new();
    while !text.contains("acknowledged") {
        let chunk = response.chunk().await.expect("a body").expect("the acknowledgement");
        text.push_str(&String::from_utf8_lossy(&chunk));
    }

    server.stop();
    text.push_str(&response.text().await.expect("a complete response"));
    assert_eq!(updates(&text), 0);
}

#[tokio::test]
async fn a_client_without_events_or_with_an_older_revision_cannot_subscribe() {
    let (_service, server) = start(0.0).await;
    let mut request =
        server.modern_request("/mcp", "subscriptions/listen", params()).build().expect("a request");
    request.headers_mut().insert("accept", http::HeaderValue::from_static("application/json"));
    let client = crate::support::plain_client().build().expect("a client");
    let answer = json_of(client.execute(request).await.expect("a response")).await;
    assert!(answer["error"]["message"].as_str().expect("a text").contains("text/event-stream"), "{answer}");

    let capabilities = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let initialized = server.legacy("/mcp", &[], "initialize", capabilities).await;
    assert_eq!(initialized["result"]["capabilities"]["resources"], json!({}), "{initialized}");
    let refused = server.legacy("/mcp", &[], "resources/subscribe", json!({"uri": uri()})).await;
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
}

#[tokio::test]
async fn a_subscription_takes_the_place_of_a_request() {
    let service = Service::with(Options { speed: 0.0, ..Options::default() }).await;
    let variables = [FREE_PORTS.as_slice(), &[("TAS_HTTP_CONCURRENCY", "1")]].concat();
    let server = HttpUnderTest::start(&service.settings(keys::DEMO, &variables));
    // Once the service has accepted the key, the limits are those of the credential.
    server.call("/mcp", &[], "list_tests", json!({})).await;
    let mut response = server.modern("/mcp", &[], "subscriptions/listen", params()).await;
    response.chunk().await.expect("a body").expect("the acknowledgement");
    while !service.requests().await.iter().any(|line| line.contains("/runs/")) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    let refused = server.modern("/mcp", &[], "subscriptions/listen", params()).await;
    let messages = messages(&refused.text().await.expect("text"));
    let answer = messages.last().expect("an answer");
    assert!(answer["error"]["message"].as_str().expect("a text").contains("simultaneous"), "{answer}");
}
