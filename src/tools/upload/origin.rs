//! The origin of a build (service.md 10.8), from the variables of a CI job and from flags of the command line.

use reqwest::Url;
use serde::Serialize;
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

/// Number of characters of a short commit hash.
const SHORT_HASH_CHARS: usize = 7;

/// Where a build comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildOrigin {
    /// The CI job.
    pub job: CiJob,
    /// Hash of the commit.
    pub commit: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// The tag.
    pub tag: Option<String>,
    /// Address of the repository.
    pub repository: Option<String>,
}

/// A CI job, in the words of the service.
#[expect(missing_docs, reason = "the names are those of the service")]
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CiJob {
    pub system: Option<&'static str>,
    pub build_number: Option<String>,
    pub job_name: Option<String>,
    pub run_id: Option<String>,
    pub run_url: Option<String>,
    pub triggered_by: Option<String>,
    pub agent: Option<String>,
}

impl BuildOrigin {
    /// Returns the origin that the variables of GitHub, GitLab or Jenkins describe. `variable` returns the value of a variable.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        if value("GITHUB_ACTIONS").is_some() {
            from_github(&value)
        } else if value("GITLAB_CI").is_some() {
            from_gitlab(&value)
        } else if value("JENKINS_URL").is_some() {
            from_jenkins(&value)
        } else {
            Self::default()
        }
    }

    /// Returns this origin, completed by `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            job: CiJob { run_url: self.job.run_url.or(other.job.run_url), ..other.job },
            commit: self.commit.or(other.commit),
            branch: self.branch.or(other.branch),
            tag: self.tag.or(other.tag),
            repository: self.repository.or(other.repository),
        }
    }

    /// Returns the parts of the details of a build that are known.
    pub(super) fn details(&self) -> [(&'static str, Option<Value>); 2] {
        let run_url = self.job.run_url.as_deref().and_then(public_address);
        let job = CiJob { run_url, ..self.job.clone() };
        let ci = (job != CiJob::default()).then(|| json!(job));

        [("vcs", self.vcs()), ("ci", ci)]
    }

    fn vcs(&self) -> Option<Value> {
        let hash = self.commit.as_deref()?;
        let short_hash: String = hash.chars().take(SHORT_HASH_CHARS).collect();
        let mut vcs = json!({"type": "git", "commit": {"hash": hash, "short_hash": short_hash}});

        let repository = self.repository.as_deref().and_then(public_address);
        for (field, value) in [("branch", &self.branch), ("tag", &self.tag), ("repository_url", &repository)]
        {
            if let (Some(value), Some(fields)) = (value, vcs.as_object_mut()) {
                fields.insert(field.to_owned(), json!(value));
            }
        }

        Some(vcs)
    }
}

fn from_github(value: &dyn Fn(&str) -> Option<String>) -> BuildOrigin {
    let reference = value("GITHUB_REF").unwrap_or_default();
    let part = |prefix: &str| reference.strip_prefix(prefix).map(str::to_owned);
    let address = value("GITHUB_SERVER_URL").zip(value("GITHUB_REPOSITORY"));
    let repository = address.map(|(server, name)| format!("{server}/{name}"));
    let run_id = value("GITHUB_RUN_ID");
    let run_url = repository.as_ref().zip(run_id.as_ref());

    BuildOrigin {
        job: CiJob {
            system: Some("github-actions"),
            build_number: value("GITHUB_RUN_NUMBER"),
            job_name: value("GITHUB_JOB"),
            run_url: run_url.map(|(repository, id)| format!("{repository}/actions/runs/{id}")),
            run_id,
            triggered_by: value("GITHUB_ACTOR"),
            agent: value("RUNNER_NAME"),
        },
        commit: value("GITHUB_SHA"),
        branch: value("GITHUB_HEAD_REF").or_else(|| part("refs/heads/")),
        tag: part("refs/tags/"),
        repository,
    }
}

fn from_gitlab(value: &dyn Fn(&str) -> Option<String>) -> BuildOrigin {
    BuildOrigin {
        job: CiJob {
            system: Some("gitlab-ci"),
            build_number: value("CI_PIPELINE_IID"),
            job_name: value("CI_JOB_NAME"),
            run_id: value("CI_PIPELINE_ID"),
            run_url: value("CI_JOB_URL"),
            triggered_by: value("GITLAB_USER_LOGIN"),
            agent: value("CI_RUNNER_DESCRIPTION"),
        },
        commit: value("CI_COMMIT_SHA"),
        branch: value("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME").or_else(|| value("CI_COMMIT_BRANCH")),
        tag: value("CI_COMMIT_TAG"),
        repository: value("CI_PROJECT_URL"),
    }
}

fn from_jenkins(value: &dyn Fn(&str) -> Option<String>) -> BuildOrigin {
    let branch = ["CHANGE_BRANCH", "GIT_BRANCH", "BRANCH_NAME"].into_iter().find_map(value);

    BuildOrigin {
        job: CiJob {
            system: Some("jenkins"),
            build_number: value("BUILD_NUMBER"),
            job_name: value("JOB_NAME"),
            run_id: value("BUILD_ID"),
            run_url: value("BUILD_URL"),
            triggered_by: None,
            agent: value("NODE_NAME"),
        },
        commit: value("GIT_COMMIT"),
        branch: branch.map(|branch| branch.strip_prefix("origin/").unwrap_or(&branch).to_owned()),
        tag: value("TAG_NAME"),
        repository: value("GIT_URL"),
    }
}

/// Returns an address without user, password, query and fragment, which may contain a token. Returns `None` for a local
/// directory. The short form `git@host:path` has no password.
fn public_address(address: &str) -> Option<String> {
    let Ok(mut url) = Url::parse(address) else {
        return (address.starts_with("git@") && !address.contains(char::is_whitespace))
            .then(|| address.to_owned());
    };
    if !matches!(url.scheme(), "https" | "http" | "ssh") {
        return None;
    }

    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    url.set_query(None);
    url.set_fragment(None);
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(variables: &[(&str, &str)]) -> (Value, Value) {
        let value = |name: &str| Some(variables.iter().find(|(known, _)| *known == name)?.1.to_owned());
        let [(_, vcs), (_, ci)] = BuildOrigin::from_variables(value).details();
        (json!(vcs), json!(ci))
    }

    #[test]
    fn the_variables_of_two_systems_describe_commit_and_job() {
        let github = [
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_RUN_NUMBER", "77"),
            ("GITHUB_RUN_ID", "9"),
            ("GITHUB_SERVER_URL", "https://git.example"),
            ("GITHUB_REPOSITORY", "emberfall/game"),
            ("GITHUB_REF", "refs/heads/release/4"),
            ("GITHUB_SHA", "0123456789"),
            ("GITHUB_HEAD_REF", " "),
        ];
        let vcs = json!({
            "type": "git", "commit": {"hash": "0123456789", "short_hash": "0123456"}, "branch": "release/4",
            "repository_url": "https://git.example/emberfall/game",
        });
        let ci = json!({
            "system": "github-actions", "build_number": "77", "run_id": "9",
            "run_url": "https://git.example/emberfall/game/actions/runs/9",
        });
        assert_eq!(details(&github), (vcs, ci));

        let jenkins = [("JENKINS_URL", "u"), ("GIT_COMMIT", "0123"), ("GIT_BRANCH", "origin/main")];
        let vcs = json!({"type": "git", "commit": {"hash": "0123", "short_hash": "0123"}, "branch": "main"});
        assert_eq!(details(&jenkins), (vcs, json!({"system": "jenkins"})));

        assert_eq!(details(&[("CI", "true"), ("GITHUB_SHA", "0123")]), (Value::Null, Value::Null));
    }

    #[test]
    fn an_address_has_no_credentials() {
        for (address, expected) in [
            ("https://ci:token@host/a.git?x=1#y", Some("https://host/a.git")),
            ("git@host:a/b.git", Some("git@host:a/b.git")),
            ("ssh://git@host/a", Some("ssh://host/a")),
            ("/srv/git/a", None),
            ("file:///srv/git/a", None),
        ] {
            assert_eq!(public_address(address).as_deref(), expected, "{address}");
        }
    }
}
