//! The journal of an unfinished upload: what it holds, and what is made of one that is broken.

use std::fs;

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{UploadFixture, bytes, hold_parts, resuming::interrupt_upload, sha256, text};
use crate::support::host::Host;

#[tokio::test]
async fn a_journal_has_no_secrets_and_is_readable_by_its_owner_only() {
    let fixture = UploadFixture::open().await;
    interrupt_upload(&fixture, 3).await;

    let journals = fixture.journals();

    assert_eq!((journals.len(), journals[0].lines().count()), (1, 1 + 3));
    for secret in [keys::DEMO, "://", "X-Amz", "127.0.0.1"] {
        assert!(!journals[0].contains(secret), "{secret}: {}", journals[0]);
    }

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&fixture.journal_paths()[0]).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

/// Cuts an upload off, does something to its journal, and uploads the file once more; how many parts it went on from.
async fn parts_resumed_after(damage: impl Fn(&str) -> String) -> Value {
    let fixture = UploadFixture::open().await;
    interrupt_upload(&fixture, 3).await;

    let path = fixture.journal_paths().remove(0);
    fs::write(&path, damage(&fs::read_to_string(&path).expect("a text"))).expect("it can be written");

    let build = fixture.host().await.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!(fixture.service.content(text(&build["build_id"])).await, Some(bytes(10_000)));
    assert_eq!((&build["sha256"], fixture.journals()), (&json!(sha256(&bytes(10_000))), vec![]));
    build["parts_resumed"].clone()
}

#[tokio::test]
async fn an_incomplete_line_is_ignored() {
    assert_eq!(parts_resumed_after(|text| text[..text.len() - 8].to_owned()).await, 2);
    assert_eq!(parts_resumed_after(|text| format!("{text}{{\"part_num")).await, 3);
    assert_eq!(parts_resumed_after(|text| text.trim_end().to_owned()).await, 3);
}

#[tokio::test]
async fn invalid_lines_are_ignored() {
    let nonsense = [
        "\u{0}\u{0}\u{0}",
        "[]",
        "{\"part_number\":0,\"etag\":\"e\"}",
        "{\"part_number\":11,\"etag\":\"e\"}",
        "{\"part_number\":18446744073709551615,\"etag\":\"e\"}",
        "{\"part_number\":-1,\"etag\":\"e\"}",
        "{\"part_number\":9,\"etag\":\"\"}",
    ];
    assert_eq!(parts_resumed_after(|text| format!("{text}{}\n", nonsense.join("\n"))).await, 3);
}

#[tokio::test]
async fn an_invalid_header_starts_a_new_upload() {
    let damages: [fn(&str) -> String; 7] = [
        |_| String::new(),
        |_| "\n\n".to_owned(),
        |text| text.replacen('{', "", 1),
        |text| text.replace("\"part_size\":1000", "\"part_size\":0"),
        |text| text.replace("\"total_parts\":10", "\"total_parts\":11"),
        |text| text.replace("\"upload_id\":\"", "\"upload_id\":\"\",\"x\":\""),
        |text| text.replace("\"upload_id\":\"", "\"upload_id\":\"upl_other"),
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        assert_eq!(parts_resumed_after(damage).await, 0, "{number}");
    }
}

#[tokio::test]
async fn a_binary_journal_starts_a_new_upload() {
    let fixture = UploadFixture::open().await;
    interrupt_upload(&fixture, 3).await;
    fs::write(&fixture.journal_paths()[0], [0xff, 0xfe, 0, 10, 0xff]).expect("it can be written");
    let build = fixture.host().await.succeed("upload_build", json!({"path": "game.apk"})).await;
    assert_eq!((&build["parts_resumed"], fixture.journals()), (&json!(0), vec![]));
}

/// A tag that is not that of the part makes the completion fail: the next upload begins anew.
#[tokio::test]
async fn a_wrong_etag_makes_the_completion_fail() {
    let fixture = UploadFixture::open().await;
    interrupt_upload(&fixture, 3).await;

    let path = fixture.journal_paths().remove(0);
    let wrong = fs::read_to_string(&path).expect("a text").replace("\"etag\":\"", "\"etag\":\"x");
    fs::write(&path, wrong).expect("it can be written");

    let mut host = fixture.host().await;

    assert_eq!(host.fail("upload_build", json!({"path": "game.apk"})).await["code"], "rejected");
    assert_eq!((fixture.leftovers().await, fixture.journals()), ((0, 0), vec![]));

    host.succeed("upload_build", json!({"path": "game.apk"})).await;
}

#[tokio::test]
async fn an_upload_works_without_a_journal() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(2_500));
    let blocked = fixture.write("state", b"");
    let state = blocked.to_str().expect("a text");
    let mut host = Host::open(&fixture.settings(keys::DEMO, &[("TAS_STATE_DIR", state)])).await;
    assert_eq!(host.succeed("upload_build", json!({"path": "game.apk"})).await["parts"], 3);
}

/// A second upload of the same file leaves the first one alone.
#[tokio::test]
async fn an_upload_in_progress_on_another_server_is_not_started_again() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(2_500));
    hold_parts(&fixture.service, 0).await;

    let (mut one, mut other) = (fixture.host().await, fixture.host().await);
    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}});
    let first = one.start("tools/call", call.clone()).await;

    fixture.wait_for_pending_parts(3).await;
    fixture.service.heal().await;

    let error = other.fail("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!(error["message"], "`game.apk` is being uploaded by another process or call");
    assert_eq!((&error["code"], fixture.leftovers().await.0), (&json!("file_error"), 1));

    // Another build of the file is another upload; it has no journal.
    let arguments = json!({"path": "game.apk", "name": "another"});

    assert_eq!(other.succeed("upload_build", arguments).await["parts"], 3);
    assert_eq!((fixture.leftovers().await.0, fixture.journals().len()), (1, 1));

    one.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": first}}))
        .await;
    while !fixture.journals().is_empty() {
        tokio::task::yield_now().await;
    }

    assert_eq!(fixture.leftovers().await.0, 0);
}
