//! Starting a plan with a config for each slot.

use serde_json::json;
use tas_mcp::sandbox::seed;

use super::{assert_refused, fixture};
use crate::support::fixture::Session;

const TOOL: &str = "start_test_plan_run";

#[tokio::test]
async fn slot_one_is_the_default_slot() {
    let config = seed::CONFIG_WINDOWS;
    let arguments = json!({
        "test_plan_id": seed::PLAN_CROSS_PLATFORM, "deployment_config_id": config, "build_id": seed::BUILD_WINDOWS,
        "slot_deployment_configs": {"1": {"deployment_config_id": config}, "x": {"deployment_config_id": config}},
    });
    let expected = [
        "slot_deployment_configs.x: must be keyed by number: \"1\", \"2\", ...",
        "slot_deployment_configs.1: slot 1 and `deployment_config_id` cannot be combined: both set the default slot",
        "slot_deployment_configs.1: slot 1 and `build_id` cannot be combined: both set the default slot",
    ];

    assert_refused(TOOL, &[(arguments, &expected)]).await;
}

#[tokio::test]
async fn a_cross_platform_plan_starts_a_job_for_each_test_and_pins_builds() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let slots = json!({
        "1": {"deployment_config_id": seed::CONFIG_WINDOWS},
        "2": {"deployment_config_id": seed::CONFIG_PHONES, "build_id": seed::BUILD_ANDROID},
        "3": {"deployment_config_id": seed::CONFIG_PLAYSTATION},
    });
    let arguments = json!({"test_plan_id": seed::PLAN_CROSS_PLATFORM, "slot_deployment_configs": slots});
    let started = host.succeed(TOOL, arguments).await;
    let plan = host.succeed("get_test_plan", json!({"test_plan_id": seed::PLAN_CROSS_PLATFORM})).await;

    assert_eq!(started["job_ids"].as_array().map(Vec::len), plan["test_items"].as_array().map(Vec::len));

    let builds = json!({"2": seed::BUILD_ANDROID, "3": seed::BUILD_PLAYSTATION});

    assert_eq!(started["slot_build_ids"], builds);
    assert!(started["test_plan_execution_id"].is_string());
}

#[tokio::test]
async fn refusals_of_the_service_keep_its_message() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let config = json!({"deployment_config_id": seed::CONFIG_WINDOWS});
    let cases = [
        (json!({"9": config, "2": config, "3": config}), "unknown slot: 9"),
        (json!({"1": config, "2": config}), "missing deployment config for slots: 3"),
    ];

    for (slots, expected) in cases {
        let arguments = json!({"test_plan_id": seed::PLAN_CROSS_PLATFORM, "slot_deployment_configs": slots});
        let error = host.fail(TOOL, arguments).await;
        assert_eq!((&error["code"], &error["status"]), (&json!("rejected"), &json!(400)));
        assert_eq!(error["details"]["service_error"], expected);
    }
}
