//! Export to the test-management system (service.md 2.7).

use serde_json::{Value, json};
use tas_mcp::sandbox::{
    Options, keys,
    seed::{
        ARENA_RUN_PASSED, EXECUTION_COMPLETED, EXECUTION_IN_PROGRESS, JOB_PASSED, RUN_BLOCKED, RUN_ERROR,
        RUN_FAILED, RUN_PASSED, RUN_RUNNING,
    },
};

use super::client::{Answer, Client, error};
use crate::support::service::still_sandbox;

async fn export(client: &Client, body: Value) -> Answer {
    client.post("/runs/export/tmsys", body).await
}

#[tokio::test]
async fn one_suite_gives_the_run_form() {
    let body = json!({"multiplayer_run_id": RUN_PASSED, "custom_run_name": "  Nightly 412 "});
    let exported = export(&Client::demo().await, body).await;

    assert_eq!(exported.status, 200);

    let expected = [
        ("success", json!(true)),
        ("export_type", json!("single_run")),
        ("export_trigger", json!("manual")),
        ("export_strategy", json!("single_suite")),
        ("runs_processed", json!([RUN_PASSED])),
        ("total_test_cases", json!(2)),
        ("tmsys_run_name", json!("Nightly 412")),
    ];

    for (name, value) in expected {
        assert_eq!(exported.body[name], value, "{name}");
    }

    assert!(exported.body["tmsys_run_id"].is_number());
    assert_eq!((exported.body.get("tmsys_plan_id"), exported.body.get("already_exported")), (None, None));
}

#[tokio::test]
async fn several_suites_give_the_plan_form() {
    let body = json!({"multiplayer_run_ids": [RUN_PASSED, RUN_BLOCKED]});
    let exported = export(&Client::demo().await, body).await.body;

    assert_eq!(
        (&exported["export_type"], &exported["export_strategy"]),
        (&json!("multiple_runs"), &json!("multi_suite_plan"))
    );
    assert!(exported["tmsys_plan_id"].is_number());
    assert_eq!(exported.get("tmsys_run_id"), None);
}

#[tokio::test]
async fn a_repeated_export_without_force_returns_the_existing_export() {
    let client = Client::demo().await;
    let first = export(&client, json!({"test_plan_execution_id": EXECUTION_COMPLETED})).await.body;

    assert_eq!(first["already_exported"], false);

    let body = json!({"test_plan_execution_id": EXECUTION_COMPLETED, "force_new_run": false});
    let again = export(&client, body).await.body;

    assert_eq!((&again["already_exported"], &again["runs_processed"]), (&json!(true), &json!([])));
    assert_eq!((&again["total_test_cases"], &again["tmsys_plan_id"]), (&json!(0), &first["tmsys_plan_id"]));

    let anew = export(&client, json!({"test_plan_execution_id": EXECUTION_COMPLETED})).await.body;

    assert_ne!(anew["tmsys_plan_id"], first["tmsys_plan_id"]);
}

#[tokio::test]
async fn the_first_export_happens_even_without_force() {
    let body = json!({"test_plan_execution_id": EXECUTION_COMPLETED, "force_new_run": false});
    assert_eq!(export(&Client::demo().await, body).await.body["already_exported"], false);
}

#[tokio::test]
async fn an_execution_in_progress_exports_its_completed_runs() {
    let client = Client::demo().await;
    let body = json!({"test_plan_execution_id": EXECUTION_IN_PROGRESS});
    let early = export(&client, body.clone()).await.body;

    assert_eq!(early["runs_processed"].as_array().unwrap().len(), 1);

    client.sandbox.advance(3_600.0);
    let late = export(&client, body).await.body;

    assert_eq!(late["runs_processed"].as_array().unwrap().len(), 4);
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

#[tokio::test]
async fn a_project_without_the_integration_cannot_export() {
    let client = Client::demo().await.key(keys::ARENA);
    let refused = export(&client, json!({"multiplayer_run_id": ARENA_RUN_PASSED})).await;
    assert_eq!(refused, error(403, "integration is not enabled"));
}

#[tokio::test]
async fn a_deployment_may_rename_the_test_management_system() {
    let client = Client::with(Options { tmsys_name: "caseway".to_owned(), ..still_sandbox() }, None).await;
    let body = json!({"multiplayer_run_id": RUN_PASSED});

    assert_eq!(export(&client, body.clone()).await.status, 404);

    let exported = client.post("/runs/export/caseway", body).await.body;

    assert!(exported["caseway_run_id"].is_number());
    assert_eq!(exported.get("tmsys_run_id"), None);
}
