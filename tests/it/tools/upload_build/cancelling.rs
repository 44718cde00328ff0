//! Callers and servers that go before an upload has ended.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::{sandbox::keys, tools::upload::UploadTiming};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin},
};

use super::{UploadFixture, bytes, hold_parts};
use crate::support::{binary::binary, host::Host};

#[tokio::test]
async fn a_cancelled_call_cancels_the_upload_at_the_service() {
    for multipart in [true, false] {
        let fixture = UploadFixture::open().await;
        fixture.write("game.apk", &bytes(2_500));
        hold_parts(&fixture.service, 0).await;

        let mut host = fixture.host().await;
        let arguments = json!({"path": "game.apk", "multipart": multipart});
        let call = host.start("tools/call", json!({"name": "upload_build", "arguments": arguments})).await;

        fixture.wait_for_pending_parts(if multipart { 3 } else { 1 }).await;

        assert_eq!(fixture.leftovers().await.0, 1);

        let cancelled = json!({"requestId": call, "reason": "enough"});
        host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})).await;
        fixture.wait_for_cleanup().await;

        while !fixture.journals().is_empty() {
            tokio::task::yield_now().await;
        }
    }
}

/// The request to cancel is sent again until it is answered.
#[tokio::test]
async fn a_failed_cancellation_is_repeated() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(2_500));
    hold_parts(&fixture.service, 0).await;

    for fault in [json!({"status": 503}), json!({"reset": true}), json!({"status": 500, "after": true})] {
        let mut fault = fault;
        fault["operation"] = json!("cancel_build_upload");
        fixture.service.fault(fault).await;
    }

    let mut host = fixture.host().await;
    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}});
    let call = host.start("tools/call", call).await;

    fixture.wait_for_pending_parts(3).await;
    let cancelled = json!({"requestId": call});
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})).await;
    fixture.wait_for_cleanup().await;

    while !fixture.journals().is_empty() {
        tokio::task::yield_now().await;
    }
}

/// Starts the server with an upload that the storage host holds back after `free` parts.
async fn serving(fixture: &UploadFixture, multipart: bool, free: usize) -> (Child, ChildStdin) {
    fixture.write("game.apk", &bytes(6_500));
    hold_parts(&fixture.service, free).await;
    let served = called(fixture, multipart).await;
    fixture.wait_for_parts(free, if multipart { 4 } else { 1 }).await;
    served
}

/// Starts the server, and calls for an upload.
async fn called(fixture: &UploadFixture, multipart: bool) -> (Child, ChildStdin) {
    let variables = fixture.variables();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut child =
        binary(&[], &variables).current_dir(fixture.root.path()).spawn().expect("the binary starts");
    let mut input = child.stdin.take().expect("an input");
    let client = json!({"name": "host", "version": "1"});
    let opening = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let arguments = json!({"path": "game.apk", "multipart": multipart});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "upload_build", "arguments": arguments}}),
    ];

    for message in messages {
        input.write_all(format!("{message}\n").as_bytes()).await.expect("the server reads");
    }

    let mut output = BufReader::new(child.stdout.take().expect("an output"));
    output.read_line(&mut String::new()).await.expect("the answer to initialize");
    child.stdout = Some(output.into_inner());

    (child, input)
}

#[tokio::test]
async fn a_server_shutdown_leaves_a_resumable_upload() {
    let fixture = UploadFixture::open().await;
    let (mut child, input) = serving(&fixture, true, 3).await;
    drop(input);

    assert!(child.wait().await.expect("a status").success());
    assert_eq!((fixture.leftovers().await.0, fixture.journals().len()), (1, 1));

    fixture.service.heal().await;
    let build = fixture.host().await.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&build["parts_resumed"], &build["parts"]), (&json!(3), &json!(7)));
    assert_eq!((fixture.leftovers().await.0, fixture.journals()), (0, vec![]));
}

/// How many requests for addresses are unanswered.
async fn asking(fixture: &UploadFixture) -> usize {
    let log = fixture.service.control("requests").await;
    let seen = log["data"].as_array().expect("a list").iter();
    let is_open =
        |seen: &&Value| seen["status"].is_null() && super::text(&seen["path"]).contains("/upload/parts");
    seen.filter(is_open).count()
}

#[tokio::test]
async fn a_server_shutdown_during_a_resumption_leaves_the_upload() {
    let fixture = UploadFixture::open().await;
    super::resuming::interrupt_upload(&fixture, 3).await;

    // The answer comes while the server ends, and nothing can be sent then.
    let late = json!({"operation": "get_build_upload_parts", "delay_ms": 700, "times": 50});
    fixture.service.fault(late).await;
    hold_parts(&fixture.service, 0).await;

    let (mut child, input) = called(&fixture, true).await;
    while asking(&fixture).await == 0 {}
    drop(input);

    assert!(child.wait().await.expect("a status").success());

    fixture.service.heal().await;

    assert_eq!((fixture.leftovers().await.0, fixture.journals().len()), (1, 1));

    let build = fixture.host().await.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!(build["parts_resumed"], 3);
}

/// It has no parts to go on from.
#[tokio::test]
async fn a_server_shutdown_cancels_a_single_part_upload() {
    let fixture = UploadFixture::open().await;
    let (mut child, input) = serving(&fixture, false, 0).await;
    drop(input);
    assert!(child.wait().await.expect("a status").success());
    assert_eq!((fixture.leftovers().await, fixture.journals()), ((0, 0), vec![]));
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_has_the_effect_of_the_end_of_input() {
    let fixture = UploadFixture::open().await;
    let (mut child, _input) = serving(&fixture, true, 3).await;
    super::command::signal(&child, "-TERM").await;

    assert!(child.wait().await.expect("a status").success());
    assert_eq!((fixture.leftovers().await.0, fixture.journals().len()), (1, 1));

    let requests = fixture.service.requests().await;

    assert!(requests.iter().all(|line| !line.starts_with("DELETE")), "{requests:?}");
}

#[tokio::test]
async fn an_upload_that_cannot_be_cancelled_is_reported_and_resumable() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(2_500));
    fixture.service.fault(json!({"operation": "complete_build_upload", "status": 400})).await;
    fixture.service.fault(json!({"operation": "cancel_build_upload", "status": 503, "times": 5})).await;

    let mut host = fixture.host().await;
    let error = host.fail("upload_build", json!({"path": "game.apk"})).await;
    let remains = error["details"]["upload"].as_str().unwrap_or_default();

    assert!(remains.starts_with("could not be cancelled") && remains.contains("times out"), "{error}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("resume the upload")), "{error}");
    assert_eq!((fixture.leftovers().await.0, fixture.journals().len()), (1, 1));

    let build = host.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!((&build["parts_resumed"], &build["build_id"]), (&json!(3), &error["details"]["build_id"]));

    let parts: Value = json!(fixture.puts().await.len());

    assert_eq!((fixture.leftovers().await.0, parts), (0, json!(3)));
}

/// A pace that gives up soon what the service does not answer.
fn short_limits() -> UploadTiming {
    UploadTiming { cancel_limit: Duration::from_millis(50), ..super::short_pauses() }
}

#[tokio::test]
async fn a_cancellation_without_an_answer_ends_soon() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(2_500));
    fixture.service.fault(json!({"operation": "complete_build_upload", "status": 400})).await;
    fixture.service.fault(json!({"operation": "cancel_build_upload", "delay_ms": 60_000, "times": 50})).await;

    let settings = fixture.settings(keys::DEMO, &[]).with_upload_timing(short_limits());
    let error = Host::open(&settings).await.fail("upload_build", json!({"path": "game.apk"})).await;
    let remains = error["details"]["upload"].as_str().unwrap_or_default();

    assert!(remains.contains("did not answer within"), "{error}");
    assert!(remains.ends_with("its space remains reserved until it times out"), "{error}");
    assert_eq!(fixture.journals().len(), 1);
}

#[tokio::test]
async fn a_cancelled_upload_waits_only_briefly_for_its_completion() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(2_500));
    fixture
        .service
        .fault(json!({"operation": "complete_build_upload", "delay_ms": 60_000, "times": 50}))
        .await;

    let mut host = Host::open(&fixture.settings(keys::DEMO, &[]).with_upload_timing(short_limits())).await;
    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}});
    let call = host.start("tools/call", call).await;
    while !fixture.service.writes().await.iter().any(|line| line.contains("/upload/complete")) {}
    let cancelled = json!({"requestId": call});

    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})).await;
    // By itself a request lasts longer.
    let freed = tokio::time::timeout(Duration::from_secs(20), fixture.wait_for_cleanup()).await;
    freed.expect("it is given up at once");
}

#[test]
fn the_default_time_limit_of_a_cancellation_is_short() {
    assert_eq!(UploadTiming::default().cancel_limit, Duration::from_secs(12));
}

/// Nothing has happened then: there is nothing to look for.
#[tokio::test]
async fn a_cancelled_upload_has_no_uncertain_outcome() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(2_500));
    fixture.service.fault(json!({"operation": "complete_build_upload", "reset": true, "times": 50})).await;
    let error = fixture.host().await.fail("upload_build", json!({"path": "game.apk"})).await;
    assert_eq!((&error["code"], &error["hint"]), (&json!("outcome_unknown"), &json!("upload it again")));
    assert_eq!(error["details"]["upload"], "cancelled: nothing remains at the service");
}
