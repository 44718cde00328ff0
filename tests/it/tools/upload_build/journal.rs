//! The journal of an unfinished upload: its contents, and damaged journals.

use std::fs;

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{bytes, fixture, hold_parts, resuming::interrupt_upload, sha256, text};

#[tokio::test]
async fn a_journal_has_no_secrets_and_is_readable_by_its_owner_only() {
    let session = fixture().open().await;
    interrupt_upload(&session, 3).await;

    let journals = session.journals();

    assert_eq!((journals.len(), journals[0].lines().count()), (1, 1 + 3));
    for secret in [keys::DEMO, "://", "X-Amz", "127.0.0.1"] {
        assert!(!journals[0].contains(secret), "{secret}: {}", journals[0]);
    }

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&session.journal_paths()[0]).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

/// Interrupts an upload, damages its journal, and uploads the file again. Returns the number of resumed parts.
async fn parts_resumed_after(damage: impl Fn(&str) -> String) -> Value {
    let mut session = fixture().open().await;
    interrupt_upload(&session, 3).await;

    let path = session.journal_paths().remove(0);
    fs::write(&path, damage(&fs::read_to_string(&path).expect("a text"))).expect("it can be written");

    let build = session.upload("game.apk").await;

    assert_eq!(session.service.content(text(&build["build_id"])).await, Some(bytes(10_000)));
    assert_eq!((&build["sha256"], session.journals()), (&json!(sha256(&bytes(10_000))), vec![]));
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
    let mut session = fixture().open().await;
    interrupt_upload(&session, 3).await;
    fs::write(&session.journal_paths()[0], [0xff, 0xfe, 0, 10, 0xff]).expect("it can be written");
    let build = session.upload("game.apk").await;
    assert_eq!((&build["parts_resumed"], session.journals()), (&json!(0), vec![]));
}

/// After the failed completion, the next upload starts from the beginning.
#[tokio::test]
async fn a_wrong_etag_makes_the_completion_fail() {
    let mut session = fixture().open().await;
    interrupt_upload(&session, 3).await;

    let path = session.journal_paths().remove(0);
    let wrong = fs::read_to_string(&path).expect("a text").replace("\"etag\":\"", "\"etag\":\"x");
    fs::write(&path, wrong).expect("it can be written");

    assert_eq!(session.upload_failure("game.apk").await["code"], "rejected");
    assert_eq!((session.leftovers().await, session.journals()), ((0, 0), vec![]));

    session.upload("game.apk").await;
}

#[tokio::test]
async fn an_upload_works_without_a_journal() {
    let session = fixture().open().await;
    session.write("game.apk", &bytes(2_500));
    let blocked = session.write("state", b"");
    let state = blocked.to_str().expect("a text");
    let mut host = session.another_host(keys::DEMO, &[("TAS_STATE_DIR", state)]).await;
    assert_eq!(host.succeed("upload_build", json!({"path": "game.apk"})).await["parts"], 3);
}

/// Two uploads with one journal would overwrite its lines.
#[tokio::test]
async fn an_upload_in_progress_on_another_server_is_not_started_again() {
    let mut session = fixture().open().await;
    session.write("game.apk", &bytes(2_500));
    hold_parts(&session.service, 0).await;

    let mut other = session.another_host(keys::DEMO, &[]).await;
    let call = json!({"name": "upload_build", "arguments": {"path": "game.apk"}});
    let first = session.host.start("tools/call", call.clone()).await;

    session.wait_for_pending_parts(3).await;
    session.service.heal().await;

    let error = other.fail("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!(error["message"], "`game.apk` is being uploaded by another process or call");
    assert_eq!((&error["code"], session.leftovers().await.0), (&json!("file_error"), 1));

    // An upload with another name is another upload. It has no journal, because the file has one already.
    let arguments = json!({"path": "game.apk", "name": "another"});

    assert_eq!(other.succeed("upload_build", arguments).await["parts"], 3);
    assert_eq!((session.leftovers().await.0, session.journals().len()), (1, 1));

    session.cancel_request(first).await;
    session.wait_for_journal_removal().await;

    assert_eq!(session.leftovers().await.0, 0);
}
