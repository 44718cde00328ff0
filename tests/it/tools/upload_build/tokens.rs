//! Uploads that take longer than a call may wait. They continue, and calls with their token wait for them.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::tools::upload::UploadTiming;

use super::{bytes, fixture, hold_parts, sha256, short_pauses, text};
use crate::support::fixture::Session;

/// How long calls of these tests wait for an upload.
const WAIT_LIMIT: Duration = Duration::from_millis(20);

/// Opens a session whose calls wait only shortly, with a file whose parts are not answered.
async fn open_with_short_wait_limit() -> Session {
    let timing = UploadTiming { wait_limit: WAIT_LIMIT, ..short_pauses() };
    let session = fixture().upload_timing(timing).open().await;
    session.write("game.apk", &bytes(2_500));
    hold_parts(&session.service, 0).await;

    session
}

#[tokio::test]
async fn an_upload_continues_and_its_token_waits_for_it() {
    let mut session = open_with_short_wait_limit().await;
    let started = session.upload("game.apk").await;

    assert_eq!(started["status"], "uploading");
    assert!(text(&started["progress"]).ends_with("/s"), "{started}");

    let token = json!({"upload_token": started["upload_token"]});
    session.wait_for_pending_parts(3).await;

    let started = session.host.succeed("upload_build", token).await;

    assert_eq!(started.as_object().map(serde_json::Map::len), Some(6), "{started}");

    let known = session.service.control("uploads").await["data"][0].clone();
    for name in ["build_id", "upload_id", "object_key"] {
        assert!(started[name].is_string() && started[name] == known[name], "{name}: {started} {known}");
    }

    let token = json!({"upload_token": started["upload_token"]});
    let again = session.host.succeed("upload_build", token.clone()).await;

    assert_eq!((&again["status"], &again["upload_token"]), (&json!("uploading"), &started["upload_token"]));

    session.service.release().await;
    let mut waiting = token.clone();
    waiting["wait"] = json!(true);

    let build = session.host.succeed("upload_build", waiting).await;

    assert_eq!((&build["status"], &build["sha256"]), (&json!("uploaded"), &json!(sha256(&bytes(2_500)))));
    // A caller that has lost the answer can ask for it again.
    assert_eq!(session.host.succeed("upload_build", token).await, build);
    assert_eq!(session.puts().await.len(), 3);
    assert_eq!(session.journals(), [""; 0]);
}

#[tokio::test]
async fn wait_true_waits_for_the_end() {
    let mut session = open_with_short_wait_limit().await;
    let arguments = json!({"path": "game.apk", "wait": true});
    let call = session.start_upload(arguments).await;

    session.wait_for_pending_parts(3).await;
    // Longer than a call without `wait` waits.
    tokio::time::sleep(WAIT_LIMIT * 3).await;
    session.service.release().await;

    assert_eq!(session.host.answer(call).await["result"]["structuredContent"]["status"], "uploaded");
}

#[tokio::test]
async fn the_token_of_a_failed_upload_returns_the_failure() {
    let mut session = open_with_short_wait_limit().await;
    session.service.fault(json!({"operation": "complete_build_upload", "status": 400})).await;

    let started = session.upload("game.apk").await;
    session.wait_for_pending_parts(3).await;
    session.service.release().await;

    let waiting = json!({"upload_token": started["upload_token"], "wait": true});
    let error = session.host.fail("upload_build", waiting.clone()).await;

    assert_eq!(error["details"]["upload"], "cancelled: nothing remains at the service");
    assert_eq!(session.host.fail("upload_build", waiting).await, error);
    assert_eq!(session.leftovers().await, (0, 0));
}

#[tokio::test]
async fn a_token_of_another_server_is_not_found() {
    let mut session = open_with_short_wait_limit().await;
    let error = session.host.fail("upload_build", json!({"upload_token": "upload_unknown"})).await;
    assert_eq!(error["code"], "not_found");
    assert!(text(&error["hint"]).contains("`path`"), "{error}");
    assert_eq!(session.service.requests().await, [""; 0]);
}

#[tokio::test]
async fn cancelling_the_waiting_call_cancels_the_upload() {
    let mut session = open_with_short_wait_limit().await;
    let started = session.upload("game.apk").await;
    let waiting = json!({"upload_token": started["upload_token"], "wait": true});
    let call = session.start_upload(waiting).await;

    // The server must have the call before its cancellation. It reads requests in order, so that its answer to `ping` shows this.
    session.host.request("ping", Value::Null).await;
    session.cancel_request(call).await;
    session.wait_for_cleanup().await;
}

#[tokio::test]
async fn the_default_wait_limit_is_45_seconds() {
    assert_eq!(UploadTiming::default().wait_limit, Duration::from_secs(45));
}

#[tokio::test]
async fn an_equal_request_is_refused_while_the_file_is_being_uploaded() {
    for multipart in [true, false] {
        let mut session = open_with_short_wait_limit().await;
        let arguments = json!({"path": "game.apk", "multipart": multipart});
        let started = session.host.succeed("upload_build", arguments.clone()).await;
        session.wait_for_pending_parts(if multipart { 3 } else { 1 }).await;

        let error = session.host.fail("upload_build", arguments).await;

        assert_eq!(error["message"], "`game.apk` is being uploaded by another process or call");
        assert_eq!((&error["code"], session.leftovers().await.0), (&json!("file_error"), 1));

        session.service.release().await;

        let waiting = json!({"upload_token": started["upload_token"], "wait": true});
        let build = session.host.succeed("upload_build", waiting).await;
        assert_eq!((&build["status"], session.journals()), (&json!("uploaded"), vec![]));

        // The upload has ended.
        session.service.heal().await;
        let another = session.host.succeed("upload_build", json!({"path": "game.apk", "wait": true})).await;
        assert_ne!(another["build_id"], build["build_id"]);
    }
}

#[tokio::test]
async fn a_different_request_for_the_same_file_is_another_upload() {
    let mut session = open_with_short_wait_limit().await;
    let started = session.upload("game.apk").await;
    session.wait_for_pending_parts(3).await;

    let other = session.host.succeed("upload_build", json!({"path": "game.apk", "name": "other"})).await;

    assert_ne!(other["upload_token"], started["upload_token"]);

    session.wait_for_pending_parts(6).await;
    session.service.release().await;

    for one in [started, other] {
        let waiting = json!({"upload_token": one["upload_token"], "wait": true});
        assert_eq!(session.host.succeed("upload_build", waiting).await["status"], "uploaded");
    }
}

#[tokio::test]
async fn the_upload_continues_while_another_caller_waits_for_it() {
    let mut session = open_with_short_wait_limit().await;
    let started = session.upload("game.apk").await;
    session.wait_for_pending_parts(3).await;

    let waiting = json!({"upload_token": started["upload_token"], "wait": true});
    let first = session.start_upload(waiting.clone()).await;
    let other = session.start_upload(waiting).await;

    session.host.request("ping", Value::Null).await;
    session.cancel_request(first).await;
    session.host.request("ping", Value::Null).await;
    session.service.release().await;

    assert_eq!(session.host.answer(other).await["result"]["structuredContent"]["status"], "uploaded");
}
