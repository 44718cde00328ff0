//! Where a build comes from: the git checkout that the file lies in, and the CI job that uploads it (supplement 10.8).

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::{Map, Value, json};
use tokio::process::Command;

use crate::operation::Fields;

/// How long git may take; a slow disk must not hold up an upload.
const PATIENCE: Duration = Duration::from_secs(5);

/// A CI system: its name, the variable that is set in its jobs, and where each field of `ci` is found there.
struct System {
    name: &'static str,
    mark: &'static str,
    fields: &'static [(&'static str, &'static str)],
}

const SYSTEMS: [System; 7] = [
    System {
        name: "github-actions",
        mark: "GITHUB_ACTIONS",
        fields: &[
            ("build_number", "GITHUB_RUN_NUMBER"),
            ("job_name", "GITHUB_JOB"),
            ("run_id", "GITHUB_RUN_ID"),
            ("triggered_by", "GITHUB_ACTOR"),
            ("agent", "RUNNER_NAME"),
        ],
    },
    System {
        name: "gitlab-ci",
        mark: "GITLAB_CI",
        fields: &[
            ("build_number", "CI_PIPELINE_IID"),
            ("job_name", "CI_JOB_NAME"),
            ("run_id", "CI_PIPELINE_ID"),
            ("run_url", "CI_JOB_URL"),
            ("triggered_by", "GITLAB_USER_LOGIN"),
            ("agent", "CI_RUNNER_DESCRIPTION"),
        ],
    },
    System {
        name: "jenkins",
        mark: "JENKINS_URL",
        fields: &[
            ("build_number", "BUILD_NUMBER"),
            ("job_name", "JOB_NAME"),
            ("run_id", "BUILD_ID"),
            ("run_url", "BUILD_URL"),
            ("agent", "NODE_NAME"),
        ],
    },
    System {
        name: "circleci",
        mark: "CIRCLECI",
        fields: &[
            ("build_number", "CIRCLE_BUILD_NUM"),
            ("job_name", "CIRCLE_JOB"),
            ("run_id", "CIRCLE_WORKFLOW_ID"),
            ("run_url", "CIRCLE_BUILD_URL"),
            ("triggered_by", "CIRCLE_USERNAME"),
        ],
    },
    System {
        name: "travis",
        mark: "TRAVIS",
        fields: &[
            ("build_number", "TRAVIS_BUILD_NUMBER"),
            ("job_name", "TRAVIS_JOB_NAME"),
            ("run_id", "TRAVIS_BUILD_ID"),
            ("run_url", "TRAVIS_BUILD_WEB_URL"),
        ],
    },
    System {
        name: "azure-pipelines",
        mark: "TF_BUILD",
        fields: &[
            ("build_number", "BUILD_BUILDNUMBER"),
            ("job_name", "AGENT_JOBNAME"),
            ("run_id", "BUILD_BUILDID"),
            ("triggered_by", "BUILD_REQUESTEDFOR"),
            ("agent", "AGENT_NAME"),
        ],
    },
    System {
        name: "bitrise",
        mark: "BITRISE_IO",
        fields: &[
            ("build_number", "BITRISE_BUILD_NUMBER"),
            ("job_name", "BITRISE_TRIGGERED_WORKFLOW_ID"),
            ("run_id", "BITRISE_BUILD_SLUG"),
            ("run_url", "BITRISE_BUILD_URL"),
        ],
    },
];

/// The part `ci` as `variable` tells it; `None` outside of CI.
pub fn ci(variable: impl Fn(&str) -> Option<String>) -> Option<Value> {
    let filled = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let system = SYSTEMS.iter().find(|system| filled(system.mark).is_some());
    let (name, fields) = match system {
        Some(system) => (system.name, system.fields),
        None if filled("CI").is_some() => ("custom", &[][..]),
        None => return None,
    };
    let mut ci = Fields::from_iter([("system".to_owned(), json!(name))]);
    ci.extend(fields.iter().filter_map(|(field, name)| Some(((*field).to_owned(), json!(filled(name)?)))));
    Some(Value::Object(ci))
}

/// The part `vcs` of the checkout around `directory`; `None` where there is none, or no git.
pub async fn vcs(directory: &Path) -> Option<Value> {
    // Unit separators: none of the fields can hold one.
    let commit = git(directory, &["log", "-1", "--format=%H%x1f%h%x1f%an%x1f%aI%x1f%s"]).await?;
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
    add("branch", git(directory, &["symbolic-ref", "--short", "-q", "HEAD"]).await);
    add("tag", git(directory, &["describe", "--tags", "--exact-match"]).await);
    Some(Value::Object(vcs))
}

/// What git prints, if it succeeds and prints anything.
async fn git(directory: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory).args(arguments).kill_on_drop(true);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let output = tokio::time::timeout(PATIENCE, command.output()).await.ok()?.ok()?;
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
