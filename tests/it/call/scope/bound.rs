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
        // The project may be named.
        host.succeed("list_runs", within("demo", json!({}))).await;
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
async fn another_project_is_refused_before_any_request_to_it() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).variables(&[BOUND]).open().await;
    let error = host.fail("list_runs", within("arena", json!({}))).await;
    assert_mismatch(&error, "arena", "demo", Value::Null);
    assert_eq!(service.requests().await, [""; 0]);

    let export = json!({"multiplayer_run_id": seed::ARENA_RUN_PASSED});
    let error = host.fail("export_tmsys_run", within("arena", export)).await;
    assert_eq!(error["code"], "project_scope_mismatch");
    assert_eq!(error["details"]["owning_project"], Value::Null, "the project of the server is not the owner");
    let asked = format!("GET /project/demo/runs/{} 404", seed::ARENA_RUN_PASSED);
    assert_eq!(service.requests().await, [asked]);
}

#[tokio::test]
async fn a_mismatch_names_the_id_that_the_project_of_the_server_owns() {
    for (key, id) in [(keys::DEMO, json!(seed::RUN_PASSED)), (keys::POWERLESS, Value::Null)] {
        let Session { service: _service, mut host, .. } =
            Fixture::new().key(key).variables(&[BOUND]).open().await;
        let (tool, arguments) = run(seed::RUN_PASSED);
        let error = host.fail(tool, within("arena", arguments)).await;
        assert_eq!(
            (&error["code"], &error["details"]["id"]),
            (&json!("project_scope_mismatch"), &id),
            "{key}"
        );
        if key == keys::DEMO {
            assert_mismatch(&error, "arena", "demo", id);
        }
    }
}

#[tokio::test]
async fn an_id_of_another_project_is_not_found() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).variables(&[BOUND]).open().await;
    let (tool, arguments) = run(seed::ARENA_RUN_PASSED);
    assert_eq!(host.fail(tool, arguments).await["code"], "not_found");
    assert_eq!(service.requests().await.len(), 1);
}
