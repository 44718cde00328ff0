//! Start time of the look-up if the clocks of the server and of the service differ.

use std::time::Duration;

use serde_json::json;

use super::{fixture, reset_after_write, start_arguments, text};
use crate::support::fixture::Fixture;

/// The monotonic clock stops while the machine sleeps, and the calendar clock does not.
#[tokio::test]
async fn the_look_up_includes_the_time_that_the_machine_slept() {
    let mut session = fixture().open().await;
    let before = session.count_records("list_jobs").await;
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;
    session.clock.suspend(Duration::from_secs(7_200));

    let error = session.host.fail("start_run", start_arguments()).await;

    assert_eq!(error["code"], "conflict", "{error}");
    assert!(text(&error["message"]).contains("call 7212 s ago"), "{error}");
    assert_eq!(session.count_records("list_jobs").await, before + 1);
}

#[tokio::test]
async fn a_look_up_without_a_date_of_the_service_uses_the_elapsed_time() {
    let mut session = fixture().open().await;
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;
    session.service.fault(json!({"operation": "list_jobs", "headers": {"date": "unknown"}})).await;
    let error = session.host.fail("start_run", start_arguments()).await;
    assert_eq!(error["code"], "conflict", "{error}");
    assert_eq!(error["details"]["found"][0]["status"], "STARTING", "{error}");
}

/// An hour passes for the service while 12 seconds pass for the server.
#[tokio::test]
async fn the_look_up_begins_at_the_call_if_the_clock_of_the_service_is_faster() {
    let mut session = fixture().open().await;
    let before = session.count_records("list_jobs").await;
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;
    session.service.advance(3_600.0);

    let error = session.host.fail("start_run", start_arguments()).await;

    assert_eq!(
        (&error["code"], &error["details"]["found_count"]),
        (&json!("conflict"), &json!(1)),
        "{error}"
    );
    assert_eq!(session.count_records("list_jobs").await, before + 1);
}

/// The last date of the service is 400 seconds old, and the clock of the service stands still.
#[tokio::test]
async fn the_look_up_begins_at_the_call_if_the_clock_of_the_service_is_slower() {
    let mut session = Fixture::new().all_tools().simulated_time_alone().open().await;
    session.count_records("list_jobs").await;
    session.advance(400).await;
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;
    assert_eq!(session.host.fail("start_run", start_arguments()).await["code"], "conflict");
}

/// No answer has stated a date before the lost call, so that only the local clock can tell the time of the service.
#[tokio::test]
async fn the_look_up_uses_the_local_clock_before_the_first_date_of_the_service() {
    let mut session = fixture().open().await;
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;
    session.service.advance(600.0);
    assert_eq!(session.host.fail("start_run", start_arguments()).await["code"], "conflict");
}

/// As above, with clocks that differ by a month: the time of the call at the service is unknown.
#[tokio::test]
async fn the_look_up_has_a_wide_margin_if_the_clocks_differ_before_the_first_date() {
    let mut session = fixture().open().await;
    session.service.advance(2_592_000.0);
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;
    session.service.advance(600.0);
    assert_eq!(session.host.fail("start_run", start_arguments()).await["code"], "conflict");
}
