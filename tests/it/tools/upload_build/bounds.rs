//! File permissions, and the limit of open files.
#![cfg(unix)]

use std::{
    ffi::OsStr,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::Path,
    process::Stdio,
};

use serde_json::Value;
use tokio::process::Command;

use super::{command::command, fixture, text};
use crate::support::fixture::Session;

/// The id of the user `nobody`, who owns no files.
const NOBODY: u32 = 65_534;

/// Returns a command with another program and the directory, variables and pipes of `plain`.
fn with_program(plain: &Command, program: impl AsRef<OsStr>) -> Command {
    let plain = plain.as_std();
    let mut other = Command::new(program);

    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => other.env(name, value),
            None => other.env_remove(name),
        };
    }

    other.current_dir(plain.get_current_dir().expect("a directory")).kill_on_drop(true);
    other.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());

    other
}

/// Runs a command. Returns the exit code, the number of builds and the errors.
async fn run_command(mut command: Command) -> (Option<i32>, usize, Vec<Value>) {
    let output = command.output().await.expect("an output");
    let (built, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let errors =
        errors.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["error"].take());
    (output.status.code(), built.lines().count(), errors.collect())
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the mode can be set");
}

/// Uploads as a user that file permissions restrict. If the tests run as root, the user is `nobody`.
async fn upload_without_privileges(
    session: &Session,
    arguments: &[&str],
) -> (Option<i32>, usize, Vec<Value>) {
    let plain = command(session, arguments);
    // The files of the test belong to the user that runs the test.
    if session.root().metadata().expect("a directory").uid() != 0 {
        return run_command(plain).await;
    }

    for directory in [session.root(), session.state()] {
        chown(directory, Some(NOBODY), Some(NOBODY)).expect("the owner can be changed");
    }

    let elsewhere = tempfile::tempdir().expect("a directory");
    set_mode(elsewhere.path(), 0o755);

    // The build directory may be unreadable for the other user.
    let program = elsewhere.path().join("tas-mcp");
    // Another process writes the copy. Else a program that another test starts meanwhile would inherit the file open for writing,
    // and the system refuses to run such a file.
    let mut copy = Command::new("cp");
    let copied = copy.arg(plain.as_std().get_program()).arg(&program).status().await.expect("`cp` starts");
    assert!(copied.success(), "it can be copied");

    let mut other = with_program(&plain, &program);
    other.args(plain.as_std().get_args()).env("HOME", session.state()).uid(NOBODY).gid(NOBODY);

    run_command(other).await
}

#[tokio::test]
async fn unreadable_files_are_refused_before_any_request() {
    let session = fixture().open().await;
    set_mode(&session.write("game.apk", b"abc"), 0o000);
    let (code, built, errors) = upload_without_privileges(&session, &["game.apk"]).await;
    assert_eq!((code, built, &errors[0]["code"]), (Some(2), 0, &Value::from("file_error")), "{errors:?}");
    assert!(text(&errors[0]["message"]).starts_with("`game.apk` cannot be read: "), "{errors:?}");
    assert_eq!(session.service.requests().await, [""; 0]);
}

/// The directory may contain files that match the pattern.
#[tokio::test]
async fn an_unreadable_directory_of_a_pattern_is_reported() {
    let session = fixture().open().await;
    for directory in ["a", "b"] {
        fs::create_dir(session.root().join(directory)).expect("a directory");
        session.write(&format!("{directory}/game.apk"), b"abc");
    }

    let locked = session.root().join("b");
    set_mode(&locked, 0o000);

    let (code, built, errors) = upload_without_privileges(&session, &["*/*.apk"]).await;
    set_mode(&locked, 0o700);

    assert_eq!((code, built), (Some(2), 0), "{errors:?}");
    assert!(text(&errors[0]["message"]).starts_with("`b` cannot be read: "), "{errors:?}");
    assert_eq!(session.service.requests().await, [""; 0]);
}

#[tokio::test]
async fn more_files_than_file_descriptors_can_be_uploaded() {
    let session = fixture().open().await;
    for number in 0..80 {
        session.write(&format!("{number}.apk"), b"abc");
    }

    let plain = command(&session, &["*.apk"]);
    let mut limited = with_program(&plain, "sh");
    limited.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]);
    limited.arg(plain.as_std().get_program()).args(plain.as_std().get_args());

    let (code, built, errors) = run_command(limited).await;

    assert_eq!((code, built, errors), (Some(0), 80, vec![]));
}
