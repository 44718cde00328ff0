//! Global scope with the key of a project.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{assert_mismatch, run, within};
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    stub::Stub,
};

#[tokio::test]
async fn without_a_project_each_call_is_one_request_without_prefix() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let calls = [
        ("list_runs", json!({}), "GET /runs 200".to_owned()),
        ("get_run", json!({"run_id": seed::RUN_PASSED}), format!("GET /runs/{} 200", seed::RUN_PASSED)),
        ("get_job", json!({"job_id": seed::JOB_PASSED}), format!("GET /jobs/{} 200", seed::JOB_PASSED)),
        (
            "get_test_plan_execution",
            json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED}),
            format!("GET /test-plan-executions/{} 200", seed::EXECUTION_COMPLETED),
        ),
        (
            "stop_runs",
            json!({"job_ids": [seed::JOB_RUNNING], "confirm": true}),
            "POST /runs/stop 200".to_owned(),
        ),
        (
            "export_tmsys_run",
            json!({"multiplayer_run_id": seed::RUN_PASSED}),
            "POST /runs/export/tmsys 200".to_owned(),
        ),
    ];

    let mut expected = Vec::new();
    for (tool, arguments, request) in calls {
        host.succeed(tool, arguments).await;
        expected.push(request);
    }

    assert_eq!(service.requests().await, expected);
}

#[tokio::test]
async fn the_owner_of_an_id_is_looked_up_once() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let (tool, arguments) = run(seed::RUN_PASSED);

    for _ in 0..2 {
        host.succeed(tool, within("demo", arguments.clone())).await;
    }

    let request = format!("GET /project/demo/runs/{} 200", seed::RUN_PASSED);

    assert_eq!(service.requests().await, vec![request; 3], "one look-up, and two calls");
}

#[tokio::test]
async fn without_ids_the_named_project_is_used_without_a_look_up() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    host.succeed("list_runs", within("demo", json!({}))).await;
    assert_eq!(host.fail("list_runs", within("arena", json!({}))).await["code"], "permission_denied");
    assert_eq!(service.requests().await, ["GET /project/demo/runs 200", "GET /project/arena/runs 403"]);
}

#[tokio::test]
async fn an_id_that_the_key_cannot_read_is_not_resolved() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let export = json!({"multiplayer_run_ids": [seed::RUN_PASSED, seed::ARENA_RUN_PASSED]});
    let error = host.fail("export_tmsys_run", within("demo", export)).await;
    assert_eq!(error["code"], "project_not_resolved");
    assert_eq!(error["details"], json!({"asked": ["demo"], "ids": [seed::ARENA_RUN_PASSED]}));
    assert_eq!(service.writes().await, [""; 0]);
}

/// The service may name a project by a slug in paths and by a UUID in records (service.md 1.1).
#[tokio::test]
async fn two_names_of_one_project_are_equal() {
    const UUID: &str = "0d9d5c1c-93a5-4c0b-8a3a-6a3f6dd9c1aa";
    for key in ["svc_one", "svc_org_one"] {
        let stub = Stub::start(async |target: String| {
            let known = ["/runs", "/project/demo/", &format!("/project/{UUID}/")];
            let path = target.trim_start_matches("GET ");
            if known.iter().any(|known| path.starts_with(known)) {
                (200, json!({"multiplayer_run_id": "r1", "project_id": UUID}))
            } else {
                (404, json!({"error": "run not found"}))
            }
        })
        .await;

        let mut host = Host::open(&stub.settings(key, &[("TAS_PROJECTS", "demo")])).await;
        let (tool, arguments) = run("r1");

        for project in ["demo", UUID, "demo"] {
            host.succeed(tool, within(project, arguments.clone())).await;
            let last = stub.requests().pop().unwrap_or_default();
            assert_eq!(last, format!("GET /project/{project}/runs/r1"));
        }

        let error = host.fail(tool, within("arena", arguments)).await;

        assert_eq!(error["code"], "project_scope_mismatch");
    }
}

#[tokio::test]
async fn the_project_of_a_record_without_one_is_taken_from_other_records() {
    let stub = Stub::start(async |target: String| match target.as_str() {
        "GET /runs/r1" => (200, json!({"multiplayer_run_id": "r1"})),
        "GET /runs?page_size=1" => (200, json!({"data": [{"project_id": "demo"}]})),
        _ => (404, Value::Null),
    })
    .await;

    let mut host = Host::open(&stub.settings(keys::DEMO, &[])).await;
    let (tool, arguments) = run("r1");
    let error = host.fail(tool, within("arena", arguments)).await;

    assert_mismatch(&error, "arena", "demo", "r1");
}
