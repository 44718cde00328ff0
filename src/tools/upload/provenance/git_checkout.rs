//! The git checkout that contains a file (supplement 10.8).

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::{Map, Value, json};
use tokio::process::Command;

use crate::fields::Fields;

/// Time limit of all git commands together: a slow disk must not hold up an upload.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Format of a commit. The separator is a control character that no field can contain.
const COMMIT_FORMAT: &str = "--format=%H%x1f%h%x1f%an%x1f%aI%x1f%s";

/// Fields of a commit, in the order of [`COMMIT_FORMAT`].
const COMMIT_FIELDS: [&str; 5] = ["hash", "short_hash", "author", "timestamp", "message"];

/// Hosts of git services, each with the name of the provider.
const PROVIDERS: [(&str, &str); 4] =
    [("github", "github"), ("gitlab", "gitlab"), ("bitbucket", "bitbucket"), ("azure.com", "azure-devops")];

/// Returns the part `vcs` of a build's details for the checkout that contains `directory`, or `None` if there is no
/// checkout or no git. `ci_branch` is the branch of the CI job, whose checkout has none.
pub async fn read_vcs(directory: &Path, ci_branch: Option<&str>) -> Option<Value> {
    tokio::time::timeout(TIME_LIMIT, read_checkout(directory, ci_branch)).await.ok()?
}

async fn read_checkout(directory: &Path, ci_branch: Option<&str>) -> Option<Value> {
    let commit = git(directory, &["log", "-1", "--no-show-signature", COMMIT_FORMAT]).await?;
    let remote = git(directory, &["config", "--get", "remote.origin.url"]).await;
    let tag = git(directory, &["describe", "--tags", "--exact-match"]).await;
    let branch = git(directory, &["symbolic-ref", "--short", "-q", "HEAD"]).await;

    // Some CI systems name the tag as the branch of a job that builds a tag.
    let ci_branch = ci_branch.filter(|branch| Some(*branch) != tag.as_deref()).map(str::to_owned);
    let remote = remote.map(|url| without_credentials(&url));
    let provider = remote.as_deref().and_then(provider).map(str::to_owned);

    let mut vcs = Fields::from_iter([
        ("type".to_owned(), json!("git")),
        ("commit".to_owned(), commit_fields(&commit)?),
    ]);
    let optional =
        [("provider", provider), ("repository_url", remote), ("branch", branch.or(ci_branch)), ("tag", tag)];
    for (field, value) in optional {
        if let Some(value) = value {
            vcs.insert(field.to_owned(), json!(value));
        }
    }

    Some(Value::Object(vcs))
}

fn commit_fields(commit: &str) -> Option<Value> {
    let mut values = commit.split('\u{1f}');
    let mut fields = Map::new();
    for field in COMMIT_FIELDS {
        fields.insert(field.to_owned(), json!(values.next()?));
    }
    Some(Value::Object(fields))
}

/// Runs git. Returns its output, or `None` if it fails or prints nothing.
async fn git(directory: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory).args(arguments).kill_on_drop(true);
    command.stdin(Stdio::null()).stderr(Stdio::null());

    let output = command.output().await.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();

    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Returns the address of a remote without user name, password, query and fragment, which may contain a token.
fn without_credentials(remote: &str) -> String {
    let Some((scheme, rest)) = remote.split_once("://") else { return remote.to_owned() };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    format!("{scheme}://{host}/{path}")
}

fn provider(remote: &str) -> Option<&'static str> {
    let host = remote.split_once("://").map_or(remote, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();

    PROVIDERS.into_iter().find(|(part, _)| host.contains(part)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_are_shown_without_credentials() {
        let cases = [
            ("https://me:secret@github.com/a/b.git", "https://github.com/a/b.git"),
            ("https://github.com/a/b.git?token=secret#x", "https://github.com/a/b.git"),
            ("git@github.com:a/b.git", "git@github.com:a/b.git"),
        ];
        for (remote, expected) in cases {
            assert_eq!(without_credentials(remote), expected);
        }
    }

    #[test]
    fn the_provider_follows_from_the_host() {
        let cases = [
            ("https://gitlab.example/github/b.git", Some("gitlab")),
            ("git@github.com:a/b.git", Some("github")),
            ("https://dev.azure.com/a", Some("azure-devops")),
            ("https://example.org/a", None),
        ];
        for (remote, expected) in cases {
            assert_eq!(provider(remote), expected, "{remote}");
        }
    }
}
