//! Subscriptions over HTTP: a response that lasts.

use std::time::Duration;

use reqwest::Response;
use serde_json::{Value, json};
use tas_mcp::sandbox::{Options, keys, seed};

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, events, json_of, with_headers},
    service::Service,
};

const KEY: &str = "x-api-key";

fn uri() -> String {
    format!("tas://projects/demo/runs/{}", seed::RUN_RUNNING)
}

fn params() -> Value {
    json!({"notifications": {"resourceSubscriptions": [uri()]}})
}

/// How a host subscribes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Revision {
    /// With `subscriptions/listen`.
    Newest,
    /// With `resources/subscribe`.
    Older,
}

const REVISIONS: [Revision; 2] = [Revision::Newest, Revision::Older];

/// Starts a sandbox whose runs end within seconds (`speed` 600) or never (0), and a server for it.
async fn start(speed: f64) -> (Service, HttpUnderTest) {
    let service = Service::with(Options { speed, ..Options::default() }).await;
    let server = HttpUnderTest::start(&service.settings(keys::DEMO, &FREE_PORTS));
    (service, server)
}

/// Subscribes to the run. Returns the response.
async fn subscribe(server: &HttpUnderTest, headers: &[(&str, &str)], revision: Revision) -> Response {
    if revision == Revision::Newest {
        return server.modern("/mcp", headers, "subscriptions/listen", params()).await;
    }
    let message =
        json!({"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": {"uri": uri()}});
    let request = with_headers(server.post("/mcp").header("mcp-protocol-version", "2025-11-25"), headers);
    request.body(message.to_string()).send().await.expect("a response")
}

fn messages(text: &str) -> Vec<Value> {
    events(text).iter().map(|event| serde_json::from_str(event).expect("JSON")).collect()
}

/// Returns the number of updates in a complete response. Its answer is the last message, or in an older revision the first one.
fn updates(text: &str, revision: Revision) -> usize {
    let mut messages = messages(text);
    let first = messages.remove(0);
    if revision == Revision::Newest {
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{text}");
        let answer = messages.pop().expect("an answer");
        assert_eq!(
            (&answer["id"], &answer["result"]["resultType"]),
            (&json!(1), &json!("complete")),
            "{answer}"
        );
    } else {
        assert_eq!(first, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    }

    for update in &messages {
        assert_eq!(update["method"], "notifications/resources/updated");
        assert_eq!(update["params"]["uri"], uri());
    }
    messages.len()
}

#[tokio::test]
async fn a_response_lasts_until_the_record_is_completed() {
    for (revision, method) in
        REVISIONS.into_iter().zip([r#""subscriptions/listen""#, r#""resources/subscribe""#])
    {
        let (_service, server) = start(600.0).await;
        let response = subscribe(&server, &[], revision).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        assert!(updates(&response.text().await.expect("text"), revision) >= 1, "{revision:?}");
        let (_, metrics) = server.admin("/metrics").await;
        assert!(metrics.contains(method), "{metrics}");

        let read = server.modern("/mcp", &[], "resources/read", json!({"uri": uri()})).await;
        let record = json_of(read).await["result"]["contents"][0]["text"].clone();
        assert!(record.as_str().expect("a text").contains(r#""state":"COMPLETED""#), "{record}");
    }
}

#[tokio::test]
async fn another_credential_is_told_nothing() {
    let (_service, server) = start(600.0).await;
    let refused = json_of(subscribe(&server, &[(KEY, keys::ARENA)], Revision::Older).await).await;
    assert_eq!(refused["error"]["data"]["error"]["code"], "permission_denied", "{refused}");

    for (key, is_told) in [(keys::ARENA, false), (keys::DEMO, true)] {
        let response = subscribe(&server, &[(KEY, key)], Revision::Newest).await;
        let text = response.text().await.expect("text");
        assert_eq!(updates(&text, Revision::Newest) > 0, is_told, "{key}");
    }
}

/// Subscribes to a run that never ends, and waits until the run is watched.
async fn watched(service: &Service, server: &HttpUnderTest, revision: Revision) -> (Response, String) {
    let mut response = subscribe(server, &[], revision).await;
    let first = response.chunk().await.expect("a body").expect("the first message");
    while !service.requests().await.iter().any(|line| line.contains("/runs/")) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    (response, String::from_utf8(first.to_vec()).expect("text"))
}

/// Reads the rest of a response that ends. Returns the whole text.
async fn until_end((response, first): (Response, String)) -> String {
    let rest = tokio::time::timeout(Duration::from_secs(30), response.text());
    first + &rest.await.expect("the end of the response").expect("a complete response")
}

#[tokio::test]
async fn nothing_is_read_after_the_client_has_closed_the_response() {
    for revision in REVISIONS {
        let (service, server) = start(0.0).await;
        let (response, _) = watched(&service, &server, revision).await;
        // The run is read for another time, after a pause of a few seconds.
        while service.requests().await.iter().filter(|line| line.contains("/runs/")).count() < 2 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }

        drop(response);
        tokio::time::sleep(Duration::from_secs(1)).await;
        let before = service.requests().await.len();
        // The first pauses are a few seconds long.
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(service.requests().await.len(), before, "{revision:?}");
    }
}

#[tokio::test]
async fn the_end_of_the_server_ends_a_response() {
    for revision in REVISIONS {
        let (service, mut server) = start(0.0).await;
        let watched = watched(&service, &server, revision).await;
        server.stop();
        assert_eq!(updates(&until_end(watched).await, revision), 0, "{revision:?}");
    }
}

#[tokio::test]
async fn a_client_of_an_older_revision_ends_its_subscription() {
    let (service, server) = start(0.0).await;
    let watched = watched(&service, &server, Revision::Older).await;
    let answer = server.legacy("/mcp", &[], "resources/unsubscribe", json!({"uri": uri()})).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    assert_eq!(updates(&until_end(watched).await, Revision::Older), 0);
}

#[tokio::test]
async fn each_revision_has_its_method_and_a_client_without_events_has_none() {
    let (_service, server) = start(0.0).await;
    let mut request =
        server.modern_request("/mcp", "subscriptions/listen", params()).build().expect("a request");
    request.headers_mut().insert("accept", http::HeaderValue::from_static("application/json"));
    let client = crate::support::plain_client().build().expect("a client");
    let answer = json_of(client.execute(request).await.expect("a response")).await;
    assert!(answer["error"]["message"].as_str().expect("a text").contains("text/event-stream"), "{answer}");

    let message =
        json!({"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": {"uri": uri()}});
    let mut request = server.post("/mcp").body(message.to_string()).build().expect("a request");
    request.headers_mut().insert("accept", http::HeaderValue::from_static("application/json"));
    // A response that is a stream would not end.
    let answer = async { json_of(client.execute(request).await.expect("a response")).await };
    let answer = tokio::time::timeout(Duration::from_secs(30), answer).await.expect("an error");
    assert!(answer["error"]["message"].as_str().expect("a text").contains("text/event-stream"), "{answer}");

    let capabilities = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let initialized = server.legacy("/mcp", &[], "initialize", capabilities).await;
    assert_eq!(
        initialized["result"]["capabilities"]["resources"],
        json!({"subscribe": true}),
        "{initialized}"
    );
    let refused = server.legacy("/mcp", &[], "subscriptions/listen", params()).await;
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
}

#[tokio::test]
async fn a_subscription_takes_the_place_of_a_request() {
    for revision in REVISIONS {
        let service = Service::with(Options { speed: 0.0, ..Options::default() }).await;
        let variables = [FREE_PORTS.as_slice(), &[("TAS_HTTP_CONCURRENCY", "1")]].concat();
        let server = HttpUnderTest::start(&service.settings(keys::DEMO, &variables));
        // Once the service has accepted the key, the limits are those of the credential.
        server.call("/mcp", &[], "list_tests", json!({})).await;
        let _watched = watched(&service, &server, revision).await;

        let refused = server.modern("/mcp", &[], "subscriptions/listen", params()).await;
        let messages = messages(&refused.text().await.expect("text"));
        let answer = messages.last().expect("an answer");
        assert!(answer["error"]["message"].as_str().expect("a text").contains("simultaneous"), "{answer}");
    }
}
