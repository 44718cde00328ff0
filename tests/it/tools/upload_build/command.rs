//! `tas-mcp upload`.

use std::fs;

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use super::{UploadFixture, bytes, hold_parts, sha256, text};
use crate::support::binary::binary;

pub(super) fn command(fixture: &UploadFixture, arguments: &[&str]) -> Command {
    let variables = fixture.variables();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut command = binary(&[&["upload"], arguments].concat(), &variables);
    command.current_dir(fixture.root.path()).env_remove("CI").env_remove("GITHUB_ACTIONS");
    command
}

/// Starts the command.
pub(super) fn started(fixture: &UploadFixture, arguments: &[&str]) -> Child {
    command(fixture, arguments).spawn().expect("the binary starts")
}

/// Runs the command: exit code, what it printed, and the errors that it told.
pub(super) async fn upload(
    fixture: &UploadFixture,
    arguments: &[&str],
) -> (Option<i32>, Vec<Value>, Vec<Value>) {
    ended(started(fixture, arguments)).await
}

async fn ended(child: Child) -> (Option<i32>, Vec<Value>, Vec<Value>) {
    let output = child.wait_with_output().await.expect("an output");
    let lines = |bytes: &[u8]| -> Vec<Value> {
        let text = std::str::from_utf8(bytes).expect("UTF-8");
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
            .collect()
    };

    let errors = lines(&output.stderr).into_iter().map(|mut line| line["error"].take()).collect();

    (output.status.code(), lines(&output.stdout), errors)
}

#[cfg(unix)]
pub(super) async fn signal(child: &Child, name: &str) {
    let id = child.id().expect("it runs").to_string();
    assert!(Command::new("kill").args([name, &id]).status().await.expect("kill is there").success());
}

#[tokio::test]
async fn several_files_become_several_builds() {
    let fixture = UploadFixture::open().await;
    let files = [("one.apk", bytes(2_500)), ("two.exe", bytes(3)), ("three.ipa", bytes(1_000))];

    for (name, bytes) in &files {
        fixture.write(name, bytes);
    }

    let (code, mut built, errors) =
        upload(&fixture, &["one.apk", "two.exe", "three.ipa", "--tag", "a", "--tag", "b"]).await;

    assert_eq!((code, errors, built.len()), (Some(0), vec![], 3));

    built.sort_by_key(|build| files.iter().position(|(name, _)| build["path"] == *name));
    for (build, (name, bytes)) in built.iter().zip(&files) {
        assert_eq!(
            (&build["path"], &build["status"], &build["name"]),
            (&json!(name), &json!("uploaded"), &json!(name))
        );
        assert_eq!(build["sha256"], sha256(bytes));
        assert_eq!(fixture.service.content(text(&build["build_id"])).await.as_ref(), Some(bytes));
        let shown = fixture.host().await.succeed("get_build", json!({"build_id": build["build_id"]})).await;
        assert_eq!(shown["tags"], json!(["a", "b"]));
    }
}

#[tokio::test]
async fn each_file_that_matches_a_pattern_is_uploaded_once() {
    let fixture = UploadFixture::open().await;
    fs::create_dir_all(fixture.root.path().join("out [1]/deep.apk")).expect("directories");

    for name in ["a.apk", "b.apk", "c.txt", "out [1]/d.apk", "e[1].apk"] {
        fixture.write(name, name.as_bytes());
    }

    let (code, mut built, errors) =
        upload(&fixture, &["b.apk", "?.apk", "out*/*.apk", "./a.apk", "e[1].apk"]).await;
    built.sort_by_key(|build| text(&build["path"]).to_owned());

    let paths: Vec<_> = built.iter().map(|build| text(&build["path"])).collect();

    assert_eq!((code, errors, paths), (Some(0), vec![], vec!["a.apk", "b.apk", "e[1].apk", "out [1]/d.apk"]));
}

#[tokio::test]
async fn invalid_arguments_are_reported_before_any_request() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", b"abc");
    fixture.write("game.zip", b"abc");
    fixture.write("empty.apk", b"");

    let cases: [(&[&str], &[&str]); 10] = [
        (&["game.apk", "missing.apk", "empty.apk"], &["file_error"]),
        (&["*.dmg"], &["file_error"]),
        (&["game.apk", "empty.apk", "game.zip"], &["file_error", "invalid_arguments"]),
        (&["game.apk", "game.zip", "--name", "one"], &["invalid_arguments"]),
        (&["game.apk", "--platform", "web"], &["invalid_arguments"]),
        (&["game.apk", "--details", "no"], &["invalid_arguments"]),
        (&["game.apk", "--upload-timeout", "0"], &["invalid_arguments"]),
        (&["game.apk", "--deletion-policy", "oldest"], &["invalid_arguments"]),
        (&["game.apk", "--auto-delete"], &["confirmation_required"]),
        (&["***"], &["invalid_arguments"]),
    ];

    for (arguments, codes) in cases {
        let (code, built, errors) = upload(&fixture, arguments).await;
        let said: Vec<_> = errors.iter().map(|error| text(&error["code"])).collect();
        assert_eq!((code, built, said), (Some(2), vec![], codes.to_vec()), "{arguments:?}");
    }

    assert_eq!(fixture.service.requests().await, [""; 0]);
    assert_eq!(fixture.journals(), [""; 0]);

    let (code, built, _) =
        upload(&fixture, &["game.apk", "--auto-delete", "--deletion-policy", "oldest", "--yes"]).await;

    assert_eq!((code, built.len()), (Some(0), 1));
}

#[tokio::test]
async fn a_call_without_files_is_a_usage_error() {
    let output = command(&UploadFixture::open().await, &[]).output().await.expect("an output");
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true));
}

#[tokio::test]
async fn a_failed_upload_does_not_stop_the_others() {
    let fixture = UploadFixture::open().await;
    fixture.write("one.apk", &bytes(10));
    fixture.write("two.apk", &bytes(20));
    // The uploads begin in their order.
    fixture.service.fault(json!({"operation": "initiate_build_upload", "status": 413})).await;

    let (code, built, errors) = upload(&fixture, &["one.apk", "two.apk"]).await;

    assert_eq!((code, errors.len(), built.len()), (Some(1), 1, 1));

    let paths: std::collections::BTreeSet<_> =
        [&errors[0]["details"]["path"], &built[0]["path"]].map(text).into();

    assert_eq!((&errors[0]["code"], paths), (&json!("too_large"), ["one.apk", "two.apk"].into()));
}

#[tokio::test]
async fn the_exit_code_tells_the_outcome() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", b"abc");

    for (status, expected) in [(402, 1), (403, 1), (500, 3)] {
        fixture.service.fault(json!({"operation": "initiate_build_upload", "status": status})).await;
        assert_eq!(upload(&fixture, &["game.apk"]).await.0, Some(expected), "{status}");
    }

    fixture.service.fault(json!({"operation": "initiate_build_upload", "reset": true})).await;

    assert_eq!(upload(&fixture, &["game.apk"]).await.0, Some(4));
}

/// A person names the file; a model may not (see `files`).
#[tokio::test]
async fn files_outside_the_working_directory_are_accepted_without_a_files_root() {
    let fixture = UploadFixture::open().await;
    let elsewhere = tempfile::Builder::new().suffix(".apk").tempfile().expect("a file");
    fs::write(elsewhere.path(), b"abc").expect("it can be written");

    let path = elsewhere.path().to_str().expect("a text");
    let (code, built, _) = upload(&fixture, &[path]).await;

    assert_eq!((code, &built[0]["path"]), (Some(0), &json!(path)));

    let root = super::text_of(&fixture.root);
    let (code, _, errors) = upload(&fixture, &[path, "--files-root", &root]).await;

    assert_eq!((code, &errors[0]["code"]), (Some(2), &json!("file_error")));

    let called = binary(
        &["call", "upload_build", "--path", path],
        &[("TAS_BASE_URL", &fixture.service.base_url()), ("TAS_API_KEY", keys::DEMO)],
    )
    .current_dir(fixture.root.path())
    .output()
    .await
    .expect("an output");

    assert!(called.status.code() == Some(2) && String::from_utf8_lossy(&called.stderr).contains("outside"));
}

#[tokio::test]
async fn every_flag_is_sent_to_the_service() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.zip", b"abc");

    let arguments = [
        "game.zip",
        "--name",
        "nightly",
        "--platform",
        "xbox",
        "--description",
        "d",
        "--details",
        r#"{"app": {"version": "1.2"}}"#,
        "--upload-timeout",
        "5",
        "--multipart",
        "false",
        "--no-fill-details",
        "--project-id",
        "demo",
    ];

    let (code, built, errors) = upload(&fixture, &arguments).await;

    assert_eq!((code, errors), (Some(0), vec![]));

    let shown = fixture.host().await.succeed("get_build", json!({"build_id": built[0]["build_id"]})).await;
    let seen = ["name", "platform", "description", "details"].map(|name| shown[name].clone());

    assert_eq!(seen, [json!("nightly"), json!("xbox"), json!("d"), json!({"app": {"version": "1.2"}})]);
    assert_eq!(fixture.puts().await, ["file 200"]);
}

#[cfg(unix)]
#[tokio::test]
async fn an_interrupt_cancels_the_uploads_at_the_service() {
    for name in ["-INT", "-TERM"] {
        let fixture = UploadFixture::open().await;
        fixture.write("one.apk", &bytes(2_500));
        fixture.write("two.apk", &bytes(500));
        hold_parts(&fixture.service, 0).await;

        let child = started(&fixture, &["one.apk", "two.apk"]);
        fixture.wait_for_pending_parts(4).await;
        signal(&child, name).await;

        let (code, built, errors) = ended(child).await;
        let told: Vec<_> = errors.iter().map(|error| (&error["code"], &error["details"]["upload"])).collect();
        let expected = (&json!("cancelled"), &json!("cancelled: nothing remains at the service"));

        assert_eq!((code, built, told), (Some(1), vec![], vec![expected; 2]));
        assert_eq!((fixture.leftovers().await, fixture.journals()), ((0, 0), vec![]));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_second_interrupt_exits_at_once_and_leaves_a_resumable_upload() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(6_500));
    hold_parts(&fixture.service, 3).await;
    fixture.service.fault(json!({"operation": "cancel_build_upload", "delay_ms": 60_000})).await;

    let child = started(&fixture, &["game.apk"]);
    fixture.wait_for_parts(3, 4).await;
    signal(&child, "-INT").await;

    while !fixture.service.writes().await.iter().any(|line| line.starts_with("DELETE")) {
        tokio::task::yield_now().await;
    }

    signal(&child, "-INT").await;
    let (code, built, errors) = ended(child).await;

    assert_eq!((code, built), (Some(1), vec![]));
    assert!(text(&errors[0]["hint"]).contains("--resume"), "{errors:?}");
    assert_eq!((fixture.leftovers().await.0, fixture.journals().len()), (1, 1));

    fixture.service.heal().await;
    let (code, built, _) = upload(&fixture, &["game.apk", "--resume"]).await;

    assert_eq!((code, &built[0]["parts_resumed"]), (Some(0), &json!(3)));
}

/// The first one has five parts, the last of which is held back; the second one is whole then.
#[cfg(unix)]
#[tokio::test]
async fn a_finished_upload_is_printed_while_others_are_in_progress() {
    let fixture = UploadFixture::open().await;
    fixture.write("one.apk", &bytes(4_500));
    fixture.write("two.apk", &bytes(500));
    hold_parts(&fixture.service, 0).await;
    fixture.service.fault(json!({"operation": "cancel_build_upload", "delay_ms": 60_000})).await;

    let mut child = started(&fixture, &["one.apk", "two.apk"]);
    fixture.wait_for_pending_parts(5).await;
    fixture.service.release().await;

    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let told: Value =
        serde_json::from_str(&lines.next_line().await.expect("a text").expect("a line")).expect("JSON");

    assert_eq!((&told["path"], &told["status"]), (&json!("two.apk"), &json!("uploaded")));

    signal(&child, "-INT").await;
    while !fixture.service.writes().await.iter().any(|line| line.starts_with("DELETE")) {
        tokio::task::yield_now().await;
    }

    signal(&child, "-INT").await;

    assert_eq!(lines.next_line().await.expect("a text"), None);
    assert_eq!(ended(child).await.0, Some(1));
}

/// The exit code 2 says that nothing was sent.
#[tokio::test]
async fn a_file_that_changes_is_not_a_usage_error() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(2_500));
    hold_parts(&fixture.service, 0).await;

    let child = started(&fixture, &["game.apk"]);
    fixture.wait_for_pending_parts(3).await;
    fixture.write("game.apk", b"abc");
    fixture.service.release().await;

    let (code, built, errors) = ended(child).await;

    assert_eq!((code, built, &errors[0]["code"]), (Some(1), vec![], &json!("file_error")));
}

#[tokio::test]
async fn the_key_is_not_printed() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", b"abc");
    let output = command(&fixture, &["game.apk", "--log", "trace"]).output().await.expect("an output");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8")).concat();
    assert!(said.contains("uploaded") && !said.contains(keys::DEMO), "{said}");
}
