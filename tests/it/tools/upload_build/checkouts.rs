//! Checkouts that the origin of a build is read from: no program runs, and nothing outside the files root is read.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    details::{create_checkout, details, git},
    fixture,
};
use crate::support::fixture::Session;

async fn vcs(session: &Session, variables: &[(&str, &str)], path: &str) -> Value {
    details(session, variables, json!({"path": path})).await["vcs"].clone()
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("the directory can be created");
    fs::write(path, content).expect("the file can be written");
}

/// Git runs the programs that these settings name.
#[cfg(unix)]
#[tokio::test]
async fn no_program_that_a_checkout_names_is_run() {
    let session = fixture().open().await;
    create_checkout(&session).await;
    let root = session.root();
    let marker = session.state().join("marker");
    let program = format!("touch {}", marker.display());
    for setting in ["core.fsmonitor", "gpg.program", "core.pager", "core.sshCommand", "diff.external"] {
        git(root, &["config", setting, &program]).await;
    }
    git(root, &["config", "log.showSignature", "true"]).await;
    // The commit is missing, and a promisor remote says how to fetch it.
    git(root, &["config", "extensions.partialClone", "origin"]).await;
    git(root, &["config", "remote.origin.promisor", "true"]).await;
    git(root, &["config", "remote.origin.uploadpack", &program]).await;
    fs::write(root.join(".git/refs/heads/release/4"), "1".repeat(40)).expect("the reference can be written");

    let vcs = vcs(&session, &[], "game.apk").await;

    assert_eq!(vcs["commit"]["hash"], "1".repeat(40));
    assert!(!marker.exists(), "a program was run");
}

#[tokio::test]
async fn the_files_of_a_bare_repository_are_not_a_checkout() {
    let session = fixture().open().await;
    session.write("game.apk", b"abc");
    let root = session.root();
    write(&root.join("HEAD"), "ref: refs/heads/main\n");
    write(&root.join("config"), "[core]\n\tbare = true\n");
    write(&root.join("objects/info/packs"), "");
    write(&root.join("refs/heads/main"), &"1".repeat(40));

    assert_eq!(vcs(&session, &[], "game.apk").await, Value::Null);
}

#[tokio::test]
async fn a_git_file_that_leads_out_of_the_files_root_is_not_followed() {
    let session = fixture().open().await;
    let other = fixture().open().await;
    create_checkout(&other).await;
    session.write("game.apk", b"abc");
    let outside = other.root().join(".git");

    for target in [outside.display().to_string(), format!("../../../../../../../..{}", outside.display())] {
        fs::write(session.root().join(".git"), format!("gitdir: {target}\n")).expect("a file");
        assert_eq!(vcs(&session, &[], "game.apk").await, Value::Null, "{target}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_that_leads_out_of_the_files_root_is_not_followed() {
    let session = fixture().open().await;
    let other = fixture().open().await;
    create_checkout(&other).await;
    session.write("game.apk", b"abc");
    let outside = other.root().join(".git");

    std::os::unix::fs::symlink(&outside, session.root().join(".git")).expect("a link");

    assert_eq!(vcs(&session, &[], "game.apk").await, Value::Null);
}

#[tokio::test]
async fn a_checkout_around_the_files_root_is_not_read() {
    let session = fixture().open().await;
    create_checkout(&session).await;
    let inner = session.root().join("builds");
    write(&inner.join("game.apk"), "abc");
    let root = inner.to_str().expect("a text");

    assert_eq!(vcs(&session, &[("TAS_FILES_ROOT", root)], "game.apk").await, Value::Null);
}

#[tokio::test]
async fn a_linked_worktree_and_packed_references_are_read() {
    let session = fixture().open().await;
    let hash = create_checkout(&session).await;
    let root = session.root();
    git(root, &["worktree", "add", "-q", "-b", "hotfix", "tree"]).await;
    git(root, &["pack-refs", "--all"]).await;

    let vcs = vcs(&session, &[], "tree/game.apk").await;

    assert_eq!((&vcs["commit"]["hash"], &vcs["branch"]), (&json!(hash), &json!("hotfix")));
}

/// The files root of a CI job is often the directory of the builds, outside of the checkout.
#[tokio::test]
async fn without_a_checkout_the_variables_of_the_ci_job_describe_the_commit() {
    let session = fixture().open().await;
    session.write("game.apk", b"abc");
    let commit = "a".repeat(40);
    let job = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_SHA", commit.as_str()),
        ("GITHUB_REF", "refs/tags/v4.1"),
        ("GITHUB_SERVER_URL", "https://github.com"),
        ("GITHUB_REPOSITORY", "emberfall/game"),
    ];

    let expected = json!({
        "type": "git", "commit": {"hash": commit, "short_hash": "aaaaaaa"}, "provider": "github",
        "repository_url": "https://github.com/emberfall/game", "tag": "v4.1",
    });
    assert_eq!(vcs(&session, &job, "game.apk").await, expected);

    // The variables describe the commit even if there is a checkout.
    create_checkout(&session).await;
    assert_eq!(vcs(&session, &job, "game.apk").await, expected);
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_in_place_of_a_git_file_does_not_block() {
    let session = fixture().open().await;
    create_checkout(&session).await;
    let head = session.root().join(".git/HEAD");
    fs::remove_file(&head).expect("the file exists");
    let status = std::process::Command::new("mkfifo").arg(&head).status().expect("mkfifo runs");
    assert!(status.success());

    assert_eq!(vcs(&session, &[], "game.apk").await, Value::Null);
}
