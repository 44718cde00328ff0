//! Progress notifications during an upload.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tas_mcp::tools::upload::UploadTiming;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::{PART, bytes, fixture, hold_parts, short_pauses, text};
use crate::support::binary::binary;

/// Returns a timing with a short interval of progress messages.
fn frequent_progress() -> UploadTiming {
    UploadTiming { progress_interval: Duration::from_millis(5), ..short_pauses() }
}

/// Uploads a file of 12 parts. Returns the progress notifications and the result.
async fn upload_with_progress(meta: Value) -> (Vec<Value>, Value) {
    let mut session = fixture().upload_timing(frequent_progress()).open().await;
    session.write("game.apk", &bytes(12 * PART));
    session.service.fault(json!({"operation": "put_part", "delay_ms": 60, "times": 12})).await;

    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}, "_meta": meta});
    let call = session.host.start("tools/call", call).await;
    let mut notifications = Vec::new();

    loop {
        let message = session.host.receive().await;
        if message["id"] == call {
            // No notification follows the answer.
            let ping = session.host.start("ping", Value::Null).await;
            assert_eq!(session.host.receive().await["id"], ping);
            return (notifications, message["result"]["structuredContent"].clone());
        }

        assert_eq!(message["method"], "notifications/progress");

        notifications.push(message["params"].clone());
    }
}

/// Asserts that progress increases, and that each notification has the total and the speed.
fn assert_progress(notifications: &[Value], total: usize) {
    let done: Vec<_> = notifications.iter().map(|one| one["progress"].as_f64().expect("a number")).collect();

    assert!(done.windows(2).all(|pair| pair[0] < pair[1]), "{done:?}");
    for one in notifications {
        assert_eq!(
            (&one["progressToken"], one["total"].as_f64()),
            (&json!("p"), u32::try_from(total).ok().map(f64::from))
        );
        assert!(text(&one["message"]).contains("B of ") && text(&one["message"]).ends_with("B/s"), "{one}");
    }
}

#[tokio::test]
async fn progress_increases_until_the_answer() {
    let (notifications, build) = upload_with_progress(json!({"progressToken": "p"})).await;
    assert_eq!(build["status"], "uploaded");
    // Four parts are sent in parallel, so that 12 parts take three rounds. Each round reports progress.
    assert!(notifications.len() >= 3, "{notifications:?}");
    assert_progress(&notifications, 12 * PART);
}

#[tokio::test]
async fn without_a_progress_token_no_progress_is_sent() {
    let (notifications, build) = upload_with_progress(json!({})).await;
    assert_eq!((notifications, &build["status"]), (vec![], &json!("uploaded")));
}

#[tokio::test]
async fn a_host_on_standard_input_gets_at_most_one_message_a_second() {
    let session = fixture().open().await;
    session.write("game.apk", &bytes(8 * PART));
    session.service.fault(json!({"operation": "put_part", "delay_ms": 700, "times": 8})).await;

    let variables = session.binary_variables();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut child = binary(&[], &variables).current_dir(session.root()).spawn().expect("the binary starts");
    let mut input = child.stdin.take().expect("an input");
    let mut lines = BufReader::new(child.stdout.take().expect("an output")).lines();
    let client = json!({"name": "host", "version": "1"});
    let opening = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let arguments =
        json!({"name": "upload_build", "arguments": {"path": "game.apk"}, "_meta": {"progressToken": "p"}});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}),
    ];
    let started = Instant::now();

    for message in messages {
        input.write_all(format!("{message}\n").as_bytes()).await.expect("the server reads");
    }

    let mut notifications = Vec::new();
    loop {
        let line = lines.next_line().await.expect("a line").expect("the server is there");
        let message: Value = serde_json::from_str(&line).expect("JSON");
        if message["id"] == 1 {
            assert_eq!(message["result"]["structuredContent"]["status"], "uploaded", "{message}");
            break;
        }

        if message["method"] == "notifications/progress" {
            notifications.push(message["params"].clone());
        }
    }

    assert_progress(&notifications, 8 * PART);

    let seconds = usize::try_from(started.elapsed().as_secs()).expect("a few");

    assert!((2..=seconds + 1).contains(&notifications.len()), "{seconds} s: {notifications:?}");
}

/// Hosts give up calls without progress.
#[tokio::test]
async fn a_stalled_upload_reports_progress_too() {
    let mut session = fixture().upload_timing(frequent_progress()).open().await;
    session.write("game.apk", &bytes(3 * PART));
    hold_parts(&session.service, 0).await;

    let meta = json!({"progressToken": "p"});
    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}, "_meta": meta});
    let call = session.host.start("tools/call", call).await;

    session.wait_for_pending_parts(3).await;
    let mut notifications = Vec::new();

    while notifications.len() < 20 {
        notifications.push(session.host.receive().await["params"].clone());
    }

    assert_progress(&notifications, 3 * PART);

    session.service.release().await;

    assert_eq!(session.host.answer(call).await["result"]["structuredContent"]["status"], "uploaded");
}
