//! The known fields of the `details` of a new build (supplement 10.8). The object is sent unchanged.

use schemars::JsonSchema;

use crate::service::api::Open;

/// Origin of a build. Every part is optional.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct NewBuildDetails {
    vcs: Option<VcsDetails>,
    ci: Option<CiDetails>,
    app: Option<AppDetails>,
    build: Option<CompilationDetails>,
    upload: Option<UploadDetails>,
}

#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct VcsDetails {
    #[schemars(extend("enum" = ["git", "mercurial", "svn"]))]
    r#type: Option<String>,
    #[schemars(extend("enum" = ["github", "gitlab", "bitbucket", "azure-devops"]))]
    provider: Option<String>,
    repository_url: Option<String>,
    commit: Option<Commit>,
    branch: Option<String>,
    tag: Option<String>,
    pr: Option<PullRequest>,
}

#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Commit {
    hash: Option<String>,
    short_hash: Option<String>,
    message: Option<String>,
    author: Option<String>,
    timestamp: Option<String>,
}

#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct PullRequest {
    number: Option<i64>,
    title: Option<String>,
    url: Option<String>,
    source_branch: Option<String>,
    target_branch: Option<String>,
}

#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct CiDetails {
    #[schemars(extend("enum" = [
        "github-actions", "jenkins", "gitlab-ci", "circleci", "travis", "azure-pipelines", "bitrise", "custom",
    ]))]
    system: Option<String>,
    build_number: Option<String>,
    job_name: Option<String>,
    run_id: Option<String>,
    run_url: Option<String>,
    triggered_by: Option<String>,
    agent: Option<String>,
}

#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct AppDetails {
    version: Option<String>,
    version_code: Option<i64>,
    build_number: Option<String>,
    bundle_id: Option<String>,
}

#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct CompilationDetails {
    #[schemars(extend("enum" = ["debug", "release", "staging", "production"]))]
    configuration: Option<String>,
    timestamp: Option<String>,
    duration: Option<i64>,
    compiler: Option<String>,
    dependencies: Option<Open>,
}

#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct UploadDetails {
    // Open: the known values are `cli`, `api`, `github-action`, `jenkins-plugin`, `web` and `mcp`.
    method: Option<String>,
    cli_version: Option<String>,
    uploader: Option<String>,
}
