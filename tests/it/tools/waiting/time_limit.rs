//! The time limit of a wait, and continuing after it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tas_mcp::{
    clock::Clock,
    sandbox::seed::{JOB_PASSED, JOB_QUEUED, JOB_RUNNING, TEST_ERRORS},
    service::record_kind::{ResultId, ResultKind, ResultTarget},
    tools::{context::CallOptions, waiting::Wait},
};

use super::TOOL;
use crate::support::{fixture::Fixture, stub::Stub, time::SimulatedClock};

#[tokio::test]
async fn a_timed_out_wait_is_a_result_and_the_next_call_continues() {
    let mut session = Fixture::new().simulated_time().open().await;
    let jobs = json!({"job_ids": [JOB_RUNNING, JOB_QUEUED, JOB_PASSED]});
    let end = session.wait(jobs.clone()).await;

    assert_eq!((&end["status"], &end["elapsed_seconds"]), (&json!("timed_out"), &json!(40.0)));
    assert_eq!((&end["finished"], &end["total"]), (&json!(1), &json!(3)));
    assert_eq!(end["still_running"], json!([JOB_RUNNING, JOB_QUEUED]));
    assert_eq!(end["verdicts"], json!({"SUCCESS": 1}));
    assert_eq!((&end["last_status"], &end["all_passed"]), (&json!("RUNNING"), &json!(false)));
    assert!(end["next_step"].as_str().is_some_and(|next| next.contains("same arguments")), "{end}");

    let mut calls = 1;
    while session.wait(jobs.clone()).await["status"] == "timed_out" {
        calls += 1;
        assert!(calls < 20);
    }
}

/// Another process can continue the wait.
#[tokio::test]
async fn a_process_that_stops_ends_its_waits_as_if_their_time_had_passed() {
    let session = Fixture::new().simulated_time().open().await;
    let wait = Wait {
        target: ResultTarget::Single(ResultId::new(ResultKind::Job, JOB_QUEUED)),
        project: None,
        timeout: Duration::from_secs(7_200),
        interval: None,
    };
    let options = CallOptions::silent();
    options.stopping.waits.cancel();

    let end = wait.run(&session.tools().caller, &options).await.expect("a result");
    let end = serde_json::to_value(end).expect("JSON");

    assert_eq!((&end["status"], &end["polls"]), (&json!("timed_out"), &json!(1)), "{end}");
    assert!(end["next_step"].as_str().is_some_and(|next| next.contains("same arguments")), "{end}");
}

#[tokio::test]
async fn a_wait_without_progress_ends_before_hosts_give_up() {
    let mut session = Fixture::new().simulated_time().open().await;
    let job = session.start_jobs(TEST_ERRORS, 10, 1).await.remove(0);
    let arguments = json!({"job_id": job, "timeout_seconds": 600});
    let end = session.wait(arguments.clone()).await;

    assert_eq!((&end["status"], &end["elapsed_seconds"]), (&json!("timed_out"), &json!(40.0)));
    let why = end["ended_early"].as_str().expect("a reason");
    assert!(why.contains("after 40 of 600 s") && why.contains("call again"), "{why}");

    // The job runs for about ten minutes, including the time of the first call.
    let (end, _) =
        session.wait_with_progress(json!({"job_id": arguments["job_id"], "timeout_seconds": 300})).await;

    assert_eq!((&end["status"], &end["elapsed_seconds"]), (&json!("timed_out"), &json!(300.0)));
    assert!(end["ended_early"].is_null(), "{end}");
}

#[tokio::test]
async fn a_short_timeout_is_kept() {
    let mut session = Fixture::new().simulated_time().open().await;
    let end = session.wait(json!({"job_id": JOB_RUNNING, "timeout_seconds": 7})).await;
    assert_eq!((&end["status"], &end["elapsed_seconds"]), (&json!("timed_out"), &json!(7.0)));
    assert_eq!(session.clock.pauses().iter().sum::<Duration>(), Duration::from_secs(7));
}

#[tokio::test]
async fn intervals_grow_from_1_to_30_seconds() {
    let mut session = Fixture::new().simulated_time().open().await;
    let job = session.start_jobs(TEST_ERRORS, 10, 1).await.remove(0);
    let (end, _) = session.wait_with_progress(json!({"job_id": job, "timeout_seconds": 600})).await;
    // Pauses are split into slices of at most four seconds, so that progress is reported in time.
    let pauses = session.clock.pauses();

    assert_eq!(pauses[0], Duration::from_secs(1));
    assert!(pauses.iter().all(|pause| *pause <= Duration::from_secs(4)));

    // At least 600 / 30 polls; 8 more while the interval grows, and half as many again if every interval is half.
    let polls = end["polls"].as_u64().expect("a number");

    assert!((25..=50).contains(&polls), "{polls}");
}

#[tokio::test]
async fn a_requested_interval_is_kept() {
    let mut session = Fixture::new().simulated_time().open().await;
    let arguments = json!({"job_id": JOB_QUEUED, "timeout_seconds": 30, "poll_interval_seconds": 3});
    let end = session.wait(arguments).await;
    assert_eq!(end["polls"], 11);
    assert!(session.clock.pauses().iter().all(|pause| *pause == Duration::from_secs(3)));
}

/// The service does not answer. The last poll ends shortly after the time limit.
#[tokio::test]
async fn a_poll_without_an_answer_ends_with_the_wait() {
    let mut session = Fixture::new().simulated_time().open().await;
    session.service.fault(json!({"operation": "get_job", "delay_ms": 3_600_000, "times": 100})).await;
    session.clock.set_time_limits_expire(true);
    let error = session.host.fail(TOOL, json!({"job_id": JOB_PASSED, "timeout_seconds": 20})).await;
    assert_eq!(error["code"], "timeout");
    assert_eq!(Clock::now(&*session.clock), Duration::from_secs(25));
}

/// The result contains what was read before, and that the last poll had no answer.
#[tokio::test]
async fn a_last_poll_without_an_answer_is_reported() {
    let clock = Arc::<SimulatedClock>::default();
    let (expiring, count) = (Arc::clone(&clock), Arc::new(AtomicUsize::new(0)));
    let stub = Stub::start(move |_| {
        let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
        let expiring = Arc::clone(&expiring);
        async move {
            if !is_first {
                // From here on the time limit of the poll expires. The first poll must get its answer.
                expiring.set_time_limits_expire(true);
                std::future::pending::<()>().await;
            }
            (200, json!({"job_id": JOB_RUNNING, "status": "RUNNING", "runs": []}))
        }
    })
    .await;

    let mut session = Fixture::new().simulated_time_by(clock).open_with(stub).await;
    let end = session.host.succeed(TOOL, json!({"job_id": JOB_RUNNING, "timeout_seconds": 20})).await;

    assert_eq!((&end["status"], &end["last_status"]), (&json!("timed_out"), &json!("RUNNING")));
    assert!(
        end["last_failure"].as_str().is_some_and(|said| said.contains("did not answer in time")),
        "{end}"
    );
}

#[tokio::test]
async fn cancelling_ends_the_wait_at_once() {
    let mut session = Fixture::new().simulated_time().open().await;
    session.clock.stands_still.store(true, Ordering::Relaxed);

    let id =
        session.host.start("tools/call", json!({"name": TOOL, "arguments": {"job_id": JOB_RUNNING}})).await;
    while session.clock.pauses().is_empty() {
        tokio::task::yield_now().await;
    }

    // A wait holds a reference to the clock until it ends.
    let references = Arc::strong_count(&session.clock);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    session.host.send(&cancel).await;

    let end = async {
        while Arc::strong_count(&session.clock) >= references {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), end).await.expect("the wait ends");
    session.host.succeed("list_tests", json!({"page_size": 1})).await;

    let requests = session.service.requests().await;

    assert_eq!(requests.iter().filter(|line| line.contains("/jobs")).count(), 1, "{requests:?}");
}
