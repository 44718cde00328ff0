//! Faults that an upload meets, one by one; `fault_table` has many more.

use serde_json::{Value, json};

use super::{UploadFixture, bytes, hold_parts, short_pauses, text};

/// Two parts of 1,000 bytes and one of 500.
const SIZE: usize = 2_500;

#[tokio::test]
async fn an_expired_address_is_replaced() {
    let fixture = UploadFixture::open().await;
    let file = bytes(SIZE);
    fixture.write("game.apk", &file);
    hold_parts(&fixture.service, 0).await;

    let mut host = fixture.host().await;
    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk", "upload_timeout": 300}});
    let call = host.start("tools/call", call).await;

    fixture.wait_for_pending_parts(3).await;
    fixture.service.advance(3_600.0);
    fixture.service.heal().await;
    fixture.service.release().await;

    let build = host.answer(call).await["result"]["structuredContent"].clone();

    assert_eq!(build["bytes_sent_again"], SIZE);
    assert_eq!(fixture.service.content(text(&build["build_id"])).await, Some(file));

    let mut puts = fixture.puts().await;
    puts.sort();

    assert_eq!(puts, ["1 200", "1 403", "2 200", "2 403", "3 200", "3 403"]);

    let asked = fixture.service.requests().await.into_iter().filter(|line| line.contains("/upload/parts"));

    assert_eq!(asked.count(), 1 + 3);
}

/// The address of a file in one piece comes with its upload only (supplement 10.6).
#[tokio::test]
async fn a_refused_address_of_a_single_part_upload_initiates_another_upload_once() {
    for (refusals, outcome) in [(1, "uploaded"), (2, "rejected")] {
        let fixture = UploadFixture::open().await;
        fixture.write("game.apk", b"abc");
        fixture.service.fault(json!({"operation": "put_part", "status": 403, "times": refusals})).await;

        let result =
            fixture.host().await.call("upload_build", json!({"path": "game.apk", "multipart": false})).await;
        let error: Value = serde_json::from_str(text(&result["content"][0]["text"])).expect("JSON");
        let became = if outcome == "uploaded" { &error["status"] } else { &error["error"]["code"] };

        assert_eq!(became, outcome, "{result}");

        let begun = fixture
            .service
            .writes()
            .await
            .iter()
            .filter(|line| line.starts_with("POST") && line.ends_with("/upload 200"))
            .count();

        assert_eq!((begun, fixture.leftovers().await.0), (2, 0));
    }
}

/// What had been begun is cancelled then, and nothing came in its place.
#[tokio::test]
async fn a_second_initiation_that_fails_is_reported() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", b"abc");
    fixture.service.fault(json!({"operation": "put_part", "status": 401})).await;
    fixture.service.fault(json!({"operation": "initiate_build_upload", "delay_ms": 0})).await;
    fixture.service.fault(json!({"operation": "initiate_build_upload", "status": 402})).await;

    let error =
        fixture.host().await.fail("upload_build", json!({"path": "game.apk", "multipart": false})).await;

    assert_eq!((&error["code"], &error["details"]["upload"]), (&json!("quota_exceeded"), &Value::Null));
    assert!(!error.to_string().contains("upload_timeout"), "{error}");

    let writes = fixture.service.writes().await;

    assert_eq!(writes.iter().filter(|line| line.starts_with("DELETE")).count(), 1, "{writes:?}");
    assert_eq!(fixture.leftovers().await, (0, 0));
}

/// The service ends an upload that takes longer than its `upload_timeout`.
#[tokio::test]
async fn an_upload_that_timed_out_at_the_service_is_reported() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(SIZE));
    hold_parts(&fixture.service, 0).await;

    let mut host = fixture.host().await;
    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk", "upload_timeout": 5}});
    let call = host.start("tools/call", call).await;

    fixture.wait_for_pending_parts(3).await;
    fixture.service.advance(300.0);
    fixture.service.release().await;

    let result = host.answer(call).await["result"].clone();
    let error: Value = serde_json::from_str(text(&result["content"][0]["text"])).expect("JSON");
    let error = &error["error"];

    assert_eq!(error["code"], "rejected");
    assert!(text(&error["message"]).contains("NoSuchUpload"), "{error}");
    assert!(text(&error["hint"]).contains("upload_timeout"), "{error}");
    assert_eq!(error["details"]["upload"], "the service has no such upload any more");
    assert_eq!((fixture.leftovers().await, fixture.journals()), ((0, 0), vec![]));
}

/// A storage host that takes a connection and then nothing.
#[tokio::test]
async fn a_stalled_part_is_sent_again() {
    let fixture = UploadFixture::open().await;
    let file = bytes(SIZE);
    fixture.write("game.apk", &file);
    hold_parts(&fixture.service, 2).await;

    let timing = tas_mcp::tools::upload::UploadTiming {
        stall_limit: std::time::Duration::from_millis(200),
        ..short_pauses()
    };
    let settings = fixture.settings(tas_mcp::sandbox::keys::DEMO, &[]).with_upload_timing(timing);
    let mut host = crate::support::host::Host::open(&settings).await;
    let call =
        host.start("tools/call", json!({"name": "upload_build", "arguments": {"path": "game.apk"}})).await;

    while fixture.puts().await.len() < 4 {
        tokio::task::yield_now().await;
    }

    fixture.service.heal().await;
    let build = host.answer(call).await["result"]["structuredContent"].clone();

    assert_eq!(fixture.service.content(text(&build["build_id"])).await, Some(file));
    assert!(build["bytes_sent_again"].as_u64().is_some_and(|again| again > 0), "{build}");
}

#[tokio::test]
async fn attempts_are_separated_by_pauses() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", b"abc");
    fixture.service.fault(json!({"operation": "put_part", "status": 500, "times": 2})).await;

    let [first, longest] = [40, 80].map(std::time::Duration::from_millis);
    let backoff = tas_mcp::backoff::Backoff::new(first, longest, 2.0);
    let timing = tas_mcp::tools::upload::UploadTiming { backoff, ..short_pauses() };
    let settings = fixture.settings(tas_mcp::sandbox::keys::DEMO, &[]).with_upload_timing(timing);
    let build = crate::support::host::Host::open(&settings)
        .await
        .succeed("upload_build", json!({"path": "game.apk"}))
        .await;

    // Half of each at least.
    assert!(build["seconds"].as_f64().is_some_and(|seconds| seconds >= 0.06), "{build}");
}
