//! Export to the test-management system, as callers of the tool see it (service.md 2.7).

use serde_json::{Value, json};
use tas_mcp::sandbox::{Options, keys, seed};

use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    service::{settings, still_sandbox},
};

mod rules;

const TOOL: &str = "export_tmsys_run";

fn execution() -> Value {
    json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED})
}

fn without_new_run() -> Value {
    json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED, "force_new_run": false})
}

#[tokio::test]
async fn each_source_has_its_type() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let runs = [seed::RUN_PASSED, seed::RUN_BLOCKED];
    // Cases of one suite become a run of the test-management system, and cases of several suites a plan.
    let sources = [
        (json!({"multiplayer_run_id": runs[0]}), ["single_run", "single_suite"], &runs[..1], "tmsys_run_id"),
        (
            json!({"multiplayer_run_ids": runs}),
            ["multiple_runs", "multi_suite_plan"],
            &runs[..],
            "tmsys_plan_id",
        ),
    ];

    for (arguments, kind, runs, entry) in sources {
        let result = host.succeed(TOOL, arguments).await;
        assert_eq!([&result["export_type"], &result["export_strategy"]], kind);
        assert_eq!(result["export_trigger"], "manual");
        assert_eq!((&result["success"], &result["runs_processed"]), (&json!(true), &json!(runs)));
        assert!(result[entry].is_number(), "{result}");
        // The service leaves the field out of exports of runs, and nothing adds it.
        assert_eq!(result.get("already_exported"), None);
    }

    assert_eq!(host.succeed(TOOL, execution()).await["export_type"], "test_plan");
    assert_eq!(service.writes().await, ["POST /runs/export/tmsys 200"; 3]);
}

#[tokio::test]
async fn every_export_makes_a_new_entry_unless_the_call_excludes_it() {
    let Session { service: _service, mut host, .. } = Fixture::new().open().await;
    let entry = |result: &Value| [result["tmsys_run_id"].clone(), result["tmsys_plan_id"].clone()];
    let first = host.succeed(TOOL, without_new_run()).await;
    assert_eq!(first["already_exported"], false, "nothing was exported before");

    let second = host.succeed(TOOL, execution()).await;

    assert_ne!(entry(&first), entry(&second));

    let again = host.succeed(TOOL, without_new_run()).await;

    assert_eq!(entry(&again), entry(&second));
    assert_eq!([&again["already_exported"], &again["success"]], [true, true]);
    assert_eq!((&again["runs_processed"], &again["total_test_cases"]), (&json!([]), &json!(0)));
}

#[tokio::test]
async fn only_finished_runs_of_an_execution_are_exported() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let running = json!({"test_plan_execution_id": seed::EXECUTION_IN_PROGRESS});
    let runs = |result: &Value| result["runs_processed"].as_array().map_or(0, Vec::len);
    let early = host.succeed(TOOL, running.clone()).await;

    // All runs of the execution are finished a day later.
    service.advance(86_400.0);
    let late = host.succeed(TOOL, running).await;

    assert!(runs(&early) > 0 && runs(&early) < runs(&late), "{early} {late}");
}

#[tokio::test]
async fn a_project_without_the_integration_lacks_the_feature() {
    let Session { service: _service, mut host, .. } = Fixture::new().key(keys::ARENA).open().await;
    let error = host.fail(TOOL, json!({"multiplayer_run_id": seed::ARENA_RUN_PASSED})).await;
    assert_eq!((&error["code"], &error["status"]), (&json!("feature_disabled"), &json!(403)));
}

#[tokio::test]
async fn a_source_that_the_project_does_not_have_is_not_found() {
    let Session { service: _service, mut host, .. } = Fixture::new().open().await;
    for source in [
        json!({"multiplayer_run_id": seed::JOB_PASSED}),
        json!({"multiplayer_run_ids": [seed::RUN_PASSED, seed::ARENA_RUN_PASSED]}),
        json!({"test_plan_execution_id": seed::PLAN_SMOKE}),
    ] {
        assert_eq!(host.fail(TOOL, source).await["code"], "not_found");
    }
}

#[tokio::test]
async fn an_export_without_success_is_returned_with_all_its_fields() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let body = json!({
        "success": false, "export_type": "single_run", "export_trigger": "manual", "export_strategy": "single_suite",
        "runs_processed": [], "total_test_cases": 0, "error": "the account may not add runs", "error_code": "REMOTE_403",
        "tmsys_run_id": "812", "of_tomorrow": {"new": true},
    });
    service.fault(json!({"operation": TOOL, "body": body})).await;

    let result = host.succeed(TOOL, json!({"multiplayer_run_id": seed::RUN_PASSED})).await;

    assert_eq!(result, body);
}

#[tokio::test]
async fn the_deployment_name_is_used_in_requests_and_not_in_results() {
    let options = Options { tmsys_name: "acmerail".to_owned(), ..still_sandbox() };
    // Answers of this sandbox are not checked, because the contract knows only the neutral name.
    let sandbox = tas_mcp::sandbox::start(([127, 0, 0, 1], 0).into(), options, None).await.unwrap();
    let base_url = sandbox.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let renamed = [&variables[..], &[("TAS_TMSYS_NAME", "acmerail")]].concat();
    let mut host = Host::open(&settings(&renamed)).await;
    let result = host.succeed(TOOL, execution()).await;
    let names: Vec<_> = result.as_object().unwrap().keys().filter(|name| name.contains('_')).collect();

    assert!(names.iter().any(|name| name.starts_with("tmsys_")), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("acmerail")), "{names:?}");

    let mut host = Host::open(&settings(&variables)).await;

    assert_eq!(
        host.fail(TOOL, execution()).await["code"],
        "not_found",
        "the neutral name is no route of this deployment"
    );
}
