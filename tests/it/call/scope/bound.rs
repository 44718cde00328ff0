//! Project scope: the configuration of the server names the project.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{assert_mismatch, run, within};
use crate::support::fixture::{Fixture, Session};

const BOUND: (&str, &str) = ("TAS_PROJECT_ID", "demo");

#[tokio::test]
async fn every_call_goes_to_the_configured_project_without_a_look_up() {
    for key in [keys::DEMO, keys::ORGANIZATION] {
        let Session { service, mut host, .. } = Fixture::new().key(key).variables(&[BOUND]).open().await;
        let start =
            json!({"multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_WINDOWS});
        host.succeed("list_runs", json!({})).await;
        host.succeed("get_job", json!({"job_id": seed::JOB_PASSED})).await;
        host.succeed("start_run", start).await;

        let expected = [
            "GET /project/demo/runs 200".to_owned(),
            format!("GET /project/demo/jobs/{} 200", seed::JOB_PASSED),
            "POST /project/demo/runs 201".to_owned(),
        ];

        assert_eq!(service.requests().await, expected);
    }
}

#[tokio::test]
async fn the_configured_project_may_be_named() {
    let Session { service, mut host, .. } = Fixture::new().variables(&[BOUND]).open().await;
    let (tool, arguments) = run(seed::RUN_PASSED);
    host.succeed(tool, within("demo", arguments)).await;
    assert_eq!(service.requests().await.len(), 1);
}

#[tokio::test]
async fn another_project_is_refused_before_any_request() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).variables(&[BOUND]).open().await;
    let export = json!({"multiplayer_run_id": seed::ARENA_RUN_PASSED});

    for (tool, arguments) in [("list_runs", json!({})), ("export_tmsys_run", export)] {
        let error = host.fail(tool, within("arena", arguments)).await;
        // The error names no id, because the owner of the run was not looked up.
        assert_mismatch(&error, "arena", "demo", Value::Null);
    }

    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn an_id_of_another_project_is_not_found() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).variables(&[BOUND]).open().await;
    let (tool, arguments) = run(seed::ARENA_RUN_PASSED);
    assert_eq!(host.fail(tool, arguments).await["code"], "not_found");
    assert_eq!(service.requests().await.len(), 1);
}
