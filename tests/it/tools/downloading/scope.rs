//! The run decides the project, and no file of another project is saved.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{NAMES, TOOL, all_of, fixture, names_below};

const PROJECT_SCOPE: (&str, &str) = ("TAS_PROJECT_ID", "demo");
const BOTH_PROJECTS: (&str, &str) = ("TAS_PROJECTS", "demo,arena");

#[tokio::test]
async fn in_project_scope_the_run_is_confirmed_before_an_organization_key_reads_its_files() {
    let mut session = fixture().key(keys::ORGANIZATION).variables(&[PROJECT_SCOPE]).open().await;
    session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    let requests = session.service.requests().await;
    let confirmation = format!("GET /project/demo/runs/{} 200", seed::RUN_FAILED);
    let first = requests.iter().position(|line| line.contains("/artifacts/")).expect("a file");

    assert!(
        requests[..first].len() >= 2 && requests[..first].iter().all(|line| *line == confirmation),
        "{requests:?}"
    );
    assert_eq!(names_below(session.root()).len(), NAMES.len());
}

#[tokio::test]
async fn in_project_scope_a_run_of_another_project_is_not_downloaded() {
    let mut session = fixture().key(keys::ORGANIZATION).variables(&[PROJECT_SCOPE]).open().await;
    let error = session.host.fail(TOOL, all_of(seed::ARENA_RUN_FAILED)).await;
    assert_eq!(error["code"], "not_found");
    assert_eq!(
        session.service.requests().await,
        [format!("GET /project/demo/runs/{} 404", seed::ARENA_RUN_FAILED)]
    );
    assert!(!session.root().join("out").exists());
}

#[tokio::test]
async fn a_run_of_another_project_is_a_mismatch() {
    for key in [keys::DEMO, keys::ORGANIZATION] {
        let mut session = fixture().key(key).variables(&[BOTH_PROJECTS]).open().await;
        let mut arguments = all_of(seed::RUN_FAILED);
        arguments["project_id"] = json!("arena");

        let error = session.host.fail(TOOL, arguments).await;

        assert_eq!(error["code"], "project_scope_mismatch", "{error}");

        let projects = [&error["details"]["requested_project"], &error["details"]["owning_project"]];

        assert_eq!(projects, ["arena", "demo"]);
        assert!(session.service.requests().await.iter().all(|line| !line.contains("/artifacts/")));
        assert!(!session.root().join("out").exists());
    }

    let mut session = fixture().key(keys::ORGANIZATION).variables(&[PROJECT_SCOPE]).open().await;
    let mut arguments = all_of(seed::RUN_FAILED);
    arguments["project_id"] = json!("arena");

    assert_eq!(session.host.fail(TOOL, arguments).await["code"], "project_scope_mismatch");
    assert_eq!(session.service.requests().await, [""; 0]);
}

#[tokio::test]
async fn in_global_scope_the_project_is_found_by_the_run() {
    for (key, more) in [(keys::ORGANIZATION, &[BOTH_PROJECTS][..]), (keys::ARENA, &[])] {
        let mut session = fixture().key(key).variables(more).open().await;
        let report: Value = session.host.succeed(TOOL, all_of(seed::ARENA_RUN_FAILED)).await;
        assert_eq!(report["status"], "downloaded", "{report}");
        assert!(names_below(session.root()).len() >= 4);
    }
}

#[tokio::test]
async fn a_key_without_permission_saves_nothing() {
    let mut session = fixture().key(keys::POWERLESS).open().await;
    let error = session.host.fail(TOOL, all_of(seed::RUN_FAILED)).await;
    assert_eq!(error["details"]["required_permission"], "project:read-runs");
    assert!(!session.root().join("out").exists());
}
