//! The limits of the number of requests.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tas_mcp::sandbox::keys;
use tokio::sync::Semaphore;

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, json_of, with_headers},
    service::Service,
    stub::Stub,
};

const DEMO: [(&str, &str); 1] = [("x-api-key", keys::DEMO)];
const ARENA: [(&str, &str); 1] = [("x-api-key", keys::ARENA)];

/// Starts a server for three requests at once, and one more each second.
fn start_slow(service: &Service) -> HttpUnderTest {
    HttpUnderTest::start(&service.settings("", &[&FREE_PORTS[..], &[("TAS_HTTP_RATE", "1")]].concat()))
}

#[tokio::test]
async fn a_client_that_calls_too_often_is_told_when_to_call_again() {
    let service = Service::start().await;
    let server = start_slow(&service);
    for _ in 0..4 {
        // The first call counts towards the rate of the address, because the key is not accepted yet.
        server.call("/mcp", &DEMO, "list_runs", json!({})).await;
    }
    let requests = service.requests().await.len();
    let result = server.call("/mcp", &DEMO, "list_runs", json!({})).await;
    let listed = server.modern("/mcp", &DEMO, "tools/list", json!({})).await;

    let error: Value =
        serde_json::from_str(result["content"][0]["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!(error["error"]["code"], "rate_limited", "{error}");
    assert_eq!(error["error"]["details"]["retry_after_s"], 1, "{error}");
    assert_eq!(service.requests().await.len(), requests, "nothing was sent");
    assert_eq!(listed.status().as_u16(), 429);
    assert_eq!(listed.headers()["retry-after"], "1");
    assert_eq!(json_of(listed).await["id"], 1);
}

#[tokio::test]
async fn strangers_have_the_rate_of_their_address() {
    let service = Service::start().await;
    let server = start_slow(&service);
    let guesses = (0..20).map(async |number| {
        let key = format!("svc_guess_{number}");
        let params = json!({"name": "list_runs", "arguments": {}});
        server.modern("/mcp", &[("x-api-key", &key)], "tools/call", params).await.status().as_u16()
    });
    let statuses = join_all(guesses).await;
    assert!(statuses.contains(&429) && statuses.contains(&200), "{statuses:?}");
    assert!(service.requests().await.len() < 20);

    for (method, path) in
        [("GET", "/nothing"), ("GET", "/mcp"), ("POST", "/mcp/x/no-such-word"), ("POST", "/mcp/demo/other")]
    {
        let server = start_slow(&service);
        let requests = (0..20).map(async |_| {
            let response = server.request(method, path).send().await.expect("a response");
            response.status().as_u16()
        });
        let statuses = join_all(requests).await;
        assert!(statuses.iter().all(|status| (400..=429).contains(status)), "{path}: {statuses:?}");
        assert!(statuses.contains(&429), "{path}: {statuses:?}");
        assert!(statuses.iter().any(|status| *status != 429), "{path}: {statuses:?}");
    }
}

/// Starts a service without runs that answers requests for them only when a permit is added. Other lists are answered at once.
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
            let status = if target.starts_with("GET /runs/") { 404 } else { 200 };
            (status, json!({"data": [], "pagination": pagination}))
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
    // The service has accepted both keys.
    for headers in [DEMO, ARENA] {
        server.call("/mcp", &headers, "list_builds", json!({})).await;
    }

    let slow = server.call("/mcp", &DEMO, "list_runs", json!({}));
    let others = async {
        wait_for_requests(&service, 3).await;
        let refused = server.call("/mcp", &DEMO, "list_builds", json!({})).await;
        let allowed = server.call("/mcp", &ARENA, "list_builds", json!({})).await;
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

    let slow = server.call("/mcp", &DEMO, "list_runs", json!({}));
    let others = async {
        wait_for_requests(&service, 1).await;
        let listed = server.modern("/mcp", &ARENA, "tools/list", json!({})).await;
        gate.add_permits(1);
        listed
    };
    let (_, listed) = tokio::join!(slow, others);

    assert_eq!(listed.status().as_u16(), 503);
    assert_eq!(listed.headers()["retry-after"], "1");
}

#[tokio::test]
async fn long_messages_are_served_one_of_each_credential_and_four_of_all() {
    let (service, gate) = start_gated_service().await;
    let server = HttpUnderTest::start(&service.settings("", &FREE_PORTS));
    let keys: Vec<_> = (1..=5).map(|number| format!("svc_key_{number}")).collect();
    // The service accepts the keys.
    for key in &keys {
        server.call("/mcp", &[("x-api-key", key)], "list_builds", json!({})).await;
    }

    let params = json!({"name": "list_runs", "arguments": {}});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let send = async |key: &str, length| {
        let request = with_headers(server.post("/mcp"), &[("x-api-key", key)]);
        let request = request.body(format!("{message}{}", " ".repeat(length)));
        request.send().await.expect("a response").status().as_u16()
    };
    let others = async {
        wait_for_requests(&service, 5 + 4).await;
        let refused = [send(&keys[0], 64 << 10).await, send(&keys[4], 64 << 10).await];
        gate.add_permits(4);
        refused
    };
    let long = join_all(keys[..4].iter().map(|key| send(key, 64 << 10)));
    let (answers, refused) = tokio::join!(long, others);

    assert_eq!((answers, refused), (vec![200; 4], [429, 503]));
    assert_eq!(send(&keys[0], 4 << 20).await, 413);
}

/// Fills the share of one credential with `count` calls of a tool that reads a run, and returns its next call after that
/// another credential and another tool were served.
async fn call_beyond_the_share(count: usize, tool: &str, arguments: &Value) -> Value {
    let (service, gate) = start_gated_service().await;
    let variables = [&FREE_PORTS[..], &[("TAS_TOOLSETS", "all")]].concat();
    let server = HttpUnderTest::start(&service.settings("", &variables));
    for headers in [DEMO, ARENA] {
        server.call("/mcp", &headers, "list_builds", json!({})).await;
    }

    let call = async |headers| server.call("/mcp", headers, tool, arguments.clone()).await;
    let beyond = async {
        wait_for_requests(&service, 2 + count).await;
        let refused = call(&DEMO).await;
        server.call("/mcp", &DEMO, "list_builds", json!({})).await;
        assert_eq!(service.requests().len(), 2 + count + 1, "the refused call sent nothing");
        refused
    };
    let other = async {
        wait_for_requests(&service, 2 + count + 1).await;
        call(&ARENA).await;
    };
    let opened = async {
        wait_for_requests(&service, 2 + count + 2).await;
        gate.add_permits(100);
    };

    let (_, refused, ..) = tokio::join!(join_all((0..count).map(|_| call(&DEMO))), beyond, other, opened);
    let error: Value =
        serde_json::from_str(refused["content"][0]["text"].as_str().expect("a text")).expect("JSON");
    error["error"].clone()
}

#[tokio::test]
async fn one_credential_takes_an_eighth_of_the_waits() {
    let error = call_beyond_the_share(256 / 8, "wait_for_completion", &json!({"run_id": "run1"})).await;
    assert_eq!(error["message"], "too many simultaneous waits with this credential or from this address");
    assert_eq!((&error["code"], &error["details"]["retry_after_s"]), (&json!("rate_limited"), &json!(30)));
}

#[tokio::test]
async fn one_credential_takes_an_eighth_of_the_calls_for_pictures() {
    let error = call_beyond_the_share(64 / 8, "get_live_run", &json!({"run_id": "run1"})).await;
    assert_eq!(
        error["message"],
        "too many simultaneous calls for pictures with this credential or from this address"
    );
    assert_eq!((&error["code"], &error["details"]["retry_after_s"]), (&json!("rate_limited"), &json!(1)));
}
