//! Spans of requests, and the collector that receives them.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use http::StatusCode;
use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

#[cfg(unix)]
use crate::support::http_process::HttpProcess;
use crate::support::{
    binary::run_binary,
    collector::{Collector, Span},
    http_client::{FREE_PORTS, HttpUnderTest},
    service::Service,
};

/// A valid `traceparent` of a client that records its trace, the trace and the span in it.
const CLIENT: (&str, &str, &str) = (
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "4bf92f3577b34da6a3ce929d0e0e4736",
    "00f067aa0ba902b7",
);

/// The same of a proxy.
const PROXY: (&str, &str, &str) = (
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "0af7651916cd43dd8448eb211c80319c",
    "b7ad6b7169203331",
);

/// Starts a server that sends spans to `collector`.
fn start(service: &Service, collector: &Collector) -> HttpUnderTest {
    let own = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()), ("TAS_HTTP_DRAIN_S", "0")];
    HttpUnderTest::start(&service.settings(keys::DEMO, &[&FREE_PORTS[..], &own].concat()))
}

/// Ends the server, which sends its last spans. Returns all spans.
async fn spans_until_end(mut server: HttpUnderTest, collector: &Collector) -> Vec<Span> {
    server.stop();
    (&mut server.serving).await.expect("an end");
    collector.spans()
}

/// Returns the parameters of a call that reads a run, with this metadata.
fn read_run(metadata: &Value) -> Value {
    json!({"name": "get_run", "arguments": {"run_id": seed::RUN_FAILED}, "_meta": metadata})
}

#[tokio::test]
async fn a_call_is_a_span_below_the_span_of_its_client() {
    let (service, collector) = (Service::start().await, Collector::accepting().await);
    let server = start(&service, &collector);
    let metadata = json!({"traceparent": CLIENT.0, "tracestate": "vendor=1"});
    server.modern("/mcp", &[("traceparent", PROXY.0)], "tools/call", read_run(&metadata)).await;

    let spans = spans_until_end(server, &collector).await;
    let [span] = &spans[..] else { panic!("{spans:#?}") };
    assert_eq!((span.name.as_str(), span.kind), ("tools/call get_run", 2));
    assert_eq!((span.trace.as_str(), span.parent.as_str()), (CLIENT.1, CLIENT.2));
    assert_eq!((&span.links[..], span.state.as_str()), (&[PROXY.2.to_owned()][..], "vendor=1"));
    assert_eq!(span.status, (0, String::new()));
    assert!(span.times.0 > 0 && span.times.0 <= span.times.1, "{:?}", span.times);
    assert_eq!(span.resource["service.name"], "tas-mcp");

    let expected = [
        ("client.address", "127.0.0.1"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "get_run"),
        ("jsonrpc.request.id", "1"),
        ("mcp.method.name", "tools/call"),
        ("mcp.protocol.version", "2026-07-28"),
        ("network.protocol.name", "http"),
        ("network.protocol.version", "1.1"),
        ("network.transport", "tcp"),
    ];
    let found: Vec<_> = span.attributes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn the_parent_is_in_the_metadata_or_in_the_headers() {
    let (service, collector) = (Service::start().await, Collector::accepting().await);
    let server = start(&service, &collector);
    let unsampled = CLIENT.0.replace("-01", "-00");
    let long_state = ["a", "b", "c"].map(|vendor| format!("{vendor}={}", "x".repeat(200))).join(",");
    let cases = [
        (json!({"traceparent": CLIENT.0}), None, CLIENT.2),
        (json!({}), Some(PROXY.0), PROXY.2),
        (json!({"traceparent": "00-none"}), Some(PROXY.0), PROXY.2),
        (json!({"traceparent": 7}), Some(PROXY.0), PROXY.2),
        (json!({"traceparent": CLIENT.0, "tracestate": long_state}), Some(CLIENT.0), CLIENT.2),
        (json!({}), Some("planted"), ""),
        (json!({}), None, ""),
        // The client does not record this trace.
        (json!({"traceparent": unsampled}), None, "no span"),
    ];
    for (metadata, header, _) in &cases {
        let headers: Vec<_> = header.iter().map(|value| ("traceparent", *value)).collect();
        server.modern("/mcp", &headers, "tools/call", read_run(metadata)).await;
    }

    let spans = spans_until_end(server, &collector).await;
    let parents: Vec<_> = spans.iter().map(|span| span.parent.as_str()).collect();
    let expected = cases.iter().map(|(.., parent)| *parent).filter(|parent| *parent != "no span");
    assert_eq!(parents, expected.collect::<Vec<_>>());
    assert!(spans.iter().all(|span| span.links.is_empty() && span.state.is_empty()), "{spans:#?}");
}

#[tokio::test]
async fn a_span_names_the_kind_of_its_failure() {
    let (service, collector) = (Service::start().await, Collector::accepting().await);
    let server = start(&service, &collector);
    let unknown_run = json!({"name": "get_run", "arguments": {"run_id": "none"}});
    let prompt = json!({"name": "triage-run", "arguments": {"run_id": seed::RUN_FAILED}});
    let cases = [
        ("tools/call", unknown_run, ("tools/call get_run", "tool_error", "", 2)),
        ("tools/call", json!({"name": "planted"}), ("tools/call", "-32602", "-32602", 2)),
        ("prompts/get", prompt, ("prompts/get triage_run", "", "", 0)),
        ("prompts/get", json!({"name": "planted"}), ("prompts/get", "-32602", "-32602", 2)),
        ("resources/read", json!({"uri": "tas://planted"}), ("resources/read", "-32602", "-32602", 2)),
        ("planted/method", json!({}), ("other", "-32601", "-32601", 2)),
    ];
    for (method, params, _) in &cases {
        server.modern("/mcp", &[], method, params.clone()).await;
    }

    let spans = spans_until_end(server, &collector).await;
    let attribute = |span: &Span, key: &str| span.attributes.get(key).cloned().unwrap_or_default();
    assert_eq!(spans.len(), cases.len(), "{spans:#?}");
    for (span, (.., (name, error, code, status))) in spans.iter().zip(&cases) {
        let found = (attribute(span, "error.type"), attribute(span, "rpc.response.status_code"));
        assert_eq!((span.name.as_str(), &*found.0, &*found.1), (*name, *error, *code), "{span:#?}");
        assert_eq!(span.status, (*status, String::new()), "{span:#?}");
    }
}

#[tokio::test]
async fn a_span_has_no_key_no_argument_and_no_long_text_of_a_client() {
    let (service, collector) = (Service::start().await, Collector::accepting().await);
    let server = start(&service, &collector);
    let metadata = json!({"traceparent": CLIENT.0, "baggage": "planted=planted"});
    let mut params = read_run(&metadata);
    params["arguments"]["run_id"] = json!("planted");
    let key = [("x-api-key", keys::ORGANIZATION)];
    server.modern("/mcp/planted?planted=planted", &key, "tools/call", params.clone()).await;
    // A longer id is refused before a method runs.
    let message = json!({"jsonrpc": "2.0", "id": "i".repeat(256), "method": "tools/call", "params": params});
    let request = server.post("/mcp").header("authorization", format!("Bearer {}", keys::ARENA));
    request.body(message.to_string()).send().await.expect("a response");

    let spans = spans_until_end(server, &collector).await;
    assert_eq!(spans.len(), 2, "{spans:#?}");
    for (headers, body) in collector.requests() {
        let sent = format!("{headers:?} {}", String::from_utf8_lossy(&body));
        for secret in ["planted", keys::DEMO, keys::ORGANIZATION, keys::ARENA] {
            assert!(!sent.contains(secret), "{secret} is in {sent}");
        }
        assert!(sent.len() < 10_000, "{} bytes", sent.len());
    }
}

/// Sets its flag when it is dropped.
struct Ending(Arc<AtomicBool>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn a_collector_that_never_answers_delays_neither_calls_nor_the_end() {
    let given_up = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&given_up);
    let collector = Collector::start(move || {
        let ending = Ending(Arc::clone(&flag));
        async move {
            let _ending = ending;
            std::future::pending().await
        }
    });
    let (service, collector) = (Service::start().await, collector.await);
    let own = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()),
        ("TAS_HTTP_RATE", "100000"),
        ("TAS_HTTP_DRAIN_S", "0"),
    ];
    let mut server = HttpUnderTest::start(&service.settings(keys::DEMO, &[&FREE_PORTS[..], &own].concat()));
    // A full batch is sent at once, and an incomplete one after a while.
    while collector.requests().is_empty() {
        server.legacy("/mcp", &[], "ping", json!({})).await;
    }

    let result = server.call("/mcp", &[], "get_run", json!({"run_id": seed::RUN_FAILED})).await;
    assert_eq!(result["isError"], false, "{result}");

    server.stop();
    (&mut server.serving).await.expect("an end");
    assert!(!given_up.load(Ordering::Relaxed), "the end has waited until the exporter gave up");
}

#[tokio::test]
async fn nothing_is_sent_if_traces_are_switched_off() {
    let (service, collector) = (Service::start().await, Collector::accepting().await);
    for off in [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")] {
        let own = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()), ("TAS_HTTP_DRAIN_S", "0"), off];
        let server = HttpUnderTest::start(&service.settings(keys::DEMO, &[&FREE_PORTS[..], &own].concat()));
        server.legacy("/mcp", &[], "ping", json!({})).await;
        assert!(spans_until_end(server, &collector).await.is_empty(), "{off:?}");
    }
}

#[tokio::test]
async fn an_address_of_a_collector_that_cannot_be_used_ends_the_start() {
    for address in ["collector:4317", "https://planted@collector.example"] {
        let variables =
            [("TAS_BASE_URL", "http://127.0.0.1:9/api/v1"), ("OTEL_EXPORTER_OTLP_ENDPOINT", address)];
        let output = run_binary(&["http"], &variables, &[]).await;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();

        assert_eq!(output.status.code(), Some(2), "{address}: {errors}");
        assert!(errors.contains("OTEL_EXPORTER_OTLP_ENDPOINT") && !errors.contains("planted"), "{errors}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn the_variables_of_the_exporter_apply_and_a_refusal_is_reported() {
    let service = Service::start().await;
    let collector = Collector::start(|| std::future::ready(StatusCode::BAD_REQUEST)).await;
    let base_url = service.base_url();
    let variables = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=planted"),
        ("OTEL_SERVICE_NAME", "team server"),
        ("OTEL_BSP_SCHEDULE_DELAY", "1"),
    ];
    let server = HttpProcess::start(&variables).await;
    let call = read_run(&json!({}));
    while collector.requests().len() < 3 {
        assert_eq!(server.call("", ("x-api-key", keys::DEMO), &call).await, 200);
    }

    let (log, _) = server.stop().await;
    assert!(log.contains("spans are lost"), "{log}");
    assert!(log.contains("status code: 400") && !log.contains("planted"), "{log}");
    assert_eq!(collector.spans()[0].resource["service.name"], "team server");
    let (headers, _) = &collector.requests()[0];
    assert_eq!(headers["authorization"], "planted");
    assert!(headers["user-agent"].to_str().is_ok_and(|agent| agent.starts_with("OTel-")), "{headers:?}");
}
