//! Export to the test-management system (service.md 2.7).

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{RUN_ERROR, RUN_FAILED, RUN_RUNNING};

use super::client::{Answer, Client};

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
async fn a_run_that_has_not_ended_is_not_exported() {
    let running = json!({"multiplayer_run_id": RUN_RUNNING});
    assert_eq!(export(&Client::demo().await, running).await.status, 400);
}
