//! Calls of tools, from a host that sends raw JSON-RPC.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use crate::support::fixture::{Fixture, Session};

mod lists;
mod pitfalls;
mod revisions;

/// The newest revision, which has no `initialize`.
pub(crate) const MODERN: &str = "2026-07-28";

/// Returns `params._meta` of a request without `initialize`.
pub(crate) fn modern(revision: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[tokio::test]
async fn a_failure_is_one_text_block_without_structure() {
    let Session { service: _service, mut host, .. } = Fixture::new().open().await;
    let error = host.fail("get_run", json!({"run_id": "nowhere"})).await;

    assert_eq!(error["code"], "not_found");
    assert_eq!(error["status"], 404);
    assert_eq!(error["details"]["service_error"], "run not found");
    assert!(error["hint"].is_string());
}

#[tokio::test]
async fn calls_are_served_concurrently() {
    const AT_ONCE: usize = 64;

    let Session { service, mut host, .. } = Fixture::new().open().await;
    // The first call hangs until all the others are answered.
    service.fault(json!({"operation": "get_bug", "delay_ms": 20_000})).await;

    let hanging =
        host.start("tools/call", json!({"name": "get_bug", "arguments": {"bug_id": seed::BUG_ACTIVE}})).await;
    let mut waiting = Vec::new();

    for _ in 1..AT_ONCE {
        waiting.push(host.start("tools/call", json!({"name": "list_tests", "arguments": {}})).await);
    }

    while !waiting.is_empty() {
        let answer = host.receive().await;
        assert_ne!(answer["id"], hanging, "the hanging call was answered first");
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        waiting.retain(|id| answer["id"] != *id);
    }
}

#[tokio::test]
async fn a_cancelled_call_is_not_answered() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    service.fault(json!({"operation": "list_tests", "delay_ms": 20_000})).await;

    let id = host.start("tools/call", json!({"name": "list_tests", "arguments": {}})).await;
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))
        .await;

    let next = host.start("tools/call", json!({"name": "list_bugs", "arguments": {}})).await;

    assert_eq!(host.receive().await["id"], next);
}
