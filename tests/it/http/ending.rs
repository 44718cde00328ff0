//! The end of a server.

use std::sync::Arc;

use serde_json::json;
use tas_mcp::sandbox::keys;
use tokio::sync::Semaphore;

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, json_of},
    stub::Stub,
};

#[tokio::test]
async fn calls_under_way_are_answered_before_the_end() {
    let gate = Arc::new(Semaphore::new(0));
    let permits = Arc::clone(&gate);
    let service = Stub::start(move |_| {
        let permits = Arc::clone(&permits);
        async move {
            permits.acquire().await.expect("an open gate").forget();
            (
                200,
                json!({"data": [], "pagination": {"page": 0, "page_size": 1, "total_count": 0, "total_pages": 0}}),
            )
        }
    });
    let service = service.await;
    let mut server = HttpUnderTest::start(&service.settings(keys::DEMO, &FREE_PORTS));
    let call = server.modern_request("/mcp", "tools/call", json!({"name": "list_runs", "arguments": {}}));
    let call = tokio::spawn(call.send());
    while service.requests().is_empty() {
        tokio::task::yield_now().await;
    }

    server.stop();
    while server.admin("/readyz").await.0 != 503 {}
    // A proxy that has not noticed the end yet is served, and asked to close its connection.
    let late = server.modern("/mcp", &[], "tools/list", json!({})).await;
    assert_eq!(
        (late.status().as_u16(), &late.headers()["connection"]),
        (200, &axum::http::HeaderValue::from_static("close"))
    );

    gate.add_permits(1);
    let answer = json_of(call.await.expect("a task").expect("a response")).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    (&mut server.serving).await.expect("an end");
}

#[tokio::test]
async fn calls_that_take_too_long_are_cancelled_at_the_end() {
    let service = Stub::start(|_| std::future::pending()).await;
    let variables = [&FREE_PORTS[..], &[("TAS_HTTP_DRAIN_S", "0")]].concat();
    let mut server = HttpUnderTest::start(&service.settings(keys::DEMO, &variables));
    let call = server.modern_request("/mcp", "tools/call", json!({"name": "list_runs", "arguments": {}}));
    let call = tokio::spawn(call.send());
    while service.requests().is_empty() {
        tokio::task::yield_now().await;
    }

    server.stop();
    let answer = json_of(call.await.expect("a task").expect("a response")).await;
    assert!(answer.to_string().contains("the server is stopping"), "{answer}");
    (&mut server.serving).await.expect("an end");
}
