//! How long a look may take, and how long the service is left alone.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use tas_mcp::{
    gateway::Gateway,
    mcp::Server,
    sandbox::{keys, seed::EXECUTION_IN_PROGRESS},
    waiting::Clock as _,
};

use super::{TOOL, modern};
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
    let mut host = Host::to(Server::with(Gateway::new(&settings).with_clock(clock), &settings));
    let arguments = json!({"test_plan_execution_id": EXECUTION_IN_PROGRESS, "timeout_seconds": 7_200});
    let call = modern(json!({"name": TOOL, "arguments": arguments}), true);
    let task = host.request("tools/call", call).await["result"].clone();
    assert_eq!((&task["resultType"], &task["isError"]), (&json!("task"), &Value::Null), "{task}");
    assert_eq!(task["statusMessage"], "0 of 9000 finished");
}
