//! How long ago a call was, by clocks that do not agree.

use std::time::Duration;

use serde_json::json;

use super::{lost_after, open, start, text};

/// The clock that counts stands still meanwhile; the date does not.
#[tokio::test]
async fn a_machine_that_slept_looks_back_over_its_sleep() {
    let mut scene = open().await;
    let before = scene.count("list_jobs").await;
    scene.lose("start_run", &start(), lost_after()).await;
    scene.clock.sleep(Duration::from_secs(7_200));
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
