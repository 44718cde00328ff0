//! Progress, and clients that close a response.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, events, json_of},
    service::Service,
    stub::Stub,
};

/// Parameters of a wait for a run that is in progress, with a progress token.
fn wait() -> Value {
    let arguments = json!({"job_ids": [seed::JOB_RUNNING], "timeout_seconds": 1, "poll_interval_seconds": 1});
    json!({"name": "wait_for_completion", "arguments": arguments, "_meta": {"progressToken": "p"}})
}

#[tokio::test]
async fn progress_is_sent_before_the_answer() {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings(keys::DEMO, &FREE_PORTS));
    let response = server.modern("/mcp", &[], "tools/call", wait()).await;

    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    let events: Vec<Value> = events(&response.text().await.expect("text"))
        .iter()
        .map(|event| serde_json::from_str(event).expect("JSON"))
        .collect();
    let (answer, progress) = events.split_last().expect("an answer");

    assert!(!progress.is_empty());
    for notification in progress {
        assert_eq!(notification["method"], "notifications/progress", "{notification}");
        assert_eq!(notification["params"]["progressToken"], "p");
    }
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(false)), "{answer}");
}

#[tokio::test]
async fn a_client_that_accepts_no_events_gets_one_answer() {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings(keys::DEMO, &FREE_PORTS));
    let mut request = server.modern_request("/mcp", "tools/call", wait()).build().expect("a request");
    request.headers_mut().insert("accept", axum::http::HeaderValue::from_static("application/json"));
    let response = crate::support::plain_client().build().expect("a client");
    let response = response.execute(request).await.expect("a response");

    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(json_of(response).await["result"]["isError"], false);
}

/// A client of the newest revision cancels a request by closing the response. An older one may only have lost its
/// connection.
#[tokio::test]
async fn closing_a_response_cancels_a_call_of_the_newest_revision_only() {
    for is_newest in [true, false] {
        let (dropped, mut answers) = tokio::sync::mpsc::unbounded_channel::<bool>();
        let (release, released) = tokio::sync::watch::channel(false);
        let service = Stub::start(move |_| {
            let mut released = released.clone();
            let report = Report { dropped: dropped.clone(), is_answered: false };
            async move {
                let mut report = report;
                released.wait_for(|released| *released).await.expect("a test");
                report.is_answered = true;
                (
                    200,
                    json!({"data": [], "pagination": {"page": 0, "page_size": 1, "total_count": 0, "total_pages": 0}}),
                )
            }
        });
        let service = service.await;
        let server = HttpUnderTest::start(&service.settings(keys::DEMO, &FREE_PORTS));

        let params = json!({"name": "list_runs", "arguments": {}});
        let legacy = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let legacy = server.message("/mcp", &legacy);
        let request = if is_newest { server.modern_request("/mcp", "tools/call", params) } else { legacy };
        tokio::select! {
            _ = request.send() => panic!("the service does not answer"),
            () = async { while service.requests().is_empty() { tokio::task::yield_now().await; } } => {}
        }

        if !is_newest {
            // A further request shows that the server has noticed the closed connection of the first one.
            server.admin("/healthz").await;
            release.send_replace(true);
        }
        assert_eq!(answers.recv().await, Some(!is_newest), "newest revision: {is_newest}");
    }
}

/// Reports whether a request to the service was answered when its future is dropped.
struct Report {
    dropped: tokio::sync::mpsc::UnboundedSender<bool>,
    is_answered: bool,
}

impl Drop for Report {
    fn drop(&mut self) {
        // The test may have ended.
        self.dropped.send(self.is_answered).unwrap_or_default();
    }
}
