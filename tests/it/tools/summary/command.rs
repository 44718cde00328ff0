//! `tas-mcp call summarize_results`.

use serde_json::{Value, json};
use tas_mcp::sandbox::{
    keys,
    seed::{
        CONFIG_PHONES, EXECUTION_COMPLETED, RUN_FAILED, TEST_BLOCKED, TEST_ERRORS, TEST_FAILS, TEST_FLAKY,
        TEST_PASSES,
    },
};

use super::{TOOL, each, execution, fixture, whole_length};
use crate::support::{binary::run_binary, fixture::Session, service::Service};

#[tokio::test]
async fn the_command_line_calls_the_tool() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let arguments = [
        "call",
        TOOL,
        "--json",
        "--test-plan-execution-id",
        EXECUTION_COMPLETED,
        "--compare-with",
        RUN_FAILED,
    ];
    let output = run_binary(&arguments, &variables, &[]).await;
    let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON");

    assert_eq!(printed["comparison"]["known"][0]["run_id"], RUN_FAILED);
    assert_eq!(output.status.code(), Some(0));
}

/// Five hundred runs of a plan of the sandbox, which checks every answer against the contract.
#[tokio::test]
async fn a_plan_of_five_hundred_tests_is_summarized() {
    let Session { service, mut host, .. } = fixture().open().await;
    let tests = [TEST_PASSES, TEST_FLAKY, TEST_FAILS, TEST_BLOCKED, TEST_ERRORS];
    let item = |number: usize| json!({"multiplayer_test_id": tests[number % tests.len()], "retries": 1});
    let items: Vec<_> = (0..500).map(item).collect();
    let plan = host.succeed("create_test_plan", json!({"name": "Everything", "test_items": items})).await;
    let start = json!({"test_plan_id": plan["id"], "deployment_config_id": CONFIG_PHONES});
    let started = host.succeed("start_test_plan_run", start).await;

    // All runs, including retries, end within an hour.
    service.advance(3_600.0);
    let arguments = execution(started["test_plan_execution_id"].as_str().expect("an id"));
    let summary = host.succeed(TOOL, arguments).await;

    assert_eq!(summary["verdicts"], json!({"BLOCKED": 100, "ERROR": 100, "FAILED": 100, "SUCCESS": 200}));
    assert_eq!(each(&summary["failures"], "/verdict"), ["FAILED", "BLOCKED", "ERROR"]);
    assert_eq!(each(&summary["failures"], "/count"), [100; 3]);
    assert_eq!((&summary["state"], &summary["unread"]), (&json!("completed"), &Value::Null));

    assert_eq!(whole_length(&summary, "/passed_after_retry"), 100);
}
