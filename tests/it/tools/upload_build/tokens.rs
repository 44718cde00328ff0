//! Uploads that take longer than a call may: they go on, and a token waits for them.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::{sandbox::keys, tools::upload::UploadTiming};

use super::{UploadFixture, bytes, hold_parts, sha256, short_pauses, text};
use crate::support::host::Host;

/// How long the servers of these tests wait by themselves.
const PATIENCE: Duration = Duration::from_millis(20);

/// A fixture whose parts are held back, and a server that has no time.
async fn short_wait_limit() -> (UploadFixture, Host) {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(2_500));
    hold_parts(&fixture.service, 0).await;
    let timing = UploadTiming { wait_limit: PATIENCE, ..short_pauses() };
    let host = Host::open(&fixture.settings(keys::DEMO, &[]).with_upload_timing(timing)).await;
    (fixture, host)
}

#[tokio::test]
async fn an_upload_continues_and_its_token_waits_for_it() {
    let (fixture, mut host) = short_wait_limit().await;
    let begun = host.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!(begun["status"], "uploading");
    assert!(text(&begun["progress"]).ends_with("MiB/s"), "{begun}");

    let token = json!({"upload_token": begun["upload_token"]});
    fixture.wait_for_pending_parts(3).await;

    let begun = host.succeed("upload_build", token).await;

    assert_eq!(begun.as_object().map(serde_json::Map::len), Some(6), "{begun}");

    let known = fixture.service.control("uploads").await["data"][0].clone();
    for name in ["build_id", "upload_id", "object_key"] {
        assert!(begun[name].is_string() && begun[name] == known[name], "{name}: {begun} {known}");
    }

    let token = json!({"upload_token": begun["upload_token"]});
    let again = host.succeed("upload_build", token.clone()).await;

    assert_eq!((&again["status"], &again["upload_token"]), (&json!("uploading"), &begun["upload_token"]));

    fixture.service.release().await;
    let mut waiting = token.clone();
    waiting["wait"] = json!(true);

    let build = host.succeed("upload_build", waiting).await;

    assert_eq!((&build["status"], &build["sha256"]), (&json!("uploaded"), &json!(sha256(&bytes(2_500)))));
    // An answer that got lost can be asked for again.
    assert_eq!(host.succeed("upload_build", token).await, build);
    assert_eq!(fixture.puts().await.len(), 3);
    assert_eq!(fixture.journals(), [""; 0]);
}

#[tokio::test]
async fn wait_true_waits_for_the_end() {
    let (fixture, mut host) = short_wait_limit().await;
    let arguments = json!({"path": "game.apk", "wait": true});
    let call = host.start("tools/call", json!({"name": "upload_build", "arguments": arguments})).await;

    fixture.wait_for_pending_parts(3).await;
    // Longer than it waits by itself.
    tokio::time::sleep(PATIENCE * 3).await;
    fixture.service.release().await;

    assert_eq!(host.answer(call).await["result"]["structuredContent"]["status"], "uploaded");
}

#[tokio::test]
async fn the_token_of_a_failed_upload_returns_the_failure() {
    let (fixture, mut host) = short_wait_limit().await;
    fixture.service.fault(json!({"operation": "complete_build_upload", "status": 400})).await;

    let begun = host.succeed("upload_build", json!({"path": "game.apk"})).await;
    fixture.wait_for_pending_parts(3).await;
    fixture.service.release().await;

    let waiting = json!({"upload_token": begun["upload_token"], "wait": true});
    let error = host.fail("upload_build", waiting.clone()).await;

    assert_eq!(error["details"]["upload"], "cancelled: nothing remains at the service");
    assert_eq!(host.fail("upload_build", waiting).await, error);
    assert_eq!(fixture.leftovers().await, (0, 0));
}

#[tokio::test]
async fn a_token_of_another_server_is_not_found() {
    let (fixture, mut host) = short_wait_limit().await;
    let error = host.fail("upload_build", json!({"upload_token": "upload_unknown"})).await;
    assert_eq!(error["code"], "not_found");
    assert!(text(&error["hint"]).contains("`path`"), "{error}");
    assert_eq!(fixture.service.requests().await, [""; 0]);
}

#[tokio::test]
async fn cancelling_the_waiting_call_cancels_the_upload() {
    let (fixture, mut host) = short_wait_limit().await;
    let begun = host.succeed("upload_build", json!({"path": "game.apk"})).await;
    let waiting = json!({"upload_token": begun["upload_token"], "wait": true});
    let call = host.start("tools/call", json!({"name": "upload_build", "arguments": waiting})).await;

    // The call has to be there before it is cancelled: a server answers in order what it can answer at once.
    host.request("ping", Value::Null).await;
    let cancelled = json!({"requestId": call, "reason": "enough"});
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})).await;
    fixture.wait_for_cleanup().await;
}

#[tokio::test]
async fn the_default_wait_limit_is_45_seconds() {
    assert_eq!(UploadTiming::default().wait_limit, Duration::from_secs(45));
}

#[tokio::test]
async fn an_equal_request_joins_the_upload_in_progress() {
    let (fixture, mut host) = short_wait_limit().await;
    let begun = host.succeed("upload_build", json!({"path": "game.apk"})).await;
    let again = host.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&again["status"], &again["upload_token"]), (&json!("uploading"), &begun["upload_token"]));

    fixture.wait_for_pending_parts(3).await;
    fixture.service.release().await;

    let waiting = json!({"upload_token": begun["upload_token"], "wait": true});
    let build = host.succeed("upload_build", waiting).await;

    assert_eq!((&build["status"], fixture.puts().await.len()), (&json!("uploaded"), 3));

    // What has ended is not joined.
    fixture.service.heal().await;
    let another = host.succeed("upload_build", json!({"path": "game.apk", "wait": true})).await;

    assert_ne!(another["build_id"], build["build_id"]);
}

#[tokio::test]
async fn a_different_request_for_the_same_file_is_another_upload() {
    let (fixture, mut host) = short_wait_limit().await;
    let begun = host.succeed("upload_build", json!({"path": "game.apk"})).await;
    fixture.wait_for_pending_parts(3).await;

    let other = host.succeed("upload_build", json!({"path": "game.apk", "name": "other"})).await;

    assert_ne!(other["upload_token"], begun["upload_token"]);

    fixture.wait_for_pending_parts(6).await;
    fixture.service.release().await;

    for one in [begun, other] {
        let waiting = json!({"upload_token": one["upload_token"], "wait": true});
        assert_eq!(host.succeed("upload_build", waiting).await["status"], "uploaded");
    }
}

#[tokio::test]
async fn the_upload_continues_while_another_caller_waits_for_it() {
    let (fixture, mut host) = short_wait_limit().await;
    let arguments = json!({"path": "game.apk", "wait": true});
    let first = host.start("tools/call", json!({"name": "upload_build", "arguments": arguments})).await;

    fixture.wait_for_pending_parts(3).await;
    let joined = host.succeed("upload_build", json!({"path": "game.apk"})).await;
    let waiting = json!({"upload_token": joined["upload_token"], "wait": true});
    let other = host.start("tools/call", json!({"name": "upload_build", "arguments": waiting})).await;

    host.request("ping", Value::Null).await;
    let cancelled = json!({"requestId": first, "reason": "enough"});
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})).await;
    host.request("ping", Value::Null).await;
    fixture.service.release().await;

    assert_eq!(host.answer(other).await["result"]["structuredContent"]["status"], "uploaded");
}
