//! The provenance of a build: git and CI (service.md 10.8).

use std::path::Path;

use serde_json::{Value, json};
use tas_mcp::{sandbox::keys, tools::upload::provenance};
use tokio::process::Command;

use super::fixture;
use crate::support::fixture::Session;

/// Runs git without the configuration of the machine. Returns the output.
pub(super) async fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory).args(["-c", "user.name=A. Builder", "-c", "user.email=a@example.com"]);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.args(arguments).output().await.expect("git is there");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

/// Creates a checkout with one commit. Returns the commit hash.
pub(super) async fn create_checkout(session: &Session) -> String {
    let root = session.root();
    session.write("game.apk", b"abc");
    git(root, &["init", "-q", "-b", "release/4"]).await;
    git(root, &["add", "."]).await;
    git(root, &["commit", "-q", "-m", "Fix the jump"]).await;
    // Neither is read: the address of a remote may contain a token.
    git(root, &["tag", "v4.1"]).await;
    git(root, &["remote", "add", "origin", "https://ci:token-9@gitlab.example/emberfall/game.git"]).await;

    git(root, &["rev-parse", "HEAD"]).await
}

/// Uploads a file with these variables. Returns the details of the build.
pub(super) async fn details(session: &Session, variables: &[(&str, &str)], arguments: Value) -> Value {
    let mut host = session.another_host(keys::DEMO, variables).await;
    let build = host.succeed("upload_build", arguments).await;
    host.succeed("get_build", json!({"build_id": build["build_id"]})).await["details"].clone()
}

#[tokio::test]
async fn details_of_a_checkout_are_its_commit_and_branch() {
    let session = fixture().open().await;
    let hash = create_checkout(&session).await;
    let found = details(&session, &[], json!({"path": "game.apk"})).await;

    let expected = json!({
        "vcs": {
            "type": "git", "branch": "release/4", "commit": {"hash": hash, "short_hash": &hash[..7]},
        },
        "upload": {"method": "mcp", "cli_version": env!("CARGO_PKG_VERSION")},
    });

    assert_eq!(found, expected);
}

#[tokio::test]
async fn details_of_the_caller_are_kept_and_the_rest_is_filled_in() {
    let session = fixture().open().await;
    create_checkout(&session).await;
    let own = json!({"vcs": {"branch": "mine"}, "app": {"version": "1"}});
    let found = details(&session, &[], json!({"path": "game.apk", "details": own})).await;
    assert_eq!((&found["vcs"], &found["app"]), (&own["vcs"], &own["app"]));
    assert_eq!(found["upload"]["method"], "mcp");
}

#[tokio::test]
async fn fill_details_false_fills_in_nothing() {
    let session = fixture().open().await;
    create_checkout(&session).await;
    let arguments = json!({"path": "game.apk", "fill_details": false});
    assert_eq!(details(&session, &[("GITLAB_CI", "true")], arguments).await, Value::Null);
}

#[tokio::test]
async fn a_file_outside_of_git_and_ci_has_neither_part() {
    let session = fixture().open().await;
    session.write("game.apk", b"abc");
    let found = details(&session, &[], json!({"path": "game.apk"})).await;

    assert_eq!(
        found.as_object().map(|parts| parts.keys().collect::<Vec<_>>()),
        Some(vec![&"upload".to_owned()])
    );
}

/// CI jobs check out a commit, and get the branch in a variable.
#[tokio::test]
async fn a_detached_checkout_has_the_branch_of_the_ci_job() {
    let session = fixture().open().await;
    create_checkout(&session).await;
    git(session.root(), &["checkout", "-q", "--detach"]).await;

    let found = details(&session, &[], json!({"path": "game.apk"})).await;

    assert_eq!(found["vcs"]["branch"], Value::Null);

    let job = [("GITLAB_CI", "true"), ("CI_COMMIT_BRANCH", "release/4"), ("CI_PIPELINE_IID", "77")];
    let found = details(&session, &job, json!({"path": "game.apk"})).await;

    assert_eq!(found["vcs"]["branch"], "release/4");
    assert_eq!(found["ci"], json!({"system": "gitlab-ci", "build_number": "77"}));

    // For a tag, some systems set the variable of the branch to the name of the tag.
    let job = [("TRAVIS", "true"), ("TRAVIS_BRANCH", "v4.1"), ("TRAVIS_TAG", "v4.1")];
    let found = details(&session, &job, json!({"path": "game.apk"})).await;

    assert_eq!((&found["vcs"]["branch"], &found["vcs"]["tag"]), (&Value::Null, &json!("v4.1")));
}

/// Returns the CI details and the branch of a job with these variables.
fn detect_job(variables: &[(&str, &str)]) -> (Value, Option<String>) {
    let value =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let job = provenance::detect_ci_job(value).expect("a job");
    (job.ci, job.checkout.branch)
}

#[test]
fn the_run_address_is_composed_for_systems_without_a_variable_for_it() {
    let (ci, branch) = detect_job(&[
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_RUN_NUMBER", "77"),
        ("GITHUB_JOB", "build"),
        ("GITHUB_RUN_ID", "9"),
        ("GITHUB_ACTOR", "ann"),
        ("RUNNER_NAME", "r1"),
        ("GITHUB_SERVER_URL", "https://git.example"),
        ("GITHUB_REPOSITORY", "emberfall/game"),
        ("GITHUB_REF", "refs/heads/release/4"),
    ]);

    let expected = json!({
        "system": "github-actions", "build_number": "77", "job_name": "build", "run_id": "9", "triggered_by": "ann",
        "agent": "r1", "run_url": "https://git.example/emberfall/game/actions/runs/9",
    });

    assert_eq!((ci, branch.as_deref()), (expected, Some("release/4")));

    let (ci, branch) = detect_job(&[
        ("TF_BUILD", "True"),
        ("BUILD_BUILDNUMBER", "77"),
        ("BUILD_BUILDID", "9"),
        ("SYSTEM_TEAMPROJECTID", "p"),
        ("SYSTEM_COLLECTIONURI", "https://dev.example/org/"),
        ("BUILD_SOURCEBRANCH", "refs/heads/main"),
    ]);

    let expected = json!({
        "system": "azure-pipelines", "build_number": "77", "run_id": "9",
        "run_url": "https://dev.example/org/p/_build/results?buildId=9",
    });

    assert_eq!((ci, branch.as_deref()), (expected, Some("main")));
}

#[test]
fn the_run_address_is_read_from_systems_with_a_variable_for_it() {
    let (ci, branch) = detect_job(&[
        ("JENKINS_URL", "https://ci.example"),
        ("BUILD_NUMBER", "77"),
        ("JOB_NAME", "game"),
        ("BUILD_ID", "77"),
        ("BUILD_URL", "https://ci.example/job/77"),
        ("NODE_NAME", "n"),
        ("GIT_BRANCH", "origin/main"),
    ]);

    let expected = json!({
        "system": "jenkins", "build_number": "77", "job_name": "game", "run_id": "77",
        "run_url": "https://ci.example/job/77", "agent": "n",
    });

    assert_eq!((ci, branch.as_deref()), (expected, Some("main")));

    let (ci, branch) = detect_job(&[("CIRCLECI", "true"), ("CIRCLE_BUILD_URL", "u"), ("CIRCLE_BRANCH", "b")]);

    assert_eq!((ci, branch.as_deref()), (json!({"system": "circleci", "run_url": "u"}), Some("b")));
}

#[test]
fn a_ci_job_with_few_variables_has_few_fields() {
    let (ci, branch) = detect_job(&[("BITRISE_IO", "true"), ("BITRISE_GIT_BRANCH", "b")]);

    assert_eq!((ci, branch.as_deref()), (json!({"system": "bitrise"}), Some("b")));

    let (ci, branch) = detect_job(&[("CI", "true"), ("GITHUB_REF", "refs/heads/x")]);

    assert_eq!((ci, branch), (json!({"system": "custom"}), None));

    let merge_variables =
        [("GITHUB_ACTIONS", "true"), ("GITHUB_REF", "refs/pull/5/merge"), ("GITHUB_HEAD_REF", " ")];

    assert_eq!(detect_job(&merge_variables), (json!({"system": "github-actions"}), None));
}

#[test]
fn without_variables_there_is_no_ci_job() {
    assert_eq!(provenance::detect_ci_job(|_| None), None);
    assert_eq!(provenance::detect_ci_job(|name| (name == "CI").then(String::new)), None);
}
