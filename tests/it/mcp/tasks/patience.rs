//! How long a look may take, and how long the service is left alone.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use tas_mcp::{
    clock::Clock as _,
    mcp::Server,
    sandbox::{keys, seed::EXECUTION_IN_PROGRESS},
    tools::dispatcher::Dispatcher,
};

use super::{TOOL, id, long, modern, open};
use crate::support::{host::Host, service::Service, stub::Stub, time::Simulated};

/// A large execution takes its time: a look has as much of it as any request.
#[tokio::test]
async fn a_look_may_take_as_long_as_a_request() {
    let service = Arc::new(Service::start().await);
    let clock = Simulated::of(&service);
    clock.is_slow.store(true, Ordering::Relaxed);

    let passing = Arc::clone(&clock);
    let stub = Stub::start(move |target| {
        let passing = Arc::clone(&passing);
        async move {
            if target.contains("/jobs?") {
                return (404, json!({"error": "not found"}));
            }
            while passing.now() < Duration::from_secs(20) {
                tokio::task::yield_now().await;
            }
            passing.is_slow.store(false, Ordering::Relaxed);
            (200, json!({"id": EXECUTION_IN_PROGRESS, "status": "in_progress", "total_tests": 9_000}))
        }
    })
    .await;

    let settings = stub.settings(keys::DEMO, &[]);
    let mut host =
        Host::to(Server::new(Dispatcher::new(settings.tools_config()).with_clock(clock), &settings));
    let arguments = json!({"test_plan_execution_id": EXECUTION_IN_PROGRESS, "timeout_seconds": 7_200});
    let call = modern(json!({"name": TOOL, "arguments": arguments}), true);
    let task = host.request("tools/call", call).await["result"].clone();

    assert_eq!((&task["resultType"], &task["isError"]), (&json!("task"), &Value::Null), "{task}");
    assert_eq!(task["statusMessage"], "0 of 9000 finished");
}

/// How many requests there were, and what a task is.
async fn asked(scene: &mut super::Scene, id: &str) -> (usize, Value) {
    let task = scene.get(id).await;
    assert_eq!(task["status"], "working", "{task}");
    (scene.service.requests().await.len(), task["pollIntervalMs"].clone())
}

#[tokio::test]
async fn the_service_is_left_alone_for_as_long_as_it_asks() {
    for status in [429, 503] {
        let mut scene = open().await;
        let arguments = long(&mut scene).await;
        let id = scene.begin(arguments).await;

        scene.pass(10).await;
        let fault = json!({"operation": "get_job", "status": status, "headers": {"retry-after": "120"}});
        scene.service.fault(fault).await;

        let (requests, interval) = asked(&mut scene, &id).await;

        assert_eq!(interval, 120_000);

        scene.pass(100).await;

        assert_eq!(asked(&mut scene, &id).await, (requests, json!(20_000)));

        scene.pass(20).await;

        assert_eq!(asked(&mut scene, &id).await, (requests + 1, json!(13_000)));
    }
}

/// Whoever is asked for more patience than the wait has looks once more at its end.
#[tokio::test]
async fn a_wait_ends_in_its_time_whatever_the_service_asks() {
    let mut scene = open().await;
    let mut arguments = long(&mut scene).await;
    arguments["timeout_seconds"] = json!(60);

    let fault = json!({"operation": "get_job", "status": 429, "headers": {"retry-after": "900"}});
    scene.service.fault(fault).await;

    let task = scene.wait(arguments).await;

    assert_eq!((&task["resultType"], &task["pollIntervalMs"]), (&json!("task"), &json!(60_000)), "{task}");

    scene.pass(60).await;

    assert_eq!(scene.get(&id(&task)).await["result"]["structuredContent"]["status"], "timed_out");
}
