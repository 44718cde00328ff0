//! The limit of open files.
#![cfg(unix)]

use tokio::process::Command;

use super::{command::command, fixture};

#[tokio::test]
async fn more_files_than_file_descriptors_can_be_uploaded() {
    let session = fixture().open().await;
    for number in 0..80 {
        session.write(&format!("{number}.apk"), b"abc");
    }

    let plain = command(&session, &["*.apk"]);
    let plain = plain.as_std();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]);
    limited.arg(plain.get_program()).args(plain.get_args()).current_dir(session.root());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }

    let output = limited.output().await.expect("an output");
    let built = String::from_utf8_lossy(&output.stdout).lines().count();
    assert_eq!((output.status.code(), built, output.stderr), (Some(0), 80, vec![]));
}
