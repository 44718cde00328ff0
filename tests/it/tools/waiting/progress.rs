//! Progress notifications.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tas_mcp::{
    clock::Clock,
    sandbox::{
        keys,
        seed::{EXECUTION_IN_PROGRESS, JOB_PASSED, JOB_QUEUED, JOB_RUNNING},
    },
    service::record_kind::{ResultId, ResultKind, ResultTarget},
    tools::{
        context::{CallOptions, ProgressSink},
        waiting::Wait,
    },
};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::TOOL;
use crate::support::{binary::binary, fixture::Fixture, service::Service, time::SimulatedClock};

/// Records the progress with its time.
#[derive(Debug)]
struct ProgressLog {
    clock: Arc<SimulatedClock>,
    entries: Mutex<Vec<(Duration, u64, u64, String)>>,
}

impl ProgressSink for ProgressLog {
    fn report(&self, done: u64, total: u64, message: &str) {
        let entry = (self.clock.now(), done, total, message.to_owned());
        self.entries.lock().expect("no test panics here").push(entry);
    }
}

#[tokio::test]
async fn progress_is_reported_every_five_seconds_and_never_decreases() {
    let session = Fixture::new().simulated_time().open().await;
    let log = Arc::new(ProgressLog { clock: session.clock.clone(), entries: Mutex::default() });
    let wait = Wait {
        target: ResultTarget::Single(ResultId::new(ResultKind::Execution, EXECUTION_IN_PROGRESS)),
        project: None,
        timeout: Duration::from_secs(7_200),
        interval: Some(Duration::from_secs(32)),
    };

    let options = CallOptions { progress: log.clone(), ..CallOptions::silent() };

    let end = wait.run(&session.tools().caller, &options).await.unwrap();
    let entries = log.entries.lock().unwrap();

    assert_eq!(entries[0].0, Duration::ZERO);
    for pair in entries.windows(2) {
        assert!(pair[1].0 <= pair[0].0 + Duration::from_secs(5), "{pair:?}");
        assert!(pair[1].1 >= pair[0].1, "{pair:?}");
    }

    let last = entries.last().unwrap();

    assert_eq!((last.1, last.2), (4, 4));
    assert_eq!((last.3.as_str(), end.finished), ("4 of 4 finished", 4));
    assert!(entries.len() > 30, "{}", entries.len());
}

/// Before the first answer, the progress only says that the status is read.
#[tokio::test]
async fn progress_is_reported_during_a_slow_first_poll() {
    let no_answer = json!({"operation": "get_job", "delay_ms": 3_600_000, "times": 100});
    let session = Fixture::new().simulated_time().open().await;
    session.service.fault(no_answer).await;
    let log = Arc::new(ProgressLog { clock: session.clock.clone(), entries: Mutex::default() });
    let wait = Wait {
        target: ResultTarget::Jobs(vec![JOB_RUNNING.to_owned(), JOB_QUEUED.to_owned()]),
        project: None,
        timeout: Duration::from_secs(10),
        interval: None,
    };

    let options = CallOptions { progress: log.clone(), ..CallOptions::silent() };

    session.clock.set_time_limits_expire(true);
    wait.run(&session.tools().caller, &options).await.expect_err("no poll");
    let first = log.entries.lock().unwrap()[0].clone();

    assert_eq!(first, (Duration::from_secs(4), 0, 2, "reading the status".to_owned()));
}

#[tokio::test]
async fn progress_names_the_running_tests() {
    let mut session = Fixture::new().simulated_time().open().await;
    let jobs = json!({"job_ids": [JOB_RUNNING, JOB_PASSED, JOB_QUEUED], "timeout_seconds": 40});
    let (_, notifications) = session.wait_with_progress(jobs).await;
    let first = json!({
        "progressToken": "t", "progress": 1.0, "total": 3.0,
        "message": "1 of 3 finished; running: Beat the Cinder Golem; 1 queued",
    });

    assert_eq!(notifications[0], first);
    assert!(notifications.len() >= 8, "{}", notifications.len());

    let done: Vec<_> = notifications.iter().map(|one| one["progress"].as_f64().unwrap()).collect();

    assert!(
        done.windows(2).all(|pair| pair[0] < pair[1]),
        "the protocol requires increasing values: {done:?}"
    );
    assert!(done.iter().all(|done| (1.0..1.1).contains(done)), "{done:?}");
}

#[tokio::test]
async fn a_caller_without_a_progress_token_gets_no_progress() {
    let mut session = Fixture::new().simulated_time().open().await;
    let id =
        session.host.start("tools/call", json!({"name": TOOL, "arguments": {"job_id": JOB_RUNNING}})).await;
    assert_eq!(session.host.receive().await["id"], id);
}

/// The built binary sends progress during the call.
#[tokio::test]
async fn the_binary_reports_progress_during_the_call() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let mut child = binary(&[], &variables).spawn().expect("the binary starts");
    let mut input = child.stdin.take().expect("an input");
    let mut lines = BufReader::new(child.stdout.take().expect("an output")).lines();
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": TOOL, "arguments": {"job_id": JOB_RUNNING, "timeout_seconds": 7_200}, "_meta": {"progressToken": 7}}});

    input.write_all(format!("{initialize}\n{call}\n").as_bytes()).await.expect("the server reads");
    let mut notifications = 0;

    loop {
        let line = lines.next_line().await.expect("a line").expect("the server is there");
        let message: Value = serde_json::from_str(&line).expect("JSON");

        if message["method"] == "notifications/progress" {
            notifications += 1;
            // The job ends during the wait.
            service.advance(3_600.0);
        }

        if message["id"] == 1 {
            assert_eq!(message["result"]["structuredContent"]["status"], "completed", "{message}");
            break;
        }
    }

    assert!(notifications > 0);
}
