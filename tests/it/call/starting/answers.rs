//! Answers to a start that succeeds on all, on some, or on none of the devices.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::{fixture, merged, start_with};
use crate::support::fixture::Session;

const ALL: &str = "run_on_all_configured_devices";

fn count(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

/// The three kinds of start on all devices of a config.
fn on_all_devices_of(config: &str) -> [Value; 3] {
    let common = json!({"deployment_config_id": config, ALL: true});
    [
        json!({"multiplayer_test_id": seed::TEST_PASSES}),
        json!({"test_plan_id": seed::PLAN_SMOKE}),
        json!({"instructions": "Walk to the gate"}),
    ]
    .map(|source| merged(common.clone(), source))
}

#[tokio::test]
async fn the_answer_to_each_source_has_the_ids_of_that_source() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let config = json!({"deployment_config_id": seed::CONFIG_WINDOWS});
    let saved = host.succeed("start_run", start_with(json!({}))).await;

    assert_eq!((count(&saved["job_ids"]), &saved["build_id"]), (1, &json!(seed::BUILD_WINDOWS)));

    let plan =
        host.succeed("start_run", merged(config.clone(), json!({"test_plan_id": seed::PLAN_SMOKE}))).await;

    assert_eq!(count(&plan["job_ids"]), 4);
    assert!(plan["test_plan_execution_id"].is_string());

    let walk = json!({"instructions": "Walk", "name": "A walk", "additional_tags": ["nightly"]});
    let ephemeral = host.succeed("start_run", merged(config, walk)).await;

    assert!(ephemeral["test_id"].is_string());

    let job = host.succeed("get_job", json!({"job_id": ephemeral["job_ids"][0]})).await;

    assert_eq!((&job["test_name"], &job["tags"]), (&json!("A walk"), &json!(["api", "nightly"])));
}

#[tokio::test]
async fn a_start_on_some_devices_succeeds_and_shows_the_failed_devices() {
    let Session { service, mut host, .. } = fixture().open().await;
    for arguments in on_all_devices_of(seed::CONFIG_PHONES_ONE_BROKEN) {
        // The service names the rows differently for a start from instructions.
        let rows = if arguments["instructions"].is_null() { "results" } else { "device_runs" };
        let started = host.succeed("start_run", arguments).await;

        assert_eq!(started["ok"], true);
        assert_eq!(
            [&started["requested_count"], &started["started_count"], &started["failed_count"]],
            [2, 1, 1]
        );

        let failed: Vec<_> =
            started[rows].as_array().unwrap().iter().filter(|row| row["ok"] == false).collect();

        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0]["message"], "device could not be started");
    }

    assert_eq!(service.writes().await, ["POST /runs 207"; 3]);
}

#[tokio::test]
async fn a_start_on_no_device_fails_and_keeps_the_results() {
    let Session { service, mut host, .. } = fixture().open().await;
    for arguments in on_all_devices_of(seed::CONFIG_PHONES_ALL_BROKEN) {
        let rows = if arguments["instructions"].is_null() { "results" } else { "device_runs" };
        let error = host.fail("start_run", arguments).await;
        assert_eq!((&error["code"], &error["status"]), (&json!("service_unavailable"), &json!(500)));
        assert_eq!([&error["details"]["requested_count"], &error["details"]["failed_count"]], [2, 2]);
        assert_eq!(count(&error["details"][rows]), 2);
        assert!(error["message"].as_str().unwrap().contains(&format!("`details.{rows}`")), "{error}");
    }

    assert_eq!(service.writes().await, ["POST /runs 500"; 3]);
}

#[tokio::test]
async fn instances_are_started_on_each_device() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let arguments = json!({"deployment_config_id": seed::CONFIG_PHONES, ALL: true, "instances": 2});
    let started = host.succeed("start_run", start_with(arguments)).await;
    assert_eq!((count(&started["job_ids"]), &started["requested_count"]), (6, &json!(6)));
}

#[tokio::test]
async fn refusals_of_the_service_keep_its_message() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let two = json!({"multiplayer_test_id": seed::TEST_TWO_PLAYERS});
    let phone = json!({"deployment_config_id": seed::CONFIG_PRIVATE_PHONE});
    let cases = [
        (start_with(json!({ALL: true})), 400, "run_on_all_configured_devices needs a mobile"),
        (
            start_with(
                json!({"build_id": seed::BUILD_WINDOWS, "deployment_config_id": seed::CONFIG_DIRECT_URL}),
            ),
            400,
            "build_id works only",
        ),
        (
            merged(two.clone(), json!({"player_deployment_configs": {"1": phone}})),
            400,
            "missing deployment config for players: 2",
        ),
        (
            merged(two, json!({"player_deployment_configs": {"1": phone, "3": phone}})),
            400,
            "unknown player: 3",
        ),
        (
            start_with(json!({"multiplayer_test_id": seed::ARENA_TEST_PASSES})),
            404,
            "multiplayer test not found",
        ),
    ];

    for (arguments, status, expected) in cases {
        let error = host.fail("start_run", arguments).await;
        assert_eq!(error["status"], status);
        let service_error = error["details"]["service_error"].as_str().unwrap();
        assert!(service_error.starts_with(expected), "{service_error}");
    }
}
