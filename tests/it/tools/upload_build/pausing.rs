//! Calls whose time is over before the upload has ended: an equal call continues it.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::tools::upload::UploadTiming;

use super::{PART, bytes, fixture, hold_parts, sha256, text};
use crate::support::fixture::Session;

/// Opens a session whose calls begin no part after a short time, with a file of ten parts that the storage host holds back.
async fn open_with_short_wait_limit() -> Session {
    let timing = UploadTiming { wait_limit: Duration::from_secs(2), ..super::short_pauses() };
    let session = fixture().upload_timing(timing).open().await;
    session.write("game.apk", &bytes(10 * PART));
    hold_parts(&session.service, 0).await;

    session
}

#[tokio::test]
async fn an_equal_call_sends_only_the_parts_that_are_missing() {
    let mut session = open_with_short_wait_limit().await;
    let call = session.start_upload(json!({"path": "game.apk"})).await;
    session.wait_for_pending_parts(4).await;
    tokio::time::sleep(Duration::from_millis(2_200)).await;
    session.service.release().await;

    // The parts that have begun are finished.
    let paused = session.host.answer(call).await["result"]["structuredContent"].clone();
    assert_eq!((&paused["status"], session.puts().await.len()), (&json!("uploading"), 4), "{paused}");
    assert!(text(&paused["progress"]).ends_with("/s"), "{paused}");
    let known = session.service.control("uploads").await["data"][0].clone();
    for name in ["build_id", "upload_id", "object_key"] {
        assert!(paused[name].is_string() && paused[name] == known[name], "{name}: {paused} {known}");
    }

    session.service.heal().await;
    let build = session.host.succeed("upload_build", json!({"path": "game.apk", "wait": true})).await;
    assert_eq!((&build["build_id"], &build["parts_resumed"]), (&paused["build_id"], &json!(4)));
    assert_eq!((&build["sha256"], session.puts().await.len()), (&json!(sha256(&bytes(10 * PART))), 10));
    assert_eq!((session.leftovers().await.0, session.states()), (0, vec![]));
}

#[tokio::test]
async fn wait_true_waits_for_the_end() {
    let mut session = open_with_short_wait_limit().await;
    let call = session.start_upload(json!({"path": "game.apk", "wait": true})).await;
    session.wait_for_pending_parts(4).await;
    tokio::time::sleep(Duration::from_millis(2_200)).await;
    session.service.heal().await;
    session.service.release().await;

    let build: Value = session.host.answer(call).await["result"]["structuredContent"].clone();
    assert_eq!((&build["status"], &build["parts"]), (&json!("uploaded"), &json!(10)));
}
