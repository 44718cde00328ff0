//! The git checkout that a file lies in (supplement 10.8).

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::{Map, Value, json};
use tokio::process::Command;

use crate::fields::Fields;

/// How long git may take for everything; a slow disk must not hold up an upload.
const PATIENCE: Duration = Duration::from_secs(5);

/// The part `vcs` of the checkout around `directory`; `None` where there is none, or no git. `branch` is that of the CI
/// job, whose checkout has none.
pub async fn vcs(directory: &Path, branch: Option<&str>) -> Option<Value> {
    tokio::time::timeout(PATIENCE, read(directory, branch)).await.ok()?
}

async fn read(directory: &Path, branch: Option<&str>) -> Option<Value> {
    // Unit separators: none of the fields can hold one.
    let format = "--format=%H%x1f%h%x1f%an%x1f%aI%x1f%s";
    let commit = git(directory, &["log", "-1", "--no-show-signature", format]).await?;
    let mut parts = commit.split('\u{1f}');
    let mut commit = Map::new();

    for field in ["hash", "short_hash", "author", "timestamp", "message"] {
        commit.insert(field.to_owned(), json!(parts.next()?));
    }

    let mut vcs =
        Fields::from_iter([("type".to_owned(), json!("git")), ("commit".to_owned(), commit.into())]);
    let mut add = |field: &str, value: Option<String>| {
        if let Some(value) = value {
            vcs.insert(field.to_owned(), json!(value));
        }
    };
    let remote =
        git(directory, &["config", "--get", "remote.origin.url"]).await.map(|url| without_secrets(&url));

    add("provider", remote.as_deref().and_then(provider).map(str::to_owned));
    add("repository_url", remote);

    let tag = git(directory, &["describe", "--tags", "--exact-match"]).await;
    let own = git(directory, &["symbolic-ref", "--short", "-q", "HEAD"]).await;
    // Some jobs that build a tag call it a branch.
    add("branch", own.or_else(|| branch.map(str::to_owned).filter(|branch| Some(branch) != tag.as_ref())));
    add("tag", tag);

    Some(Value::Object(vcs))
}

/// What git prints, if it succeeds and prints anything.
async fn git(directory: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory).args(arguments).kill_on_drop(true);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().await.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// A remote's address without the user name and password or token that it may hold.
fn without_secrets(remote: &str) -> String {
    match remote.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = authority.rsplit('@').next().unwrap_or(authority);
            let path = path.split(['?', '#']).next().unwrap_or_default();
            format!("{scheme}://{host}/{path}")
        }
        None => remote.to_owned(),
    }
}

fn provider(remote: &str) -> Option<&'static str> {
    let host = remote.split_once("://").map_or(remote, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();

    [("github", "github"), ("gitlab", "gitlab"), ("bitbucket", "bitbucket"), ("azure.com", "azure-devops")]
        .into_iter()
        .find(|(part, _)| host.contains(part))
        .map(|(_, name)| name)
}
