//! Failed polls.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::{
    client::RETRY_POLICY,
    failure::Failure,
    sandbox::seed::{self, JOB_PASSED, JOB_RUNNING},
    service::record_kind::{ResultId, ResultKind, ResultTarget},
    tools::{
        context::CallOptions,
        waiting::{Completion, Wait, WaitStatus},
    },
};

use super::TOOL;
use crate::support::fixture::{Fixture, Session};

/// Makes `polls` polls of a job fail, with all their retries.
async fn fail_polls(session: &Session, polls: u32, status: u16) {
    // A poll repeats its request after some statuses. All of the repetitions must fail too.
    let attempts = if [429, 503].contains(&status) { RETRY_POLICY.attempts } else { 1 };
    let fault = json!({"operation": "get_job", "status": status, "times": polls * attempts});
    session.service.fault(fault).await;
}

#[tokio::test]
async fn a_failed_poll_does_not_end_the_wait() {
    for status in [503, 429] {
        for polls in [1, 4] {
            let mut session = Fixture::new().simulated_time().open().await;
            fail_polls(&session, polls, status).await;
            let end = session.wait(json!({"job_id": JOB_PASSED})).await;
            assert_eq!((&end["status"], &end["polls"]), (&json!("completed"), &json!(polls + 1)));
            assert_eq!(end["last_failure"], Value::Null);
        }
    }
}

/// Waits with a time limit of two hours and `interval` seconds between polls.
async fn long_wait(session: &Session, job: &str, interval: u64) -> Result<Completion, Failure> {
    let wait = Wait {
        target: ResultTarget::Single(ResultId::new(ResultKind::Job, job)),
        project: None,
        timeout: Duration::from_secs(7_200),
        interval: Some(Duration::from_secs(interval)),
    };

    wait.run(&session.tools().caller, &CallOptions::silent()).await
}

/// A service that restarts is available again after a while.
#[tokio::test]
async fn a_long_wait_continues_after_a_short_outage() {
    let session = Fixture::new().simulated_time().open().await;
    fail_polls(&session, 12, 500).await;
    let end = long_wait(&session, JOB_PASSED, 10).await.expect("an end");
    assert_eq!((end.status, end.polls, end.last_failure), (WaitStatus::Completed, 13, None));
}

#[tokio::test]
async fn five_failed_polls_over_two_minutes_end_the_wait() {
    for (interval, polls) in [(10, 13), (30, 5), (60, 5)] {
        let session = Fixture::new().simulated_time().open().await;
        fail_polls(&session, 100, 500).await;

        let error = json!(long_wait(&session, JOB_PASSED, interval).await.expect_err("an outage"));

        assert_eq!(
            (&error["code"], &error["details"]["polls"]),
            (&json!("service_unavailable"), &json!(polls))
        );

        let said = error["message"].as_str().expect("a text");

        assert!(said.contains(&format!("{polls} polls in a row failed")), "{said}");
        assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("call again")));
        assert_eq!(error["details"]["known"], Value::Null, "nothing was ever seen");
    }
}

#[tokio::test]
async fn a_short_wait_polls_until_its_timeout() {
    let mut session = Fixture::new().simulated_time().open().await;
    fail_polls(&session, 100, 500).await;
    let arguments = json!({"job_id": JOB_PASSED, "poll_interval_seconds": 5});
    let error = session.host.fail(TOOL, arguments).await;
    assert_eq!((&error["code"], &error["details"]["polls"]), (&json!("service_unavailable"), &json!(9)));
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("call again")));
}

#[tokio::test]
async fn the_failure_contains_what_is_known() {
    let session = Fixture::new().simulated_time().open().await;
    // A fault without a status keeps the answer of the sandbox: the first poll succeeds.
    session.service.fault(json!({"operation": "get_job", "headers": {"x-note": "seen"}, "times": 1})).await;
    fail_polls(&session, 100, 500).await;

    let error = json!(long_wait(&session, JOB_RUNNING, 30).await.expect_err("an outage"));

    assert_eq!(error["details"]["polls"], 6);

    let known = &error["details"]["known"];

    assert_eq!((&known["still_running"], &known["last_status"]), (&json!([JOB_RUNNING]), &json!("RUNNING")));
    assert_eq!(known["status"], Value::Null, "the wait has failed");
}

#[tokio::test]
async fn a_successful_poll_resets_the_failure_count() {
    let mut session = Fixture::new().simulated_time().open().await;
    for _ in 0..3 {
        fail_polls(&session, 2, 500).await;
        session.service.fault(json!({"operation": "get_job", "headers": {"x-note": "seen"}})).await;
    }

    let arguments = json!({"job_id": JOB_RUNNING, "timeout_seconds": 40, "poll_interval_seconds": 4});
    let end = session.wait(arguments).await;

    assert_eq!((&end["status"], &end["polls"]), (&json!("timed_out"), &json!(11)));
}

#[tokio::test]
async fn a_failed_last_poll_is_reported() {
    let mut session = Fixture::new().simulated_time().open().await;
    session.service.fault(json!({"operation": "get_job", "headers": {"x-note": "seen"}})).await;
    fail_polls(&session, 1, 500).await;

    let arguments = json!({"job_id": JOB_RUNNING, "timeout_seconds": 1});
    let end = session.wait(arguments).await;

    assert_eq!((&end["status"], &end["last_status"]), (&json!("timed_out"), &json!("RUNNING")));
    assert!(end["last_failure"].as_str().is_some_and(|said| said.contains("500")), "{end}");
}

#[tokio::test]
async fn a_permanent_failure_ends_the_wait_at_once() {
    for (status, code) in [(401, "unauthenticated"), (403, "permission_denied"), (404, "not_found")] {
        let mut session = Fixture::new().simulated_time().open().await;
        fail_polls(&session, 1, status).await;
        let error = session.host.fail(TOOL, json!({"job_id": JOB_PASSED})).await;
        assert_eq!((&error["code"], &error["details"]["polls"]), (&json!(code), &json!(1)));
        assert!(session.clock.pauses().is_empty());
    }
}

/// A requested pause that is longer than a call is kept between polls.
#[tokio::test]
async fn a_requested_pause_is_kept() {
    let mut session = Fixture::new().simulated_time().open().await;
    session
        .service
        .fault(json!({"operation": "get_job", "status": 429, "headers": {"retry-after": "60"}}))
        .await;

    let (end, _) = session.wait_with_progress(json!({"job_id": JOB_PASSED, "timeout_seconds": 600})).await;

    assert_eq!((&end["polls"], &end["elapsed_seconds"]), (&json!(2), &json!(60.0)));
    assert_eq!(session.clock.pauses().iter().sum::<Duration>(), Duration::from_secs(60));
}

/// The service reads from several places, and one of them may be late.
#[tokio::test]
async fn a_job_that_was_just_started_or_seen_is_asked_for_again_after_404_and_408() {
    for status in [404, 408] {
        let mut session = Fixture::new().simulated_time().open().await;
        let jobs = session.start_jobs(seed::TEST_PASSES, 0, 1).await;
        fail_polls(&session, 3, status).await;
        let end = session.wait(json!({"job_ids": jobs, "poll_interval_seconds": 60})).await;
        assert_eq!((&end["last_status"], &end["last_failure"]), (&json!("RUNNING"), &Value::Null), "{end}");

        session.host.succeed("get_job", json!({"job_id": JOB_PASSED})).await;
        fail_polls(&session, 3, status).await;
        let end = session.wait(json!({"job_id": JOB_PASSED})).await;
        assert_eq!((&end["status"], &end["polls"]), (&json!("completed"), &json!(4)));
    }
}

#[tokio::test]
async fn a_job_that_was_seen_and_is_missing_for_30_s_ends_the_wait() {
    let mut session = Fixture::new().simulated_time().open().await;
    session.host.succeed("get_job", json!({"job_id": JOB_RUNNING})).await;
    fail_polls(&session, 100, 404).await;
    let before = session.clock.pauses().len();
    let error = session.host.fail(TOOL, json!({"job_id": JOB_RUNNING, "timeout_seconds": 300})).await;

    let waited: Duration = session.clock.pauses().iter().skip(before).sum();
    assert_eq!(error["code"], "not_found", "{error}");
    assert!(waited >= Duration::from_secs(30) && waited < Duration::from_secs(60), "{waited:?}");
}

#[tokio::test]
async fn a_job_that_nobody_has_seen_ends_the_wait_at_once() {
    let mut session = Fixture::new().simulated_time().open().await;
    fail_polls(&session, 1, 404).await;
    let error = session.host.fail(TOOL, json!({"job_id": JOB_PASSED})).await;
    assert_eq!((&error["code"], &error["details"]["polls"]), (&json!("not_found"), &json!(1)));
}
