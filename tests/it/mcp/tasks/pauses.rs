//! How long a poll may take, and pauses that the service asks for.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tas_mcp::{clock::Clock as _, sandbox::seed::EXECUTION_IN_PROGRESS};

use super::{TOOL, fixture, long_wait, modern, task_id};
use crate::support::{
    fixture::{Fixture, Session},
    stub::Stub,
    time::SimulatedClock,
};

/// A poll of a large execution has the time limit of every request.
#[tokio::test]
async fn a_poll_may_take_as_long_as_a_request() {
    let clock = SimulatedClock::without_service();
    clock.set_time_limits_expire(true);

    let passing = Arc::clone(&clock);
    let stub = Stub::start(move |target| {
        let passing = Arc::clone(&passing);
        async move {
            if target.contains("/jobs?") {
                return (404, json!({"error": "not found"}));
            }
            // Each expired time limit of the server advances the clock.
            while passing.now() < Duration::from_secs(20) {
                tokio::task::yield_now().await;
            }
            passing.set_time_limits_expire(false);
            (200, json!({"id": EXECUTION_IN_PROGRESS, "status": "in_progress", "total_tests": 9_000}))
        }
    })
    .await;

    let mut session = Fixture::new().simulated_time_by(clock).connect_with(stub);
    let arguments = json!({"test_plan_execution_id": EXECUTION_IN_PROGRESS, "timeout_seconds": 7_200});
    let call = modern(json!({"name": TOOL, "arguments": arguments}), true);
    let task = session.host.request("tools/call", call).await["result"].clone();

    assert_eq!((&task["resultType"], &task["isError"]), (&json!("task"), &Value::Null), "{task}");
    assert_eq!(task["statusMessage"], "0 of 9000 finished");
}

/// Returns the number of requests so far and the poll interval of a working task.
async fn requests_and_interval(session: &mut Session, id: &str) -> (usize, Value) {
    let task = session.get_task(id).await;
    assert_eq!(task["status"], "working", "{task}");
    (session.service.requests().await.len(), task["pollIntervalMs"].clone())
}

#[tokio::test]
async fn the_service_is_not_polled_during_a_pause_that_it_asked_for() {
    for status in [429, 503] {
        let mut session = fixture().connect().await;
        let arguments = long_wait(&mut session).await;
        let id = session.create_task(arguments).await;

        session.pass_seconds(10).await;
        let fault = json!({"operation": "get_job", "status": status, "headers": {"retry-after": "120"}});
        session.service.fault(fault).await;

        let (requests, interval) = requests_and_interval(&mut session, &id).await;

        assert_eq!(interval, 120_000);

        session.pass_seconds(100).await;

        assert_eq!(requests_and_interval(&mut session, &id).await, (requests, json!(20_000)));

        session.pass_seconds(20).await;

        assert_eq!(requests_and_interval(&mut session, &id).await, (requests + 1, json!(13_000)));
    }
}

/// The last poll is due at the end of the wait.
#[tokio::test]
async fn a_longer_pause_of_the_service_does_not_delay_the_end_of_the_wait() {
    let mut session = fixture().connect().await;
    let mut arguments = long_wait(&mut session).await;
    arguments["timeout_seconds"] = json!(60);

    let fault = json!({"operation": "get_job", "status": 429, "headers": {"retry-after": "900"}});
    session.service.fault(fault).await;

    let task = session.call_wait_tool(arguments).await;

    assert_eq!((&task["resultType"], &task["pollIntervalMs"]), (&json!("task"), &json!(60_000)), "{task}");

    session.pass_seconds(60).await;

    assert_eq!(session.get_task(&task_id(&task)).await["result"]["structuredContent"]["status"], "timed_out");
}
