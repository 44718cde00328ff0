//! How long ago a call was, by clocks that do not agree.

use std::time::Duration;

use serde_json::json;

use super::{lost_after, open, start, text};
use crate::support::fixture::Fixture;

/// The clock that counts stands still meanwhile; the date does not.
#[tokio::test]
async fn a_machine_that_slept_looks_back_over_its_sleep() {
    let mut scene = open().await;
    let before = scene.count("list_jobs").await;
    scene.lose("start_run", &start(), lost_after()).await;
    scene.clock.suspend(Duration::from_secs(7_200));

    let error = scene.host.fail("start_run", start()).await;

    assert_eq!(error["code"], "conflict", "{error}");
    assert!(text(&error["message"]).contains("of 7212 s ago"), "{error}");
    assert_eq!(scene.count("list_jobs").await, before + 1);
}

#[tokio::test]
async fn a_service_that_does_not_say_the_time_is_asked_by_the_clock_of_the_wait() {
    let mut scene = open().await;
    scene.lose("start_run", &start(), lost_after()).await;
    scene.service.fault(json!({"operation": "list_jobs", "headers": {"date": "unknown"}})).await;
    let error = scene.host.fail("start_run", start()).await;
    assert_eq!(error["code"], "conflict", "{error}");
    assert_eq!(error["details"]["found"][0]["status"], "STARTING", "{error}");
}

/// An hour passes at the service in 12 of our seconds.
#[tokio::test]
async fn a_service_whose_clock_runs_faster_is_looked_at_from_when_the_call_was_sent() {
    let mut scene = open().await;
    let before = scene.count("list_jobs").await;
    scene.lose("start_run", &start(), lost_after()).await;
    scene.service.advance(3_600.0);

    let error = scene.host.fail("start_run", start()).await;

    assert_eq!(
        (&error["code"], &error["details"]["found_count"]),
        (&json!("conflict"), &json!(1)),
        "{error}"
    );
    assert_eq!(scene.count("list_jobs").await, before + 1);
}

/// The clock of the service was heard long before, and stands still.
#[tokio::test]
async fn a_service_whose_clock_runs_slower_is_looked_at_from_when_the_call_was_sent() {
    let mut scene = Fixture::new().all_tools().simulated_time_alone().open().await;
    scene.count("list_jobs").await;
    scene.pass(400).await;
    scene.lose("start_run", &start(), lost_after()).await;
    assert_eq!(scene.host.fail("start_run", start()).await["code"], "conflict");
}

/// The first call of all has no answer: our clock says what time it was at the service.
#[tokio::test]
async fn a_service_that_has_not_yet_said_the_time_is_looked_at_by_our_clock() {
    let mut scene = open().await;
    scene.lose("start_run", &start(), lost_after()).await;
    scene.service.advance(600.0);
    assert_eq!(scene.host.fail("start_run", start()).await["code"], "conflict");
}

/// The same, where the clocks are a month apart: what time it was is not known.
#[tokio::test]
async fn a_service_of_another_time_that_has_not_yet_said_it_is_looked_at_with_a_wide_margin() {
    let mut scene = open().await;
    scene.service.advance(2_592_000.0);
    scene.lose("start_run", &start(), lost_after()).await;
    scene.service.advance(600.0);
    assert_eq!(scene.host.fail("start_run", start()).await["code"], "conflict");
}
