//! Single faults during an upload. `fault_table` has many more.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::tools::upload::UploadTiming;

use super::{bytes, fixture, hold_parts, short_pauses, text};

/// Two parts of 1,000 bytes and one of 500.
const SIZE: usize = 2_500;

/// The service ends an upload that takes longer than its `upload_timeout`.
#[tokio::test]
async fn an_upload_that_timed_out_at_the_service_is_reported() {
    let mut session = fixture().open().await;
    session.write("game.apk", &bytes(SIZE));
    hold_parts(&session.service, 0).await;

    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk", "upload_timeout": 5}});
    let call = session.host.start("tools/call", call).await;

    session.wait_for_pending_parts(3).await;
    session.service.advance(300.0);
    session.service.release().await;

    let result = session.host.answer(call).await["result"].clone();
    let error: Value = serde_json::from_str(text(&result["content"][0]["text"])).expect("JSON");
    let error = &error["error"];

    assert_eq!(error["code"], "rejected");
    assert!(text(&error["message"]).contains("NoSuchUpload"), "{error}");
    assert!(text(&error["hint"]).contains("upload_timeout"), "{error}");
    assert_eq!(error["details"]["upload"], "the service has no such upload any more");
    assert_eq!((session.leftovers().await, session.states()), ((0, 0), vec![]));
}

/// The storage host accepts the connection but no bytes.
#[tokio::test]
async fn a_stalled_part_is_sent_again() {
    let timing = UploadTiming { stall_limit: Duration::from_millis(200), ..short_pauses() };
    let mut session = fixture().upload_timing(timing).open().await;
    let file = bytes(SIZE);
    session.write("game.apk", &file);
    hold_parts(&session.service, 2).await;

    let call = session.start_upload(json!({"path": "game.apk"})).await;

    while session.puts().await.len() < 4 {
        tokio::task::yield_now().await;
    }

    session.service.heal().await;
    let build = session.host.answer(call).await["result"]["structuredContent"].clone();

    assert_eq!(session.service.content(text(&build["build_id"])).await, Some(file));
    assert!(build["bytes_sent_again"].as_u64().is_some_and(|again| again > 0), "{build}");
}
