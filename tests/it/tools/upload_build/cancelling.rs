//! Cancelled calls and server shutdowns during an upload.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::tools::upload::UploadTiming;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin},
};

use super::{bytes, fixture, hold_parts};
use crate::support::{binary::binary, fixture::Session};

#[tokio::test]
async fn a_cancelled_call_cancels_the_upload_at_the_service() {
    for multipart in [true, false] {
        let mut session = fixture().open().await;
        session.write("game.apk", &bytes(2_500));
        hold_parts(&session.service, 0).await;

        let arguments = json!({"path": "game.apk", "multipart": multipart});
        let call = session.start_upload(arguments).await;

        session.wait_for_pending_parts(if multipart { 3 } else { 1 }).await;

        assert_eq!(session.leftovers().await.0, 1);

        let cancelled = json!({"requestId": call, "reason": "enough"});
        session
            .host
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}))
            .await;
        session.wait_for_cleanup().await;

        session.wait_for_state_removal().await;
    }
}

/// Starts the server with an upload that the storage host holds back after `free` parts.
async fn start_server_with_held_upload(
    session: &Session,
    multipart: bool,
    free: usize,
) -> (Child, ChildStdin) {
    session.write("game.apk", &bytes(6_500));
    hold_parts(&session.service, free).await;
    let server = start_server_with_call(session, multipart).await;
    session.wait_for_parts(free, if multipart { 4 } else { 1 }).await;
    server
}

/// Starts the server and calls the tool.
async fn start_server_with_call(session: &Session, multipart: bool) -> (Child, ChildStdin) {
    let variables = session.binary_variables();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut child = binary(&[], &variables).current_dir(session.root()).spawn().expect("the binary starts");
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
    let mut session = fixture().open().await;
    let (mut child, input) = start_server_with_held_upload(&session, true, 3).await;
    drop(input);

    assert!(child.wait().await.expect("a status").success());
    assert_eq!((session.leftovers().await.0, session.states().len()), (1, 1));

    session.service.heal().await;
    let build = session.upload("game.apk").await;

    assert_eq!((&build["parts_resumed"], &build["parts"]), (&json!(3), &json!(7)));
    assert_eq!((session.leftovers().await.0, session.states()), (0, vec![]));
}

/// An upload in one part cannot be continued.
#[tokio::test]
async fn a_single_part_upload_that_a_shutdown_left_is_cancelled_by_the_next_one() {
    let mut session = fixture().open().await;
    let (mut child, input) = start_server_with_held_upload(&session, false, 0).await;
    drop(input);
    assert!(child.wait().await.expect("a status").success());
    assert_eq!((session.leftovers().await.0, session.states().len()), (1, 1));

    session.service.heal().await;
    session.host.succeed("upload_build", json!({"path": "game.apk", "multipart": false})).await;
    assert_eq!((session.leftovers().await.0, session.states()), (0, vec![]));
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_has_the_effect_of_the_end_of_input() {
    let session = fixture().open().await;
    let (mut child, _input) = start_server_with_held_upload(&session, true, 3).await;
    super::command::send_signal(&child, "-TERM").await;

    assert!(child.wait().await.expect("a status").success());
    assert_eq!((session.leftovers().await.0, session.states().len()), (1, 1));

    let requests = session.service.requests().await;

    assert!(requests.iter().all(|line| !line.starts_with("DELETE")), "{requests:?}");
}

#[tokio::test]
async fn an_upload_that_cannot_be_cancelled_is_reported_and_resumable() {
    let mut session = fixture().open().await;
    session.write("game.apk", &bytes(2_500));
    session.service.fault(json!({"operation": "complete_build_upload", "status": 400})).await;
    session.service.fault(json!({"operation": "cancel_build_upload", "status": 503, "times": 5})).await;

    let error = session.upload_failure("game.apk").await;
    let remains = error["details"]["upload"].as_str().unwrap_or_default();

    assert!(remains.starts_with("could not be cancelled") && remains.contains("times out"), "{error}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("to continue")), "{error}");
    assert_eq!((session.leftovers().await.0, session.states().len()), (1, 1));

    let build = session.upload("game.apk").await;

    assert_eq!((&build["parts_resumed"], &build["build_id"]), (&json!(3), &error["details"]["build_id"]));

    let parts: Value = json!(session.puts().await.len());

    assert_eq!((session.leftovers().await.0, parts), (0, json!(3)));
}

/// Returns a timing with a short time limit of cancellations.
fn short_limits() -> UploadTiming {
    UploadTiming { cancel_limit: Duration::from_millis(50), ..super::short_pauses() }
}

#[tokio::test]
async fn a_cancellation_without_an_answer_ends_soon() {
    let mut session = fixture().upload_timing(short_limits()).open().await;
    session.write("game.apk", &bytes(2_500));
    session.service.fault(json!({"operation": "complete_build_upload", "status": 400})).await;
    session.service.fault(json!({"operation": "cancel_build_upload", "delay_ms": 60_000, "times": 50})).await;

    let error = session.upload_failure("game.apk").await;
    let remains = error["details"]["upload"].as_str().unwrap_or_default();

    assert!(remains.contains("did not answer within"), "{error}");
    assert!(remains.ends_with("its space remains reserved until it times out"), "{error}");
    assert_eq!(session.states().len(), 1);
}

#[tokio::test]
async fn a_cancelled_upload_waits_only_briefly_for_its_completion() {
    let mut session = fixture().upload_timing(short_limits()).open().await;
    session.write("game.apk", &bytes(2_500));
    session
        .service
        .fault(json!({"operation": "complete_build_upload", "delay_ms": 60_000, "times": 50}))
        .await;

    let call = session.start_upload(json!({"path": "game.apk"})).await;
    while !session.service.writes().await.iter().any(|line| line.contains("/upload/complete")) {}
    session.cancel_request(call).await;
    // The time limit of a request is longer.
    let cleanup = tokio::time::timeout(Duration::from_secs(20), session.wait_for_cleanup()).await;
    cleanup.expect("the upload ends at once");
}

/// The cancellation proves that there is no build.
#[tokio::test]
async fn a_cancelled_upload_has_no_uncertain_outcome() {
    let mut session = fixture().open().await;
    session.write("game.apk", &bytes(2_500));
    session.service.fault(json!({"operation": "complete_build_upload", "reset": true, "times": 50})).await;
    let error = session.upload_failure("game.apk").await;
    assert_eq!((&error["code"], &error["hint"]), (&json!("outcome_unknown"), &json!("upload it again")));
    assert_eq!(error["details"]["upload"], "cancelled: nothing remains at the service");
}
