//! The CI systems that are recognized, and their environment variables.

/// A CI system. A template is a text with names of environment variables in braces.
pub(super) struct CiSystem {
    pub(super) name: &'static str,
    /// Variable that is set in all jobs of the system.
    pub(super) marker: &'static str,
    /// Template of each field of `ci`.
    pub(super) fields: &'static [(&'static str, &'static str)],
    /// Templates of the branch. The first one that is a branch counts.
    pub(super) branch: &'static [&'static str],
    /// Templates of the tag. The first one that is a tag counts.
    pub(super) tag: &'static [&'static str],
    /// Template of the commit.
    pub(super) commit: &'static str,
    /// Template of the address of the repository.
    pub(super) repository: &'static str,
}

pub(super) const CI_SYSTEMS: [CiSystem; 7] = [
    CiSystem {
        name: "github-actions",
        marker: "GITHUB_ACTIONS",
        fields: &[
            ("build_number", "{GITHUB_RUN_NUMBER}"),
            ("job_name", "{GITHUB_JOB}"),
            ("run_id", "{GITHUB_RUN_ID}"),
            ("triggered_by", "{GITHUB_ACTOR}"),
            ("agent", "{RUNNER_NAME}"),
            ("run_url", "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}"),
        ],
        branch: &["{GITHUB_HEAD_REF}", "{GITHUB_REF}"],
        tag: &["{GITHUB_REF}"],
        commit: "{GITHUB_SHA}",
        repository: "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}",
    },
    CiSystem {
        name: "gitlab-ci",
        marker: "GITLAB_CI",
        fields: &[
            ("build_number", "{CI_PIPELINE_IID}"),
            ("job_name", "{CI_JOB_NAME}"),
            ("run_id", "{CI_PIPELINE_ID}"),
            ("run_url", "{CI_JOB_URL}"),
            ("triggered_by", "{GITLAB_USER_LOGIN}"),
            ("agent", "{CI_RUNNER_DESCRIPTION}"),
        ],
        branch: &["{CI_MERGE_REQUEST_SOURCE_BRANCH_NAME}", "{CI_COMMIT_BRANCH}"],
        tag: &["refs/tags/{CI_COMMIT_TAG}"],
        commit: "{CI_COMMIT_SHA}",
        repository: "{CI_PROJECT_URL}",
    },
    CiSystem {
        name: "jenkins",
        marker: "JENKINS_URL",
        fields: &[
            ("build_number", "{BUILD_NUMBER}"),
            ("job_name", "{JOB_NAME}"),
            ("run_id", "{BUILD_ID}"),
            ("run_url", "{BUILD_URL}"),
            ("agent", "{NODE_NAME}"),
        ],
        branch: &["{CHANGE_BRANCH}", "{GIT_BRANCH}", "{BRANCH_NAME}"],
        tag: &["refs/tags/{TAG_NAME}"],
        commit: "{GIT_COMMIT}",
        repository: "{GIT_URL}",
    },
    CiSystem {
        name: "circleci",
        marker: "CIRCLECI",
        fields: &[
            ("build_number", "{CIRCLE_BUILD_NUM}"),
            ("job_name", "{CIRCLE_JOB}"),
            ("run_id", "{CIRCLE_WORKFLOW_ID}"),
            ("run_url", "{CIRCLE_BUILD_URL}"),
            ("triggered_by", "{CIRCLE_USERNAME}"),
        ],
        branch: &["{CIRCLE_BRANCH}"],
        tag: &["refs/tags/{CIRCLE_TAG}"],
        commit: "{CIRCLE_SHA1}",
        repository: "{CIRCLE_REPOSITORY_URL}",
    },
    CiSystem {
        name: "travis",
        marker: "TRAVIS",
        fields: &[
            ("build_number", "{TRAVIS_BUILD_NUMBER}"),
            ("job_name", "{TRAVIS_JOB_NAME}"),
            ("run_id", "{TRAVIS_BUILD_ID}"),
            ("run_url", "{TRAVIS_BUILD_WEB_URL}"),
        ],
        branch: &["{TRAVIS_PULL_REQUEST_BRANCH}", "{TRAVIS_BRANCH}"],
        tag: &["refs/tags/{TRAVIS_TAG}"],
        commit: "{TRAVIS_COMMIT}",
        // The address of the repository is in no variable.
        repository: "",
    },
    CiSystem {
        name: "azure-pipelines",
        marker: "TF_BUILD",
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
        tag: &["{BUILD_SOURCEBRANCH}"],
        commit: "{BUILD_SOURCEVERSION}",
        repository: "{BUILD_REPOSITORY_URI}",
    },
    CiSystem {
        name: "bitrise",
        marker: "BITRISE_IO",
        fields: &[
            ("build_number", "{BITRISE_BUILD_NUMBER}"),
            ("job_name", "{BITRISE_TRIGGERED_WORKFLOW_ID}"),
            ("run_id", "{BITRISE_BUILD_SLUG}"),
            ("run_url", "{BITRISE_BUILD_URL}"),
        ],
        branch: &["{BITRISE_GIT_BRANCH}"],
        tag: &["refs/tags/{BITRISE_GIT_TAG}"],
        commit: "{BITRISE_GIT_COMMIT}",
        repository: "{GIT_REPOSITORY_URL}",
    },
];
