//! Spans of requests, and the collector that receives them.

use std::sync::{Arc, Mutex};

use axum::{Router, body::Bytes, routing::post};
use serde_json::json;
use tas_mcp::sandbox::{keys, seed};
use tokio::net::TcpListener;

use super::process::HttpProcess;
use crate::support::service::Service;

#[tokio::test]
async fn a_call_is_a_span_of_the_trace_of_its_client() {
    let received = Arc::new(Mutex::new(Vec::new()));
    let spans = Arc::clone(&received);
    let take = async move |body: Bytes| spans.lock().expect("no panic").extend_from_slice(&body);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let collector = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(axum::serve(listener, Router::new().route("/v1/traces", post(take))).into_future());

    let service = Service::start().await;
    let variables = [("TAS_BASE_URL", service.base_url()), ("OTEL_EXPORTER_OTLP_ENDPOINT", collector)];
    let server = HttpProcess::start(&variables.each_ref().map(|(name, value)| (*name, value.as_str()))).await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let metadata = json!({"traceparent": format!("00-{trace}-00f067aa0ba902b7-01")});
    let params = json!({"name": "get_run", "arguments": {"run_id": seed::RUN_FAILED}, "_meta": metadata});
    server.call("", ("x-api-key", keys::DEMO), &params).await;
    server.end("TERM").await;

    let spans = received.lock().expect("no panic").clone();
    let has = |part: &[u8]| spans.windows(part.len()).any(|window| window == part);
    assert!(has(b"tools/call get_run") && has(b"mcp.method.name") && has(b"tas-mcp"));
    assert!(has(&0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes()), "the trace of the client");
    assert!(!has(seed::RUN_FAILED.as_bytes()) && !has(keys::DEMO.as_bytes()));
}
