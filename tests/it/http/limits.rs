//! The limits of the number and the length of requests.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tas_mcp::sandbox::keys;
use tokio::{sync::Semaphore, time::Instant};

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, json_of},
    service::Service,
    stub::Stub,
};

#[tokio::test]
async fn a_client_that_calls_too_often_is_told_when_to_call_again() {
    let service = Service::start().await;
    let variables = [&FREE_PORTS[..], &[("TAS_HTTP_RATE", "1")]].concat();
    let server = HttpUnderTest::start(&service.settings("", &variables));

    // The burst of a client without an accepted key is that of its address, whatever keys it sends.
    for key in ["svc_guess_1", "svc_guess_2", "svc_guess_3"] {
        server.call("/mcp", &[("x-api-key", key)], "list_runs", json!({})).await;
    }
    let requests = service.requests().await.len();

    // A refusal comes late, when a request is allowed again, so that these are sent at the same time.
    let key = [("x-api-key", "svc_guess_4")];
    let long = json!({"name": "list_runs", "arguments": {"x": "y".repeat(5_000)}});
    let start = Instant::now();
    let (result, listed, refused) = tokio::join!(
        server.call("/mcp", &key, "list_runs", json!({})),
        server.modern("/mcp", &[], "tools/list", json!({})),
        server.modern("/mcp", &[], "tools/call", long),
    );
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());

    let error: Value =
        serde_json::from_str(result["content"][0]["text"].as_str().expect("a text")).expect("JSON");

    assert_eq!(error["error"]["code"], "rate_limited", "{error}");
    assert_eq!(error["error"]["details"]["retry_after_s"], 1, "{error}");
    assert_eq!(service.requests().await.len(), requests, "nothing was sent");

    assert_eq!(listed.status().as_u16(), 429);
    assert_eq!(listed.headers()["retry-after"], "1");
    assert_eq!(json_of(listed).await["id"], 1);
    assert_eq!(refused.status().as_u16(), 429);
    assert_eq!(json_of(refused).await["id"], Value::Null, "a long message is not decoded");
}

#[tokio::test]
async fn requests_without_a_known_caller_count_towards_the_rate_of_their_address() {
    let service = Service::start().await;
    for (method, path) in
        [("GET", "/nothing"), ("GET", "/mcp"), ("POST", "/mcp/no such project"), ("POST", "/mcp?api_key=x")]
    {
        let server = HttpUnderTest::start(
            &service.settings("", &[&FREE_PORTS[..], &[("TAS_HTTP_RATE", "1")]].concat()),
        );
        let requests = (0..20).map(async |_| {
            let response = server.request(method, path).send().await.expect("a response");
            response.status().as_u16()
        });
        let statuses = join_all(requests).await;

        assert!(statuses.iter().all(|status| (400..=429).contains(status)), "{path}: {statuses:?}");
        assert!(
            statuses.contains(&429) && statuses.iter().any(|status| *status != 429),
            "{path}: {statuses:?}"
        );
    }
}

/// Starts a service that answers a list of runs only when a permit is added. Other lists are answered at once.
async fn start_gated_service() -> (Stub, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let permits = Arc::clone(&gate);
    let service = Stub::start(move |target| {
        let permits = Arc::clone(&permits);
        async move {
            if target.starts_with("GET /runs") {
                permits.acquire().await.expect("an open gate").forget();
            }
            let pagination = json!({"page": 0, "page_size": 1, "total_count": 0, "total_pages": 0});
            (200, json!({"data": [], "pagination": pagination}))
        }
    });

    (service.await, gate)
}

/// Waits until the service has received this number of requests.
async fn wait_for_requests(service: &Stub, count: usize) {
    while service.requests().len() < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_client_with_too_many_requests_does_not_stop_another_one() {
    let (service, gate) = start_gated_service().await;
    let variables = [&FREE_PORTS[..], &[("TAS_HTTP_CONCURRENCY", "1")]].concat();
    let server = HttpUnderTest::start(&service.settings("", &variables));
    let (demo, arena) = ([("x-api-key", keys::DEMO)], [("x-api-key", keys::ARENA)]);
    // The service has accepted both keys.
    for headers in [demo, arena] {
        server.call("/mcp", &headers, "list_builds", json!({})).await;
    }

    let slow = server.call("/mcp", &demo, "list_runs", json!({}));
    let others = async {
        wait_for_requests(&service, 3).await;
        let refused = server.call("/mcp", &demo, "list_builds", json!({})).await;
        let allowed = server.call("/mcp", &arena, "list_builds", json!({})).await;
        gate.add_permits(1);
        (refused, allowed)
    };
    let (slow, (refused, allowed)) = tokio::join!(slow, others);

    assert!(refused.to_string().contains("too many simultaneous requests with this credential"), "{refused}");
    assert_eq!((&allowed["isError"], &slow["isError"]), (&json!(false), &json!(false)));
}

#[tokio::test]
async fn the_server_refuses_more_requests_than_its_limit() {
    let (service, gate) = start_gated_service().await;
    let variables = [&FREE_PORTS[..], &[("TAS_HTTP_MAX_CALLS", "1")]].concat();
    let server = HttpUnderTest::start(&service.settings("", &variables));

    let slow = server.call("/mcp", &[("x-api-key", keys::DEMO)], "list_runs", json!({}));
    let others = async {
        wait_for_requests(&service, 1).await;
        let listed = server.modern("/mcp", &[("x-api-key", keys::ARENA)], "tools/list", json!({})).await;
        gate.add_permits(1);
        listed
    };
    let (_, listed) = tokio::join!(slow, others);

    assert_eq!(listed.status().as_u16(), 503);
    assert_eq!(listed.headers()["retry-after"], "1");
}

#[tokio::test]
async fn waits_leave_half_of_the_places_to_other_calls() {
    let (service, gate) = start_gated_service().await;
    let variables = [&FREE_PORTS[..], &[("TAS_HTTP_MAX_CALLS", "2")]].concat();
    let server = HttpUnderTest::start(&service.settings("", &variables));
    let wait = json!({"run_id": "r1", "timeout_seconds": 1});

    let waiting = server.call("/mcp", &[("x-api-key", keys::DEMO)], "wait_for_completion", wait.clone());
    let others = async {
        wait_for_requests(&service, 1).await;
        let arena = [("x-api-key", keys::ARENA)];
        let refused = server.call("/mcp", &arena, "wait_for_completion", wait.clone()).await;
        let allowed = server.call("/mcp", &arena, "list_builds", json!({})).await;
        gate.add_permits(10);
        (refused, allowed)
    };
    let (_, (refused, allowed)) = tokio::join!(waiting, others);

    assert!(refused.to_string().contains("too many simultaneous waits of all clients"), "{refused}");
    assert_eq!(allowed["isError"], false, "{allowed}");
}

#[tokio::test]
async fn a_long_body_is_read_only_with_a_credential_that_the_service_accepts() {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings("", &FREE_PORTS));
    let post = async |path: &str, key: &str, length: usize| {
        let call = json!({"name": "list_runs", "arguments": {"unknown": "x".repeat(length)}});
        let response = server.modern(path, &[("x-api-key", key)], "tools/call", call).await;
        let status = response.status().as_u16();
        (status, json_of(response).await["error"]["message"].as_str().unwrap_or_default().to_owned())
    };

    let (status, message) = post("/mcp", "svc_unknown", 100_000).await;
    assert_eq!(status, 413, "{message}");
    assert!(
        message.starts_with("the body is longer than 65536 bytes, and the service has not accepted"),
        "{message}"
    );
    // The calls of this key name their projects, and nothing names one here.
    assert_eq!(post("/mcp", keys::ORGANIZATION, 100_000).await.0, 413);

    assert_eq!(post("/mcp", "svc_unknown", 10_000).await.0, 200);
    assert_eq!(post("/mcp", keys::DEMO, 100_000).await.0, 200);
    assert_eq!(post("/mcp/demo", keys::ORGANIZATION, 100_000).await.0, 200);
}

#[tokio::test]
async fn messages_without_an_answer_count_towards_the_rate() {
    let service = Service::start().await;
    let variables = [&FREE_PORTS[..], &[("TAS_HTTP_RATE", "1")]].concat();
    let server = HttpUnderTest::start(&service.settings("", &variables));
    let notify = async || {
        let message = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let response = server.post("/mcp").body(message.to_string()).send().await;
        response.expect("a response").status().as_u16()
    };

    for _ in 0..3 {
        assert_eq!(notify().await, 202);
    }
    assert_eq!(notify().await, 429);
}

#[tokio::test]
async fn a_long_body_counts_no_more_requests_than_may_arrive_at_once() {
    let service = Service::start().await;
    // One request is allowed per second, so that nothing is allowed again before the body has arrived.
    let server =
        HttpUnderTest::start(&service.settings("", &[&FREE_PORTS[..], &[("TAS_HTTP_RATE", "1")]].concat()));
    let long = json!({"name": "list_runs", "arguments": {"unknown": "x".repeat(3 << 20)}});

    let response = server.modern("/mcp", &[("x-api-key", keys::DEMO)], "tools/call", long).await;
    assert_eq!(response.status().as_u16(), 200);
}

#[tokio::test]
async fn the_longest_body_that_the_settings_allow_is_read() {
    let service = Service::start().await;
    let variables = [&FREE_PORTS[..], &[("TAS_HTTP_MAX_BODY", "67108864")]].concat();
    let server = HttpUnderTest::start(&service.settings("", &variables));
    let long = json!({"name": "list_runs", "arguments": {"unknown": "x".repeat(40 << 20)}});

    let headers = [("x-api-key", keys::DEMO)];
    let before = server.modern("/mcp", &headers, "tools/call", long.clone()).await;
    server.call("/mcp", &headers, "list_runs", json!({})).await;
    let after = server.modern("/mcp", &headers, "tools/call", long).await;

    // The key is accepted between the two requests.
    assert_eq!((before.status().as_u16(), after.status().as_u16()), (200, 200));
}
