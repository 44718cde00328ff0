//! The time limit and the progress of a summary.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tas_mcp::{clock::Clock, mcp::Server, sandbox::keys, tools::dispatcher::Dispatcher};
use tokio::sync::watch;

use super::{
    TOOL, against, each, execution,
    history::{History, Test, uuid},
};
use crate::support::{host::Host, stub::Stub};

/// A clock that stands still until it is started. From then on every request takes too long.
#[derive(Debug, Default)]
struct Started {
    runs: watch::Sender<bool>,
    now: Mutex<Duration>,
}

impl Clock for Started {
    fn now(&self) -> Duration {
        *self.now.lock().expect("no test panics here")
    }

    fn timestamp(&self) -> jiff::Timestamp {
        jiff::Timestamp::UNIX_EPOCH
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()> {
        self.timeout(span)
    }

    fn timeout(&self, span: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let runs = self.runs.subscribe().wait_for(|runs| *runs).await.map(|runs| *runs);
            assert!(runs.is_ok_and(|runs| runs));
            tokio::task::yield_now().await;
            *self.now.lock().expect("no test panics here") += span;
        })
    }
}

/// Starts a service that never answers requests with `silent`. The first of them starts the clock.
async fn serve_silently(history: History, silent: &'static str) -> (Stub, Host, Arc<Started>) {
    let (history, clock) = (Arc::new(history), Arc::new(Started::default()));
    let starting = Arc::clone(&clock);
    let stub = Stub::start(move |target| {
        let (history, clock) = (Arc::clone(&history), Arc::clone(&starting));
        async move {
            if target.contains(silent) {
                clock.runs.send_replace(true);
                std::future::pending::<()>().await;
            }
            history.answer(&target)
        }
    })
    .await;

    let settings = stub.settings(keys::DEMO, &[]);
    let server = Server::new(Dispatcher::new(settings.tools_config()).with_clock(clock.clone()), &settings);
    let mut host = Host::to(server);

    host.initialize("2025-11-25").await;

    (stub, host, clock)
}

fn tests(count: usize, result: &str) -> Vec<Test> {
    (0..count).map(|number| Test::new(number, &[result])).collect()
}

/// Calls the tool with a progress token. Returns the result and the progress notifications.
async fn call_with_progress(host: &mut Host, arguments: Value) -> (Value, Vec<Value>) {
    let params = json!({"name": TOOL, "arguments": arguments, "_meta": {"progressToken": "t"}});
    let id = host.start("tools/call", params).await;
    let mut told = Vec::new();

    loop {
        let message = host.receive().await;
        if message["id"] == id {
            return (message["result"].clone(), told);
        }
        assert_eq!(message["method"], "notifications/progress");
        told.push(message["params"].clone());
    }
}

/// Hosts give up after a minute, even with progress. What has not been read by then is reported.
#[tokio::test]
async fn the_time_limit_ends_the_reading_of_failures() {
    let (_stub, mut host, clock) = serve_silently(History::of(&tests(8, "FAILED")), "/runs/").await;
    let (result, told) = call_with_progress(&mut host, execution(&uuid(0xe, 0))).await;
    let summary = &result["structuredContent"];

    assert_eq!(clock.now(), Duration::from_secs(40));
    assert_eq!(each(&summary["failures"], "/verdict"), ["FAILED"; 8]);
    assert_eq!(each(&summary["unread"], "/why"), ["the time limit of the call has passed"]);
    assert_eq!(each(&summary["unread"], "/what"), ["run r0000a00000, r0001a00000, r0002a00000 and 5 more"]);
    assert!(!told.is_empty());

    let first =
        json!({"progressToken": "t", "progress": 2.0, "total": 10.0, "message": "0 of 8 failures read"});

    assert_eq!(told[0], first);
}

#[tokio::test]
async fn the_time_limit_ends_the_reading_of_lists() {
    let (_stub, mut host, clock) = serve_silently(History::of(&tests(250, "SUCCESS")), "&page=1&").await;
    let (result, told) = call_with_progress(&mut host, execution(&uuid(0xe, 0))).await;
    let summary = &result["structuredContent"];

    assert_eq!(clock.now(), Duration::from_secs(40));
    assert_eq!((&summary["verdicts"], &summary["all_passed"]), (&json!({"SUCCESS": 150}), &json!(false)));
    assert_eq!(each(&summary["unread"], "/what"), ["jobs, page 1"]);
    assert!(told[0]["message"].as_str().is_some_and(|said| said.ends_with("answers read")), "{told:?}");
}

#[tokio::test]
async fn the_time_limit_ends_the_reading_of_the_earlier_result() {
    let mut history = History::of(&tests(1, "FAILED"));
    let last = history.add(&tests(1, "SUCCESS"));
    let (stub, mut host, clock) = serve_silently(history, "/test-plan-executions?").await;
    let summary = host.succeed(TOOL, against(execution(&last), "previous")).await;

    assert_eq!((&summary["all_passed"], &summary["comparison"]["with"]), (&json!(true), &Value::Null));
    assert_eq!(each(&summary["unread"], "/what"), ["compare_with previous"]);
    assert_eq!(
        (clock.now(), stub.requests().len()),
        (Duration::from_secs(40), 3),
        "nothing is asked afterwards"
    );
}

#[tokio::test]
async fn a_summary_fails_if_the_record_is_not_read_in_time() {
    let (stub, mut host, _clock) =
        serve_silently(History::of(&tests(1, "FAILED")), "/test-plan-executions/").await;
    let error = host.fail(TOOL, execution(&uuid(0xe, 0))).await;
    assert_eq!((&error["code"], stub.requests().len()), (&json!("timeout"), 1), "{error}");
}
