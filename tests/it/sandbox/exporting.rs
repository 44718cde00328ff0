//! Export to the test-management system (service.md 2.7).

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{ARENA_RUN_PASSED, JOB_PASSED, RUN_ERROR, RUN_FAILED, RUN_PASSED, RUN_RUNNING};

use super::client::{Answer, Client, error};

async fn export(client: &Client, body: Value) -> Answer {
    client.post("/runs/export/tmsys", body).await
}

#[tokio::test]
async fn lost_cases_are_skipped_with_a_warning() {
    let exported = export(&Client::demo().await, json!({"multiplayer_run_id": RUN_FAILED})).await.body;
    assert_eq!((&exported["skipped_cases"], &exported["total_test_cases"]), (&json!([1043]), &json!(1)));
    let warning = &exported["warnings"][0];
    assert_eq!((&warning["type"], &warning["run_id"]), (&json!("case_not_found"), &json!(RUN_FAILED)));
}

#[tokio::test]
async fn a_test_without_cases_exports_nothing_and_reports_an_error() {
    let exported = export(&Client::demo().await, json!({"multiplayer_run_id": RUN_ERROR})).await;
    assert_eq!((exported.status, &exported.body["success"]), (200, &json!(false)));
    assert_eq!(exported.body["warnings"][0]["type"], "no_case_mapping");
}

#[tokio::test]
async fn export_sources_must_exist_in_the_project() {
    let client = Client::demo().await;
    let composite = format!("{RUN_PASSED}-1");

    for run in [ARENA_RUN_PASSED, JOB_PASSED, composite.as_str()] {
        assert_eq!(
            export(&client, json!({"multiplayer_run_id": run})).await,
            error(404, "run not found"),
            "{run}"
        );
    }

    let several = json!({"multiplayer_run_ids": [RUN_PASSED, ARENA_RUN_PASSED]});

    assert_eq!(export(&client, several).await, error(404, "run not found"));

    let execution = json!({"test_plan_execution_id": "00000000-0000-4000-8000-000000000000"});

    assert_eq!(export(&client, execution).await, error(404, "test plan execution not found"));
}

#[tokio::test]
async fn invalid_exports_are_refused() {
    let client = Client::demo().await;
    for body in [
        json!({}),
        json!({"multiplayer_run_id": RUN_PASSED, "multiplayer_run_ids": [RUN_FAILED]}),
        json!({"multiplayer_run_ids": [RUN_PASSED, RUN_PASSED]}),
        json!({"multiplayer_run_id": RUN_PASSED, "custom_run_name": "   "}),
        json!({"multiplayer_run_id": RUN_RUNNING}),
    ] {
        assert_eq!(export(&client, body.clone()).await.status, 400, "{body}");
    }
}
