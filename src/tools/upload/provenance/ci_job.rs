//! What a CI job says of itself in its variables (supplement 10.8).

use serde_json::{Value, json};

use crate::fields::Fields;

/// A CI system: its name, the variable that is set in its jobs, and what fills each field of `ci`, and the
/// branch, there: names of variables in braces.
struct CiSystem {
    name: &'static str,
    mark: &'static str,
    fields: &'static [(&'static str, &'static str)],
    /// The first that is one counts.
    branch: &'static [&'static str],
}

const SYSTEMS: [CiSystem; 7] = [
    CiSystem {
        name: "github-actions",
        mark: "GITHUB_ACTIONS",
        fields: &[
            ("build_number", "{GITHUB_RUN_NUMBER}"),
            ("job_name", "{GITHUB_JOB}"),
            ("run_id", "{GITHUB_RUN_ID}"),
            ("triggered_by", "{GITHUB_ACTOR}"),
            ("agent", "{RUNNER_NAME}"),
            ("run_url", "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}"),
        ],
        branch: &["{GITHUB_HEAD_REF}", "{GITHUB_REF}"],
    },
    CiSystem {
        name: "gitlab-ci",
        mark: "GITLAB_CI",
        fields: &[
            ("build_number", "{CI_PIPELINE_IID}"),
            ("job_name", "{CI_JOB_NAME}"),
            ("run_id", "{CI_PIPELINE_ID}"),
            ("run_url", "{CI_JOB_URL}"),
            ("triggered_by", "{GITLAB_USER_LOGIN}"),
            ("agent", "{CI_RUNNER_DESCRIPTION}"),
        ],
        branch: &["{CI_MERGE_REQUEST_SOURCE_BRANCH_NAME}", "{CI_COMMIT_BRANCH}"],
    },
    CiSystem {
        name: "jenkins",
        mark: "JENKINS_URL",
        fields: &[
            ("build_number", "{BUILD_NUMBER}"),
            ("job_name", "{JOB_NAME}"),
            ("run_id", "{BUILD_ID}"),
            ("run_url", "{BUILD_URL}"),
            ("agent", "{NODE_NAME}"),
        ],
        branch: &["{CHANGE_BRANCH}", "{GIT_BRANCH}", "{BRANCH_NAME}"],
    },
    CiSystem {
        name: "circleci",
        mark: "CIRCLECI",
        fields: &[
            ("build_number", "{CIRCLE_BUILD_NUM}"),
            ("job_name", "{CIRCLE_JOB}"),
            ("run_id", "{CIRCLE_WORKFLOW_ID}"),
            ("run_url", "{CIRCLE_BUILD_URL}"),
            ("triggered_by", "{CIRCLE_USERNAME}"),
        ],
        branch: &["{CIRCLE_BRANCH}"],
    },
    CiSystem {
        name: "travis",
        mark: "TRAVIS",
        fields: &[
            ("build_number", "{TRAVIS_BUILD_NUMBER}"),
            ("job_name", "{TRAVIS_JOB_NAME}"),
            ("run_id", "{TRAVIS_BUILD_ID}"),
            ("run_url", "{TRAVIS_BUILD_WEB_URL}"),
        ],
        branch: &["{TRAVIS_PULL_REQUEST_BRANCH}", "{TRAVIS_BRANCH}"],
    },
    CiSystem {
        name: "azure-pipelines",
        mark: "TF_BUILD",
        fields: &[
            ("build_number", "{BUILD_BUILDNUMBER}"),
            ("job_name", "{AGENT_JOBNAME}"),
            ("run_id", "{BUILD_BUILDID}"),
            ("triggered_by", "{BUILD_REQUESTEDFOR}"),
            ("agent", "{AGENT_NAME}"),
            (
                "run_url",
                "{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECTID}/_build/results?buildId={BUILD_BUILDID}",
            ),
        ],
        branch: &["{SYSTEM_PULLREQUEST_SOURCEBRANCH}", "{BUILD_SOURCEBRANCH}"],
    },
    CiSystem {
        name: "bitrise",
        mark: "BITRISE_IO",
        fields: &[
            ("build_number", "{BITRISE_BUILD_NUMBER}"),
            ("job_name", "{BITRISE_TRIGGERED_WORKFLOW_ID}"),
            ("run_id", "{BITRISE_BUILD_SLUG}"),
            ("run_url", "{BITRISE_BUILD_URL}"),
        ],
        branch: &["{BITRISE_GIT_BRANCH}"],
    },
];

/// The CI job that we are a part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CiJob {
    /// The part `ci` of a build's details.
    pub ci: Value,
    /// The branch that it builds: its checkout is of a commit.
    pub branch: Option<String>,
}

/// The job as `variable` tells it; `None` outside of CI.
pub fn detect_ci_job(variable: impl Fn(&str) -> Option<String>) -> Option<CiJob> {
    let filled = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let Some(system) = SYSTEMS.iter().find(|system| filled(system.mark).is_some()) else {
        return filled("CI").map(|_| CiJob { ci: json!({"system": "custom"}), branch: None });
    };
    let mut ci = Fields::from_iter([("system".to_owned(), json!(system.name))]);
    let fields = system.fields.iter();

    ci.extend(fields.filter_map(|(field, form)| Some(((*field).to_owned(), json!(composed(form, filled)?)))));
    let branch = system.branch.iter().find_map(|form| branch(&composed(form, filled)?));

    Some(CiJob { ci: Value::Object(ci), branch })
}

/// The text with the values of the variables; `None` where one is not set.
fn composed(form: &str, filled: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut text = String::new();
    for (index, piece) in form.split(['{', '}']).enumerate() {
        // Every second piece stands in braces.
        text.push_str(&if index % 2 == 1 { filled(piece)? } else { piece.to_owned() });
    }
    Some(text)
}

/// The name of a branch, however it is written; other references are none.
fn branch(reference: &str) -> Option<String> {
    let name = reference.strip_prefix("refs/heads/").or_else(|| reference.strip_prefix("origin/"));
    let name = name.unwrap_or(reference);
    (!name.starts_with("refs/")).then(|| name.to_owned())
}
