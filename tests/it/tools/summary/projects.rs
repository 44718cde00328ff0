//! The project of a summary.

use serde_json::json;
use tas_mcp::sandbox::{
    keys,
    seed::{ARENA_EXECUTION, ARENA_JOB_FAILED, ARENA_RUN_FAILED, EXECUTION_COMPLETED, EXECUTION_IN_PROGRESS},
};

use super::{TOOL, against, execution};
use crate::support::fixture::{Fixture, Session};

/// Both projects of the sandbox.
const BOTH_PROJECTS: (&str, &str) = ("TAS_PROJECTS", "demo,arena");

#[tokio::test]
async fn the_project_follows_from_the_id_with_one_lookup() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).variables(&[BOTH_PROJECTS]).open().await;
    let summary = host.succeed(TOOL, execution(ARENA_EXECUTION)).await;

    assert_eq!(summary["verdicts"], json!({"FAILED": 1, "SUCCESS": 1}));
    assert_eq!(summary["failures"][0]["run_ids"], json!([ARENA_RUN_FAILED]));
    assert_eq!(summary["project_id"], "arena");

    // The runs of a list belong to the project of the list, so that they need no lookup.
    let requests = service.requests().await;
    let arena_requests = requests.iter().filter(|one| one.contains("/project/arena/")).count();
    let run = format!("GET /project/arena/runs/{ARENA_RUN_FAILED}");

    assert_eq!(arena_requests, 6, "look-up, execution, jobs, runs, run, bugs: {requests:?}");
    assert_eq!(requests[requests.len() - 2..], [format!("{run} 200"), format!("{run}/bugs 200")]);
    assert!(requests.len() <= 7, "{requests:?}");
}

#[tokio::test]
async fn an_earlier_result_of_another_project_is_a_mismatch() {
    for with in [ARENA_EXECUTION, ARENA_JOB_FAILED, ARENA_RUN_FAILED] {
        let Session { service: _service, mut host, .. } =
            Fixture::new().key(keys::ORGANIZATION).variables(&[BOTH_PROJECTS]).open().await;
        let error = host.fail(TOOL, against(execution(EXECUTION_COMPLETED), with)).await;
        assert_eq!(error["code"], "project_scope_mismatch", "{error}");
        assert_eq!(
            [&error["details"]["requested_project"], &error["details"]["owning_project"]],
            ["demo", "arena"]
        );
    }
}

#[tokio::test]
async fn a_project_that_does_not_own_the_id_is_a_mismatch() {
    for key in [keys::ORGANIZATION, keys::DEMO] {
        let Session { service: _service, mut host, .. } =
            Fixture::new().key(key).variables(&[BOTH_PROJECTS]).open().await;
        let mut arguments = execution(EXECUTION_COMPLETED);
        arguments["project_id"] = json!("arena");
        let error = host.fail(TOOL, arguments).await;
        let codes = [json!("project_scope_mismatch"), json!("permission_denied")];
        assert!(codes.contains(&error["code"]), "{error}");
    }
}

#[tokio::test]
async fn a_named_project_takes_no_further_lookup() {
    for (key, variables) in [
        (keys::DEMO, vec![]),
        (keys::ORGANIZATION, vec![BOTH_PROJECTS]),
        (keys::DEMO, vec![("TAS_PROJECT_ID", "demo")]),
    ] {
        let Session { service, mut host, .. } = Fixture::new().key(key).variables(&variables).open().await;
        let mut arguments = against(execution(EXECUTION_IN_PROGRESS), EXECUTION_COMPLETED);
        arguments["project_id"] = json!("demo");

        let summary = host.succeed(TOOL, arguments).await;

        assert_eq!(summary["comparison"]["with"]["target_id"], EXECUTION_COMPLETED);

        let requests = service.requests().await;

        assert!(requests.iter().all(|one| one.contains("/project/")), "{requests:?}");

        let job_lists = requests.iter().filter(|one| one.contains("/jobs?")).count();

        assert_eq!(job_lists, 2, "{requests:?}");
        assert!(requests.len() <= 12, "{requests:?}");
    }
}
