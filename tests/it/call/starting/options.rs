//! Options and templates of a start.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::{assert_all_refused, assert_refused, fixture, merged, start_with};
use crate::support::fixture::Session;

/// Values of `options` that are refused, with their violations.
fn refused_options() -> [(Value, &'static [&'static str]); 6] {
    let position = |value| json!({"mobile_gpslocation": value, "mobile_geolocation": "Zurich"});

    [
        (json!({"mobile_gpslocation": "auto"}), &["mobile_gpslocation: `auto` needs `mobile_geolocation`"]),
        (
            position(json!("Zurich")),
            &["mobile_gpslocation: must be `auto` or an object of the strings `lat` and `long`"],
        ),
        (
            position(json!({"lng": "8.5"})),
            &["mobile_gpslocation: must be `auto` or an object of the strings `lat` and `long`"],
        ),
        (
            json!({"performance_monitoring": "often"}),
            &["performance_monitoring: must be true or false, got a string"],
        ),
        (json!({"mobile_geolocation": ["Zurich"]}), &["mobile_geolocation: must be a string, got an array"]),
        (
            json!({"mobile_auto_grant_permissions": 1}),
            &["mobile_auto_grant_permissions: must be true or false, got a number"],
        ),
    ]
}

#[tokio::test]
async fn values_that_the_service_does_not_understand_are_refused() {
    let plan = json!({"test_plan_id": seed::PLAN_SMOKE, "deployment_config_id": seed::CONFIG_WINDOWS});
    for (tool, base) in [("start_run", start_with(json!({}))), ("start_test_plan_run", plan)] {
        let cases = refused_options().map(|(options, expected)| {
            let expected = expected.iter().map(|violation| format!("options.{violation}")).collect();
            (merged(base.clone(), json!({"options": options})), expected)
        });
        assert_all_refused(tool, cases).await;
    }
}

#[tokio::test]
async fn a_time_budget_is_refused_with_the_reason() {
    let Session { service, mut host, .. } = fixture().open().await;
    for budget in ["min_seconds", "max_seconds"] {
        let found = host.violations("start_run", start_with(json!({"options": {budget: 60}}))).await;
        let reason =
            format!("options.{budget}: the time budget belongs to the test and cannot be set for one run");
        assert!(found.contains(&reason), "{found:?}");
    }

    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn a_position_is_auto_or_an_object_of_strings() {
    let Session { service, mut host, .. } = fixture().open().await;
    let accepted = [
        json!({"performance_monitoring": true, "mobile_auto_grant_permissions": false}),
        json!({"mobile_geolocation": "Portland, Oregon (US)", "mobile_gpslocation": "auto"}),
        json!({"mobile_gpslocation": {"lat": "47.3", "long": "8.5"}}),
        // Models send numbers.
        json!({"mobile_gpslocation": {"lat": 47.3, "long": 8.5}}),
        // Some hosts send an object as a string of JSON.
        json!({"mobile_gpslocation": "{\"lat\": \"47.3\", \"long\": \"8.5\"}"}),
        json!({"mobile_gpslocation": null}),
        json!({}),
    ];

    for options in &accepted {
        host.succeed("start_run", start_with(json!({"options": options}))).await;
    }

    assert_eq!(service.writes().await, vec!["POST /runs 201"; accepted.len()]);
}

#[tokio::test]
async fn unknown_options_are_sent_and_near_misses_are_a_warning() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let warning = "`options.mobile_geolocaton` is sent, but only `mobile_geolocation` is known";

    for (options, expected) in [
        (json!({"performance": true, "new": {"a": [1]}}), json!(null)),
        (json!({"mobile_geolocaton": "Zurich"}), json!(warning)),
    ] {
        let started = host.succeed("start_run", start_with(json!({"options": options}))).await;
        assert_eq!(started["warning"], expected, "{options}");
    }
}

#[tokio::test]
async fn defaults_that_need_another_argument_are_not_sent() {
    let Session { service, mut host, .. } = fixture().open().await;
    let task = json!({
        "instructions": "Walk", "deployment_config_id": seed::CONFIG_WINDOWS, "retries": 0, "instances": 1,
        "player_deployment_configs": {}, "run_on_all_configured_devices": false,
    });

    host.succeed("start_run", task).await;
    assert_eq!(service.writes().await, ["POST /runs 201"]);

    let plan =
        json!({"test_plan_id": seed::PLAN_SMOKE, "deployment_config_id": seed::CONFIG_WINDOWS, "retries": 1});
    assert_refused("start_run", &[(plan, &["retries: requires `multiplayer_test_id`"])]).await;
}

#[tokio::test]
async fn template_data_without_render_templates_is_a_warning() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let warning = "`template_data` requires `render_templates`";
    for more in [json!({}), json!({"render_templates": false})] {
        let arguments = start_with(merged(json!({"template_data": {"item": "key"}}), more));
        let started = host.succeed("start_run", arguments).await;
        assert_eq!((&started["warning"], started["job_ids"][0].is_string()), (&json!(warning), true));
    }

    let arguments = json!({"template_data": {"item": "key"}, "render_templates": true});
    let started = host.succeed("start_run", start_with(arguments)).await;
    let job = host.succeed("get_job", json!({"job_id": started["job_ids"][0]})).await;

    assert_eq!((&job["templating_enabled"], &job["template_data"]), (&json!(true), &json!({"item": "key"})));
}
