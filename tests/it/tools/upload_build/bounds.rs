//! What a process may read and hold.
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

use super::{UploadFixture, command::command, text};

/// Somebody without rights, on every system.
const NOBODY: u32 = 65_534;

/// Another program with the directory, the variables and the pipes of a command.
fn like(plain: &Command, program: impl AsRef<OsStr>) -> Command {
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

/// The exit code, how many builds came, and the errors.
async fn ended(mut command: Command) -> (Option<i32>, usize, Vec<Value>) {
    let output = command.output().await.expect("an output");
    let (built, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let errors =
        errors.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["error"].take());
    (output.status.code(), built.lines().count(), errors.collect())
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the mode can be set");
}

/// Uploads as somebody who may not read everything: as root, which may, under another name.
async fn uploaded(fixture: &UploadFixture, arguments: &[&str]) -> (Option<i32>, usize, Vec<Value>) {
    let plain = command(fixture, arguments);
    // Who runs the tests owns what they make.
    if fixture.root.path().metadata().expect("a directory").uid() != 0 {
        return ended(plain).await;
    }

    for place in [&fixture.root, &fixture.state] {
        chown(place.path(), Some(NOBODY), Some(NOBODY)).expect("it can be given away");
    }

    let elsewhere = tempfile::tempdir().expect("a directory");
    mode(elsewhere.path(), 0o755);

    let program = elsewhere.path().join("tas-mcp");
    fs::copy(plain.as_std().get_program(), &program).expect("it can be copied");

    let mut other = like(&plain, &program);
    other.args(plain.as_std().get_args()).env("HOME", fixture.state.path()).uid(NOBODY).gid(NOBODY);

    ended(other).await
}

#[tokio::test]
async fn unreadable_files_are_refused_before_any_request() {
    let fixture = UploadFixture::open().await;
    mode(&fixture.write("game.apk", b"abc"), 0o000);
    let (code, built, errors) = uploaded(&fixture, &["game.apk"]).await;
    assert_eq!((code, built, &errors[0]["code"]), (Some(2), 0, &Value::from("file_error")), "{errors:?}");
    assert!(text(&errors[0]["message"]).starts_with("`game.apk` cannot be read: "), "{errors:?}");
    assert_eq!(fixture.service.requests().await, [""; 0]);
}

/// Files that are meant may lie in it.
#[tokio::test]
async fn an_unreadable_directory_of_a_pattern_is_reported() {
    let fixture = UploadFixture::open().await;
    for directory in ["a", "b"] {
        fs::create_dir(fixture.root.path().join(directory)).expect("a directory");
        fixture.write(&format!("{directory}/game.apk"), b"abc");
    }

    let locked = fixture.root.path().join("b");
    mode(&locked, 0o000);

    let (code, built, errors) = uploaded(&fixture, &["*/*.apk"]).await;
    mode(&locked, 0o700);

    assert_eq!((code, built), (Some(2), 0), "{errors:?}");
    assert!(text(&errors[0]["message"]).starts_with("`b` cannot be read: "), "{errors:?}");
    assert_eq!(fixture.service.requests().await, [""; 0]);
}

#[tokio::test]
async fn more_files_than_file_descriptors_can_be_uploaded() {
    let fixture = UploadFixture::open().await;
    for number in 0..80 {
        fixture.write(&format!("{number}.apk"), b"abc");
    }

    let plain = command(&fixture, &["*.apk", "--no-fill-details"]);
    let mut limited = like(&plain, "sh");
    limited.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]);
    limited.arg(plain.as_std().get_program()).args(plain.as_std().get_args());

    let (code, built, errors) = ended(limited).await;

    assert_eq!((code, built, errors), (Some(0), 80, vec![]));
}
