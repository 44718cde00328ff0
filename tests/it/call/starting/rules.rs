//! Rules for combinations of arguments of `start_run`.

use serde_json::json;
use tas_mcp::sandbox::seed;

use super::{assert_all_refused, assert_refused, fixture, start_with};
use crate::support::fixture::Session;

const UUID: &str = "must be a UUID such as 3f2b8c1e-7a4d-4e59-9b60-1c2d3e4f5a6b";
const SOURCES: &str =
    ": exactly one of `multiplayer_test_id`, `test_plan_id`, `instructions` must be provided, got ";

#[tokio::test]
async fn exactly_one_source_is_given() {
    let config = seed::CONFIG_WINDOWS;
    let none = format!("{SOURCES}none");
    let two = format!("{SOURCES}`multiplayer_test_id`, `instructions`");
    let all = format!("{SOURCES}`multiplayer_test_id`, `test_plan_id`, `instructions`");

    assert_refused(
        "start_run",
        &[
            (json!({"deployment_config_id": config}), &[&none]),
            (json!({"deployment_config_id": config, "instructions": null}), &[&none]),
            (start_with(json!({"instructions": "Walk"})), &[&two]),
            (start_with(json!({"instructions": "Walk", "test_plan_id": seed::PLAN_SMOKE})), &[&all]),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_deployment_config_is_required() {
    let rule = ": at least one of `deployment_config_id`, `player_deployment_configs` must be provided";
    let build = "build_id: requires `deployment_config_id`";

    assert_refused(
        "start_run",
        &[
            (json!({"multiplayer_test_id": seed::TEST_PASSES}), &[rule]),
            (json!({"test_plan_id": seed::PLAN_SMOKE}), &[rule]),
            (json!({"instructions": "Walk", "build_id": seed::BUILD_WINDOWS}), &[rule, build]),
        ],
    )
    .await;
}

#[tokio::test]
async fn retries_and_instances_have_limits() {
    let cases = [
        ("retries", json!(-1), "must be from 0 to 10, got -1"),
        ("retries", json!(11), "must be from 0 to 10, got 11"),
        ("retries", json!(1.5), "must be an integer, got a number"),
        ("instances", json!(0), "must be from 1 to 10, got 0"),
        ("instances", json!(11), "must be from 1 to 10, got 11"),
        ("instances", json!("many"), "must be an integer, got a string"),
    ];

    let cases =
        cases.map(|(name, value, rule)| (start_with(json!({name: value})), vec![format!("{name}: {rule}")]));

    assert_all_refused("start_run", cases).await;

    let Session { service, mut host, .. } = fixture().open().await;
    for (retries, instances) in [(0, 1), (10, 10)] {
        let started =
            host.succeed("start_run", start_with(json!({"retries": retries, "instances": instances}))).await;
        assert_eq!(started["job_ids"].as_array().map(Vec::len), Some(instances));
    }

    assert_eq!(service.writes().await, ["POST /runs 201"; 2]);
}

#[tokio::test]
async fn all_devices_require_a_config_and_exclude_configs_of_players() {
    let players = json!({"1": {"deployment_config_id": seed::CONFIG_PHONES}});
    let all = "run_on_all_configured_devices";

    assert_refused(
        "start_run",
        &[
            (
                json!({"multiplayer_test_id": seed::TEST_PASSES, "player_deployment_configs": players, all: true}),
                &[
                    "run_on_all_configured_devices: requires `deployment_config_id`",
                    "run_on_all_configured_devices: cannot be combined with `player_deployment_configs`",
                ],
            ),
            (
                start_with(json!({"player_deployment_configs": players, all: true})),
                &["run_on_all_configured_devices: cannot be combined with `player_deployment_configs`"],
            ),
        ],
    )
    .await;

    let Session { service: _service, mut host, .. } = fixture().open().await;
    host.succeed("start_run", start_with(json!({"player_deployment_configs": players, all: false}))).await;
}

#[tokio::test]
async fn ids_of_saved_records_are_uuids() {
    let values = ["demo", "424b1fee97094315 85d95954058b4714", "{424b1fee-9709-4315-85d9-5954058b471}"];
    let names = ["multiplayer_test_id", "deployment_config_id", "build_id", "agent_config_id"];
    let cases = names
        .map(|name| values.map(|value| (start_with(json!({name: value})), vec![format!("{name}: {UUID}")])));

    assert_all_refused("start_run", cases.into_iter().flatten()).await;

    let Session { service: _service, mut host, .. } = fixture().open().await;
    let upper = seed::TEST_PASSES.to_uppercase();
    host.succeed("start_run", start_with(json!({"multiplayer_test_id": upper}))).await;
}

#[tokio::test]
async fn players_are_keyed_by_number_and_name_a_config() {
    let config = json!({"deployment_config_id": seed::CONFIG_WINDOWS});
    let numbered =
        |key: &str| format!("player_deployment_configs.{key}: must be keyed by number: \"1\", \"2\", ...");
    let players = json!({"0": config, "01": config, "one": config, "-1": config, "+1": config, "1": config});
    let expected = ["0", "01", "one", "-1", "+1"].map(numbered);
    let expected: Vec<_> = expected.iter().map(String::as_str).collect();
    let inner = format!("player_deployment_configs.2.build_id: {UUID}");

    assert_refused(
        "start_run",
        &[
            (start_with(json!({"player_deployment_configs": players})), &expected),
            (
                start_with(json!({"player_deployment_configs": {"1": {}, "2": {"deployment_config_id": seed::CONFIG_WINDOWS, "build_id": "x"}}})),
                &["player_deployment_configs.1.deployment_config_id: is required", &inner],
            ),
            (
                json!({"multiplayer_test_id": seed::TEST_PASSES, "player_deployment_configs": {}}),
                &[": at least one of `deployment_config_id`, `player_deployment_configs` must be provided"],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn every_violation_is_reported_at_once() {
    let arguments = json!({
        "instructions": "Walk", "test_plan_id": "smoke", "retries": 11, "build_id": seed::BUILD_WINDOWS,
        "options": {"mobile_gpslocation": "auto"}, "additional_tag": ["x"],
    });
    let expected = [
        format!("test_plan_id: {UUID}"),
        "retries: must be from 0 to 10, got 11".to_owned(),
        "additional_tag: is not an argument of this tool; the nearest is `additional_tags`".to_owned(),
        format!("{SOURCES}`test_plan_id`, `instructions`"),
        ": at least one of `deployment_config_id`, `player_deployment_configs` must be provided".to_owned(),
        "build_id: requires `deployment_config_id`".to_owned(),
        "retries: requires `multiplayer_test_id`".to_owned(),
        "options.mobile_gpslocation: `auto` needs `mobile_geolocation`".to_owned(),
    ];

    let expected: Vec<_> = expected.iter().map(String::as_str).collect();

    assert_refused("start_run", &[(arguments, &expected)]).await;
}
