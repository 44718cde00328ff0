//! The time limit and the progress of a summary.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tas_mcp::clock::Clock as _;

use super::{
    TOOL, against, each, execution,
    history::{History, Test, uuid},
};
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    stub::Stub,
    time::SimulatedClock,
};

/// Opens a session with a service that never answers requests with `silent`. From the first of them on, time limits
/// expire.
async fn open_with_silence(history: History, silent: &'static str) -> Session<Stub> {
    let (history, clock) = (Arc::new(history), Arc::<SimulatedClock>::default());
    let expiring = Arc::clone(&clock);
    let stub = Stub::start(move |target| {
        let (history, clock) = (Arc::clone(&history), Arc::clone(&expiring));
        async move {
            if target.contains(silent) {
                clock.set_time_limits_expire(true);
                std::future::pending::<()>().await;
            }
            history.answer(&target)
        }
    })
    .await;

    Fixture::new().simulated_time_by(clock).open_with(stub).await
}

fn tests(count: usize, result: &str) -> Vec<Test> {
    (0..count).map(|number| Test::new(number, &[result])).collect()
}

/// Calls the tool with a progress token. Returns the result and the progress notifications.
async fn call_with_progress(host: &mut Host, arguments: Value) -> (Value, Vec<Value>) {
    let params = json!({"name": TOOL, "arguments": arguments, "_meta": {"progressToken": "t"}});
    let id = host.start("tools/call", params).await;
    let mut notifications = Vec::new();

    loop {
        let message = host.receive().await;
        if message["id"] == id {
            return (message["result"].clone(), notifications);
        }
        assert_eq!(message["method"], "notifications/progress");
        notifications.push(message["params"].clone());
    }
}

/// Hosts give up after a minute, even with progress. What has not been read by then is reported.
#[tokio::test]
async fn the_time_limit_ends_the_reading_of_failures() {
    let mut session = open_with_silence(History::new(&tests(8, "FAILED")), "/runs/").await;
    let (result, notifications) = call_with_progress(&mut session.host, execution(&uuid(0xe, 0))).await;
    let summary = &result["structuredContent"];

    assert_eq!(session.clock.now(), Duration::from_secs(40));
    assert_eq!(each(&summary["failures"], "/verdict"), ["FAILED"; 8]);
    assert_eq!(each(&summary["unread"], "/why"), ["the time limit of the call has passed"]);
    assert_eq!(each(&summary["unread"], "/what"), ["run r0000a00000, r0001a00000, r0002a00000 and 5 more"]);
    assert!(!notifications.is_empty());

    let first = json!({"progressToken": "t", "progress": 2.0, "total": 10.0, "message": "2 answers read"});

    assert_eq!(notifications[0], first);
}

#[tokio::test]
async fn the_time_limit_ends_the_reading_of_lists() {
    let mut session = open_with_silence(History::new(&tests(150, "SUCCESS")), "&page=1&").await;
    let (result, notifications) = call_with_progress(&mut session.host, execution(&uuid(0xe, 0))).await;
    let summary = &result["structuredContent"];

    assert_eq!(session.clock.now(), Duration::from_secs(40));
    assert_eq!((&summary["verdicts"], &summary["all_passed"]), (&json!({"SUCCESS": 100}), &Value::Null));
    let unread = each(&summary["unread"], "/what");
    assert!(unread.contains(&json!("jobs, page 1")), "{unread:?}");
    assert!(
        notifications[0]["message"].as_str().is_some_and(|said| said.ends_with("answers read")),
        "{notifications:?}"
    );
}

#[tokio::test]
async fn the_time_limit_ends_the_reading_of_the_earlier_result() {
    let mut history = History::new(&tests(1, "FAILED"));
    let last = history.add(&tests(1, "SUCCESS"));
    let mut session = open_with_silence(history, "/test-plan-executions?").await;
    let summary = session.host.succeed(TOOL, against(execution(&last), "previous")).await;

    assert_eq!((&summary["all_passed"], &summary["comparison"]["with"]), (&json!(true), &Value::Null));
    assert_eq!(each(&summary["unread"], "/what"), ["compare_with previous", "bugs of run r0001a00000"]);
    assert_eq!(
        (session.clock.now(), session.service.requests().len()),
        (Duration::from_secs(40), 3),
        "no request after the time limit"
    );
}

#[tokio::test]
async fn a_summary_fails_if_the_record_is_not_read_in_time() {
    let mut session = open_with_silence(History::new(&tests(1, "FAILED")), "/test-plan-executions/").await;
    let error = session.host.fail(TOOL, execution(&uuid(0xe, 0))).await;
    assert_eq!((&error["code"], session.service.requests().len()), (&json!("timeout"), 1), "{error}");
}
