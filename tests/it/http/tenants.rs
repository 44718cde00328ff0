//! Callers at the same time. Nothing that one of them causes is visible to another one.

use futures_util::{StreamExt as _, stream};
use proptest::{collection, prelude::*, strategy::ValueTree as _, test_runner::TestRunner};
use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, json_of},
    service::Service,
};

/// Number of requests that alternate at random between the callers.
const REQUESTS: usize = 1_000;

/// Number of requests in flight.
const IN_FLIGHT: usize = 16;

/// The callers. All have the same requests.
const KEYS: [&str; 3] = [keys::DEMO, keys::ARENA, keys::POWERLESS];

/// Returns the requests, with ids of two projects.
fn requests(foreign_run: &str) -> Vec<(&'static str, Value)> {
    let call = |tool: &str, arguments: Value| ("tools/call", json!({"name": tool, "arguments": arguments}));
    let completion = json!({
        "ref": {"type": "ref/resource", "uri": "tas://projects/{project}/runs/{run_id}"},
        "argument": {"name": "run_id", "value": ""},
        "context": {"arguments": {"project": seed::DEMO_PROJECT}},
    });

    vec![
        call("list_runs", json!({"page_size": 3})),
        call("get_run", json!({"run_id": seed::RUN_FAILED})),
        call("get_run", json!({"run_id": foreign_run})),
        call("get_run", json!({"run_id": seed::RUN_FAILED, "project_id": seed::ARENA_PROJECT})),
        call("summarize_results", json!({"run_id": seed::RUN_FAILED})),
        call("find_by_name", json!({"names": ["Pause and resume"], "kinds": ["test"]})),
        call("delete_test", json!({"test_id": seed::TEST_FAILS})),
        ("resources/read", json!({"uri": format!("tas://projects/demo/runs/{}", seed::RUN_FAILED)})),
        ("completion/complete", completion),
        ("tools/list", json!({})),
    ]
}

async fn send(server: &HttpUnderTest, key: &str, (method, params): &(&str, Value)) -> Value {
    let mut answer =
        json_of(server.modern("/mcp", &[("x-api-key", key)], method, params.clone()).await).await;
    // The sealed state of a question is a new one each time.
    answer.pointer_mut("/result").and_then(Value::as_object_mut).map(|result| result.remove("requestState"));
    answer
}

fn start(service: &Service) -> HttpUnderTest {
    let limits = [("TAS_HTTP_RATE", "100000"), ("TAS_TOOLSETS", "all")];
    HttpUnderTest::start(&service.settings("", &[&FREE_PORTS[..], &limits].concat()))
}

#[tokio::test]
async fn a_caller_gets_the_answers_that_it_would_get_alone() {
    let service = Service::start().await;
    let list = ("tools/call", json!({"name": "list_runs", "arguments": {"page_size": 1}}));
    let listed = send(&start(&service), keys::ARENA, &list).await;
    let foreign_run = &listed["result"]["structuredContent"]["data"][0]["multiplayer_run_id"];
    let requests = requests(foreign_run.as_str().expect("a run"));

    let mut expected = Vec::new();
    for key in KEYS {
        let alone = start(&service);
        // A second round finds what the first one has left behind.
        for round in 0..2 {
            for (number, request) in requests.iter().enumerate() {
                let answer = send(&alone, key, request).await;
                if round == 0 {
                    expected.push(answer);
                } else {
                    let first = expected.len() - requests.len() + number;
                    assert_eq!(answer, expected[first], "{key} {request:?} again");
                }
            }
        }
    }

    let order = collection::vec((0..KEYS.len(), 0..requests.len()), REQUESTS);
    let order = order.new_tree(&mut TestRunner::deterministic()).expect("an order").current();
    let together = start(&service);
    let mut answers = stream::iter(&order)
        .map(|(key, request)| {
            let (together, requests) = (&together, &requests);
            async move { (*key, *request, send(together, KEYS[*key], &requests[*request]).await) }
        })
        .buffer_unordered(IN_FLIGHT);

    while let Some((key, request, answer)) = answers.next().await {
        assert_eq!(answer, expected[key * requests.len() + request], "{} {:?}", KEYS[key], requests[request]);
    }
}
