//! `tas-mcp upload`.

use std::fs;

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use super::{bytes, fixture, hold_parts, sha256, text};
use crate::support::{binary::binary, fixture::Session};

/// Returns the command in the files root.
pub(super) fn command(session: &Session, arguments: &[&str]) -> Command {
    let variables = session.binary_variables();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut command = binary(&[&["upload", "--json"], arguments].concat(), &variables);
    // A CI job would add its details to the builds.
    command.current_dir(session.root()).env_remove("CI").env_remove("GITHUB_ACTIONS");
    command
}

/// Starts the command.
pub(super) fn start_command(session: &Session, arguments: &[&str]) -> Child {
    command(session, arguments).spawn().expect("the binary starts")
}

/// Runs the command. Returns the exit code, the printed builds and the errors.
pub(super) async fn upload(session: &Session, arguments: &[&str]) -> (Option<i32>, Vec<Value>, Vec<Value>) {
    wait_for_exit(start_command(session, arguments)).await
}

/// Waits for the end of the command. Returns the exit code, the printed builds and the errors.
pub(super) async fn wait_for_exit(child: Child) -> (Option<i32>, Vec<Value>, Vec<Value>) {
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
/// Sends a signal to a process.
pub(super) async fn send_signal(child: &Child, name: &str) {
    let id = child.id().expect("it runs").to_string();
    assert!(Command::new("kill").args([name, &id]).status().await.expect("kill is there").success());
}

#[tokio::test]
async fn several_files_become_several_builds() {
    let mut session = fixture().open().await;
    let files = [("one.apk", bytes(2_500)), ("two.exe", bytes(3)), ("three.ipa", bytes(1_000))];

    for (name, bytes) in &files {
        session.write(name, bytes);
    }

    let (code, mut built, errors) =
        upload(&session, &["one.apk", "two.exe", "three.ipa", "--tag", "a", "--tag", "b"]).await;

    assert_eq!((code, errors, built.len()), (Some(0), vec![], 3));

    built.sort_by_key(|build| files.iter().position(|(name, _)| build["path"] == *name));
    for (build, (name, bytes)) in built.iter().zip(&files) {
        assert_eq!(
            (&build["path"], &build["status"], &build["name"]),
            (&json!(name), &json!("uploaded"), &json!(name))
        );
        assert_eq!(build["sha256"], sha256(bytes));
        assert_eq!(session.service.content(text(&build["build_id"])).await.as_ref(), Some(bytes));
        let record = session.host.succeed("get_build", json!({"build_id": build["build_id"]})).await;
        assert_eq!(record["tags"], json!(["a", "b"]));
    }
}

#[tokio::test]
async fn each_file_that_matches_a_pattern_is_uploaded_once() {
    let session = fixture().open().await;
    fs::create_dir_all(session.root().join("out [1]/deep.apk")).expect("directories");

    for name in ["a.apk", "b.apk", "c.txt", "out [1]/d.apk", "e[1].apk"] {
        session.write(name, name.as_bytes());
    }

    let (code, mut built, errors) =
        upload(&session, &["b.apk", "?.apk", "out*/*.apk", "./a.apk", "e[1].apk"]).await;
    built.sort_by_key(|build| text(&build["path"]).to_owned());

    let paths: Vec<_> = built.iter().map(|build| text(&build["path"])).collect();

    assert_eq!((code, errors, paths), (Some(0), vec![], vec!["a.apk", "b.apk", "e[1].apk", "out [1]/d.apk"]));
}

#[tokio::test]
async fn invalid_arguments_are_reported_before_any_request() {
    let session = fixture().open().await;
    session.write("game.apk", b"abc");
    session.write("game.zip", b"abc");
    session.write("empty.apk", b"");

    let cases: [(&[&str], &[&str]); 6] = [
        (&["game.apk", "missing.apk", "empty.apk"], &["file_error"]),
        (&["*.dmg"], &["file_error"]),
        (&["game.apk", "empty.apk", "game.zip"], &["file_error", "invalid_arguments"]),
        (&["game.apk", "game.zip", "--name", "one"], &["invalid_arguments"]),
        (&["game.apk", "--auto-delete"], &["confirmation_required"]),
        (&["[a*"], &["invalid_arguments"]),
    ];

    for (arguments, codes) in cases {
        let (code, built, errors) = upload(&session, arguments).await;
        let said: Vec<_> = errors.iter().map(|error| text(&error["code"])).collect();
        assert_eq!((code, built, said), (Some(2), vec![], codes.to_vec()), "{arguments:?}");
    }

    assert_eq!(session.service.requests().await, [""; 0]);
    assert_eq!(session.states(), [""; 0]);

    let (code, built, _) = upload(&session, &["game.apk", "--auto-delete", "--yes"]).await;

    assert_eq!((code, built.len()), (Some(0), 1));
}

#[tokio::test]
async fn a_failed_upload_does_not_stop_the_others() {
    let session = fixture().open().await;
    session.write("one.apk", &bytes(10));
    session.write("two.apk", &bytes(20));
    // The uploads start in the order of the arguments.
    session.service.fault(json!({"operation": "initiate_build_upload", "status": 413})).await;

    let (code, built, errors) = upload(&session, &["one.apk", "two.apk"]).await;

    assert_eq!((code, errors.len(), built.len()), (Some(1), 1, 1));

    let paths: std::collections::BTreeSet<_> =
        [&errors[0]["details"]["path"], &built[0]["path"]].map(text).into();

    assert_eq!((&errors[0]["code"], paths), (&json!("too_large"), ["one.apk", "two.apk"].into()));
}

#[tokio::test]
async fn the_exit_code_shows_the_outcome() {
    let session = fixture().open().await;
    session.write("game.apk", b"abc");

    for (status, expected) in [(402, 1), (403, 1), (500, 3)] {
        session.service.fault(json!({"operation": "initiate_build_upload", "status": status})).await;
        assert_eq!(upload(&session, &["game.apk"]).await.0, Some(expected), "{status}");
    }

    session.service.fault(json!({"operation": "initiate_build_upload", "reset": true})).await;

    assert_eq!(upload(&session, &["game.apk"]).await.0, Some(4));
}

/// On the command line a person chooses the file. Only calls of a model need a files root (see `files`).
#[tokio::test]
async fn files_outside_the_working_directory_are_accepted_without_a_files_root() {
    let session = fixture().open().await;
    let elsewhere = tempfile::Builder::new().suffix(".apk").tempfile().expect("a file");
    fs::write(elsewhere.path(), b"abc").expect("it can be written");

    let path = elsewhere.path().to_str().expect("a text");
    let (code, built, _) = upload(&session, &[path]).await;

    assert_eq!((code, &built[0]["path"]), (Some(0), &json!(path)));

    let root = session.root().to_str().expect("UTF-8").to_owned();
    let (code, _, errors) = upload(&session, &[path, "--files-root", &root]).await;

    assert_eq!((code, &errors[0]["code"]), (Some(2), &json!("file_error")));

    let called = binary(
        &["call", "upload_build", "--path", path],
        &[("TAS_BASE_URL", &session.service.base_url()), ("TAS_API_KEY", keys::DEMO)],
    )
    .current_dir(session.root())
    .output()
    .await
    .expect("an output");

    assert!(called.status.code() == Some(2) && String::from_utf8_lossy(&called.stderr).contains("outside"));
}

#[tokio::test]
async fn every_flag_is_sent_to_the_service() {
    let mut session = fixture().open().await;
    session.write("game.zip", b"abc");

    let arguments = [
        "game.zip",
        "--name",
        "nightly",
        "--platform",
        "xbox",
        "--description",
        "d",
        "--commit",
        "0123456789",
        "--branch",
        "main",
        "--run-url",
        "https://ci:token@ci.example/1?secret=s",
        "--project-id",
        "demo",
    ];

    let (code, built, errors) = upload(&session, &arguments).await;

    assert_eq!((code, errors), (Some(0), vec![]));

    let record = session.host.succeed("get_build", json!({"build_id": built[0]["build_id"]})).await;
    let fields = ["name", "platform", "description", "details"].map(|name| record[name].clone());

    let details = json!({
        "ci": {"run_url": "https://ci.example/1"},
        "vcs": {"type": "git", "commit": {"hash": "0123456789", "short_hash": "0123456"}, "branch": "main"},
        "upload": {"method": "cli", "cli_version": env!("CARGO_PKG_VERSION")},
    });
    assert_eq!(fields, [json!("nightly"), json!("xbox"), json!("d"), details]);
}

/// The first file has five parts, of which the last is delayed. The only part of the second file is accepted.
#[cfg(unix)]
#[tokio::test]
async fn a_finished_upload_is_printed_while_others_are_in_progress() {
    let session = fixture().open().await;
    session.write("one.apk", &bytes(4_500));
    session.write("two.apk", &bytes(500));
    hold_parts(&session.service, 0).await;

    let mut child = start_command(&session, &["one.apk", "two.apk"]);
    session.wait_for_pending_parts(5).await;
    session.service.release().await;

    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let printed: Value =
        serde_json::from_str(&lines.next_line().await.expect("a text").expect("a line")).expect("JSON");

    assert_eq!((&printed["path"], &printed["status"]), (&json!("two.apk"), &json!("uploaded")));

    send_signal(&child, "-INT").await;

    assert_eq!(lines.next_line().await.expect("a text"), None);
    assert_eq!(wait_for_exit(child).await.0, Some(130));
}

/// The exit code 2 would mean that nothing was sent.
#[tokio::test]
async fn a_file_that_changes_is_not_a_usage_error() {
    let session = fixture().open().await;
    session.write("game.apk", &bytes(2_500));
    hold_parts(&session.service, 0).await;

    let child = start_command(&session, &["game.apk"]);
    session.wait_for_pending_parts(3).await;
    session.write("game.apk", b"abc");
    session.service.release().await;

    let (code, built, errors) = wait_for_exit(child).await;

    assert_eq!((code, built, &errors[0]["code"]), (Some(1), vec![], &json!("file_error")));
}

#[tokio::test]
async fn the_key_is_not_printed() {
    let session = fixture().open().await;
    session.write("game.apk", b"abc");
    let output = command(&session, &["game.apk", "--log", "trace"]).output().await.expect("an output");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8")).concat();
    assert!(said.contains("uploaded") && !said.contains(keys::DEMO), "{said}");
}
