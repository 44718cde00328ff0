//! What a host is told while a file is uploaded.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tas_mcp::{sandbox::keys, tools::upload::UploadTiming};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::{PART, UploadFixture, bytes, short_pauses, text};
use crate::support::{binary::binary, host::Host};

/// Uploads a file of 12 parts, each round of which takes its time; what the host is told, and the answer.
async fn told(meta: Value) -> (Vec<Value>, Value) {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(12 * PART));
    fixture.service.fault(json!({"operation": "put_part", "delay_ms": 60, "times": 12})).await;

    let timing = UploadTiming { progress_interval: Duration::from_millis(5), ..short_pauses() };
    let mut host = Host::open(&fixture.settings(keys::DEMO, &[]).with_upload_timing(timing)).await;
    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}, "_meta": meta});
    let call = host.start("tools/call", call).await;
    let mut told = Vec::new();

    loop {
        let message = host.receive().await;
        if message["id"] == call {
            // Nothing comes after the answer.
            let ping = host.start("ping", Value::Null).await;
            assert_eq!(host.receive().await["id"], ping);
            return (told, message["result"]["structuredContent"].clone());
        }

        assert_eq!(message["method"], "notifications/progress");

        told.push(message["params"].clone());
    }
}

fn assert_progress(told: &[Value], total: usize) {
    let done: Vec<_> = told.iter().map(|one| one["progress"].as_f64().expect("a number")).collect();

    assert!(done.windows(2).all(|pair| pair[0] < pair[1]), "{done:?}");
    for one in told {
        assert_eq!(
            (&one["progressToken"], one["total"].as_f64()),
            (&json!("p"), u32::try_from(total).ok().map(f64::from))
        );
        assert!(
            text(&one["message"]).contains(" MiB, ") && text(&one["message"]).ends_with(" MiB/s"),
            "{one}"
        );
    }
}

#[tokio::test]
async fn progress_increases_until_the_answer() {
    let (told, build) = told(json!({"progressToken": "p"})).await;
    assert_eq!(build["status"], "uploaded");
    // One for each round at least.
    assert!(told.len() >= 3, "{told:?}");
    assert_progress(&told, 12 * PART);
}

#[tokio::test]
async fn without_a_progress_token_no_progress_is_sent() {
    let (told, build) = told(json!({})).await;
    assert_eq!((told, &build["status"]), (vec![], &json!("uploaded")));
}

#[tokio::test]
async fn a_host_on_standard_input_gets_at_most_one_message_a_second() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(8 * PART));
    fixture.service.fault(json!({"operation": "put_part", "delay_ms": 700, "times": 8})).await;

    let variables = fixture.variables();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut child =
        binary(&[], &variables).current_dir(fixture.root.path()).spawn().expect("the binary starts");
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
    let begun = Instant::now();

    for message in messages {
        input.write_all(format!("{message}\n").as_bytes()).await.expect("the server reads");
    }

    let mut told = Vec::new();
    loop {
        let line = lines.next_line().await.expect("a line").expect("the server is there");
        let message: Value = serde_json::from_str(&line).expect("JSON");
        if message["id"] == 1 {
            assert_eq!(message["result"]["structuredContent"]["status"], "uploaded", "{message}");
            break;
        }

        if message["method"] == "notifications/progress" {
            told.push(message["params"].clone());
        }
    }

    assert_progress(&told, 8 * PART);

    let seconds = usize::try_from(begun.elapsed().as_secs()).expect("a few");

    assert!((2..=seconds + 1).contains(&told.len()), "{seconds} s: {told:?}");
}

#[test]
fn the_default_progress_interval_is_one_second() {
    assert_eq!(UploadTiming::default().progress_interval, Duration::from_secs(1));
}

/// A host that hears nothing for a while gives up.
#[tokio::test]
async fn a_stalled_upload_reports_progress_too() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(3 * PART));
    super::hold_parts(&fixture.service, 0).await;

    let timing = UploadTiming { progress_interval: Duration::from_millis(5), ..short_pauses() };
    let mut host = Host::open(&fixture.settings(keys::DEMO, &[]).with_upload_timing(timing)).await;
    let meta = json!({"progressToken": "p"});
    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}, "_meta": meta});
    let call = host.start("tools/call", call).await;

    fixture.wait_for_pending_parts(3).await;
    let mut told = Vec::new();

    while told.len() < 20 {
        told.push(host.receive().await["params"].clone());
    }

    assert_progress(&told, 3 * PART);

    fixture.service.release().await;

    assert_eq!(host.answer(call).await["result"]["structuredContent"]["status"], "uploaded");
}
