//! The run decides the project, and no file of another project is saved.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{TOOL, all_of, names_below, open_with};

const BOUND: (&str, &str) = ("TAS_PROJECT_ID", "demo");
const BOTH: (&str, &str) = ("TAS_PROJECTS", "demo,arena");

#[tokio::test]
async fn in_project_scope_the_run_is_confirmed_before_an_organization_key_reads_its_files() {
    let (service, root, mut host) = open_with(keys::ORGANIZATION, &[BOUND]).await;
    host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    let requests = service.requests().await;
    let confirmation = format!("GET /project/demo/runs/{} 200", seed::RUN_FAILED);
    let first = requests.iter().position(|line| line.contains("/artifacts/")).expect("a file");

    assert!(
        requests[..first].len() >= 2 && requests[..first].iter().all(|line| *line == confirmation),
        "{requests:?}"
    );
    assert_eq!(names_below(root.path()).len(), 4);
}

#[tokio::test]
async fn in_project_scope_a_run_of_another_project_is_not_downloaded() {
    let (service, root, mut host) = open_with(keys::ORGANIZATION, &[BOUND]).await;
    let error = host.fail(TOOL, all_of(seed::ARENA_RUN_FAILED)).await;
    assert_eq!(error["code"], "not_found");
    assert_eq!(service.requests().await, [format!("GET /project/demo/runs/{} 404", seed::ARENA_RUN_FAILED)]);
    assert!(!root.path().join("out").exists());
}

#[tokio::test]
async fn a_run_of_another_project_is_a_mismatch() {
    for key in [keys::DEMO, keys::ORGANIZATION] {
        let (service, root, mut host) = open_with(key, &[BOTH]).await;
        let mut arguments = all_of(seed::RUN_FAILED);
        arguments["project_id"] = json!("arena");

        let error = host.fail(TOOL, arguments).await;

        assert_eq!(error["code"], "project_scope_mismatch", "{error}");

        let named = [&error["details"]["requested_project"], &error["details"]["owning_project"]];

        assert_eq!(named, ["arena", "demo"]);
        assert!(service.requests().await.iter().all(|line| !line.contains("/artifacts/")));
        assert!(!root.path().join("out").exists());
    }

    let (service, _root, mut host) = open_with(keys::ORGANIZATION, &[BOUND]).await;
    let mut arguments = all_of(seed::RUN_FAILED);
    arguments["project_id"] = json!("arena");

    assert_eq!(host.fail(TOOL, arguments).await["code"], "project_scope_mismatch");
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn in_global_scope_the_project_is_found_by_the_run() {
    for (key, more) in [(keys::ORGANIZATION, &[BOTH][..]), (keys::ARENA, &[])] {
        let (_service, root, mut host) = open_with(key, more).await;
        let report: Value = host.succeed(TOOL, all_of(seed::ARENA_RUN_FAILED)).await;
        assert_eq!(report["status"], "downloaded", "{report}");
        assert!(names_below(root.path()).len() >= 4);
    }
}

#[tokio::test]
async fn a_key_without_permission_saves_nothing() {
    let (_service, root, mut host) = open_with(keys::POWERLESS, &[]).await;
    let error = host.fail(TOOL, all_of(seed::RUN_FAILED)).await;
    assert_eq!(error["details"]["required_permission"], "project:read-runs");
    assert!(!root.path().join("out").exists());
}
