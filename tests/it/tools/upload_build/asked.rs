//! Pauses that the service asks for, and the deadline of an upload. Time is simulated.

use std::{fs::File, sync::atomic::Ordering::Relaxed, time::Duration};

use serde_json::{Value, json};

use super::{bytes, fixture, hold_parts, text};
use crate::support::fixture::Session;

/// A minute, in seconds.
const MINUTE: f64 = 60.0;

/// Lets an operation fail once with `retry-after`.
async fn add_busy_fault(session: &Session, operation: &str, seconds: u32) {
    let headers = json!({"retry-after": seconds.to_string()});
    session.service.fault(json!({"operation": operation, "status": 503, "headers": headers})).await;
}

/// Returns the arguments for the upload of `game.apk`.
fn path() -> Value {
    json!({"path": "game.apk"})
}

#[tokio::test]
async fn retry_after_sets_the_length_of_a_pause() {
    // 70 seconds are longer than the longest pause that the client chooses itself.
    for operation in ["put_part", "get_build_upload_parts", "complete_build_upload"] {
        let mut session = fixture().simulated_time_alone().open().await;
        session.write("game.apk", b"abc");
        add_busy_fault(&session, operation, 70).await;
        session.host.succeed("upload_build", path()).await;
        assert_eq!(session.clock.pauses(), [Duration::from_secs(70)], "{operation}");
    }
}

#[tokio::test]
async fn a_pause_beyond_the_deadline_of_the_upload_is_an_error() {
    for operation in ["put_part", "get_build_upload_parts"] {
        let mut session = fixture().simulated_time_alone().open().await;
        session.write("game.apk", b"abc");
        add_busy_fault(&session, operation, 3_601).await;

        let error = session.host.fail("upload_build", path()).await;

        assert_eq!(
            (&error["code"], session.clock.pauses()),
            (&json!("service_unavailable"), vec![]),
            "{error}"
        );
        assert_eq!(error["details"]["retry_after_s"], 3_601);

        let hint = text(&error["hint"]);

        assert!(hint.contains("the service asks to wait 3601 s: make the same call again"), "{hint}");
        assert_eq!((session.leftovers().await, session.states()), ((0, 0), vec![]));
    }
}

#[tokio::test]
async fn cancellation_ends_a_pause() {
    let mut session = fixture().simulated_time_alone().open().await;
    session.write("game.apk", b"abc");
    add_busy_fault(&session, "complete_build_upload", 70).await;

    session.clock.stands_still.store(true, Relaxed);

    let id = session.start_upload(path()).await;
    while session.clock.pauses().is_empty() {
        tokio::task::yield_now().await;
    }

    session.cancel_request(id).await;
    session.wait_for_cleanup().await;
}

/// The service has carried out the completion, but answers that it is busy.
#[tokio::test]
async fn a_completed_build_is_not_cancelled() {
    let mut session = fixture().simulated_time_alone().open().await;
    session.write("game.apk", b"abc");

    let fault = json!({
        "operation": "complete_build_upload", "status": 503, "after": true, "headers": {"retry-after": "70"},
    });
    session.service.fault(fault).await;

    session.clock.stands_still.store(true, Relaxed);

    let id = session.start_upload(path()).await;
    while session.clock.pauses().is_empty() {
        tokio::task::yield_now().await;
    }

    assert_eq!(session.states().len(), 1);

    session.cancel_request(id).await;
    session.wait_for_state_removal().await;

    let writes = session.service.writes().await;

    assert!(!writes.iter().any(|line| line.starts_with("DELETE")), "{writes:?}");
}

/// Starts an upload and advances the clock of the service. Returns the number of its unfinished uploads.
async fn unfinished_uploads_after(
    session: &mut Session,
    arguments: Value,
    parts: usize,
    minutes: f64,
) -> usize {
    hold_parts(&session.service, 0).await;
    session.start_upload(arguments).await;
    session.wait_for_pending_parts(parts).await;
    session.service.advance(minutes * MINUTE);
    session.leftovers().await.0
}

/// 1 GiB takes 69 minutes at 256 KiB/s.
#[tokio::test]
async fn the_time_limit_of_a_large_file_allows_for_a_slow_line() {
    for (minutes, left) in [(68.0, 1), (69.0, 0)] {
        let mut session = fixture().simulated_time_alone().open().await;
        let file = File::create(session.root().join("game.apk")).expect("a file");
        file.set_len(1 << 30).expect("a sparse file");
        assert_eq!(unfinished_uploads_after(&mut session, path(), 4, minutes).await, left, "{minutes}");
    }
}

/// The default of the service would be 10 minutes.
#[tokio::test]
async fn a_single_part_upload_has_an_hour() {
    for (minutes, left) in [(59.0, 1), (60.0, 0)] {
        let mut session = fixture().simulated_time_alone().open().await;
        session.write("game.apk", &bytes(3));
        let arguments = json!({"path": "game.apk", "multipart": false});
        assert_eq!(unfinished_uploads_after(&mut session, arguments, 1, minutes).await, left, "{minutes}");
    }
}
