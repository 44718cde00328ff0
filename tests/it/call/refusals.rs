//! Arguments that are refused before any request.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    stub::Stub,
};

mod coercions;
mod ids;

/// Upper bound for the check of arguments; far above the time that it takes.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// All tools, and both projects of the sandbox for an organization key.
fn fixture() -> Fixture {
    Fixture::new().all_tools().variables(&[("TAS_PROJECTS", "demo,arena")])
}

#[tokio::test]
async fn arguments_that_break_the_schema_are_refused_with_their_path() {
    let Session { service, mut host, .. } = fixture().open().await;
    let uuid = "must be a UUID such as 3f2b8c1e-7a4d-4e59-9b60-1c2d3e4f5a6b";
    let cases = [
        ("get_run", json!({}), "run_id: is required".to_owned()),
        ("get_run", json!({"run_id": ["r1"]}), "run_id: must be a string, got an array".to_owned()),
        ("get_run", json!({"run_id": {"id": "r1"}}), "run_id: must be a string, got an object".to_owned()),
        ("get_run", json!({"run_id": true}), "run_id: must be a string, got a boolean".to_owned()),
        ("get_job", json!({"job_id": "job-7"}), format!("job_id: {uuid}")),
        ("list_runs", json!({"page": -1}), "page: must be 0 or more, got -1".to_owned()),
        ("list_runs", json!({"page": 1.5}), "page: must be an integer, got a number".to_owned()),
        ("list_runs", json!({"page": true}), "page: must be an integer, got a boolean".to_owned()),
        ("list_runs", json!({"page": "two"}), "page: must be an integer, got a string".to_owned()),
        ("list_runs", json!({"page": "3.5"}), "page: must be an integer, got a number".to_owned()),
        ("list_runs", json!({"page": "0x3"}), "page: must be an integer, got a string".to_owned()),
        ("list_runs", json!({"page_size": 0}), "page_size: must be from 1 to 100, got 0".to_owned()),
        ("list_runs", json!({"page_size": 101}), "page_size: must be from 1 to 100, got 101".to_owned()),
        ("list_runs", json!({"page_size": 1e300}), "page_size: must be an integer, got a number".to_owned()),
        ("list_runs", json!({"bugs": "yes"}), "bugs: must be true or false, got a string".to_owned()),
        ("list_runs", json!({"bugs": 1}), "bugs: must be true or false, got a number".to_owned()),
        (
            "list_runs",
            json!({"state": "initializing"}),
            "state: must be one of running, completed, all".to_owned(),
        ),
        ("list_runs", json!({"tags": {"a": 1}}), "tags: must be an array, got an object".to_owned()),
        ("list_runs", json!({"tags": ["a", ["b"]]}), "tags.1: must be a string, got an array".to_owned()),
        (
            "start_run",
            json!({"instructions": "x", "deployment_config_id": seed::CONFIG_WINDOWS, "additional_tags": 7.5, "options": []}),
            "options: must be an object, got an array".to_owned(),
        ),
        ("create_test_folder", json!({"name": ""}), "name: must not be empty".to_owned()),
        ("create_test", json!({"test": {"name": ""}}), "test.name: must not be empty".to_owned()),
        ("list_runs", json!({"project_id": ["demo"]}), "project_id: must be a string".to_owned()),
        (
            "stop_runs",
            json!({"job_ids": [seed::JOB_RUNNING], "confirm": "yes"}),
            "confirm: must be true or false".to_owned(),
        ),
    ];

    for (tool, arguments, expected) in cases {
        assert_eq!(host.violations(tool, arguments.clone()).await, [expected], "{tool} {arguments}");
    }

    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn an_unknown_argument_is_answered_with_the_nearest_one() {
    let Session { service, mut host, .. } = fixture().open().await;
    let cases = [
        ("get_run", "multiplayer_run_id", "run_id"),
        ("get_run", "runId", "run_id"),
        ("get_job", "jobId", "job_id"),
        ("list_runs", "pagesize", "page_size"),
        ("list_runs", "test_plan_execution", "test_plan_execution_id"),
        ("start_run", "deployment_config", "deployment_config_id"),
        ("start_run", "test_id", "multiplayer_test_id"),
        ("export_tmsys_run", "run_name", "custom_run_name"),
    ];

    for (tool, name, nearest) in cases {
        let found = host.violations(tool, json!({name: "x"})).await;
        let expected = format!("{name}: is not an argument of this tool; the nearest is `{nearest}`");
        assert_eq!(found[0], expected, "{tool}");
    }

    let found = host.violations("get_run", json!({"run_id": "r1", "xyz": 1})).await;

    assert_eq!(found, ["xyz: is not an argument of this tool, which takes `run_id`"]);
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn contradictory_arguments_are_refused() {
    let Session { service, mut host, .. } = fixture().open().await;
    let both = json!({"folder_path": "Levels", "folder_id": seed::FOLDER_LEVELS});
    let found = host.violations("list_tests", both).await;
    assert_eq!(found, ["folder_path: cannot be combined with `folder_id`"]);
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn huge_values_are_refused_within_the_time_limit() {
    let Session { service, mut host, .. } = fixture().open().await;
    let megabyte = "x".repeat(1 << 20);
    let many = |count: usize| Value::from((0..count).map(|number| format!("r{number}")).collect::<Vec<_>>());
    let cases = [
        ("export_tmsys_run", json!({"multiplayer_run_id": "r1", "custom_run_name": megabyte})),
        ("export_tmsys_run", json!({"multiplayer_run_ids": many(20_000)})),
        ("export_tmsys_run", json!({"multiplayer_run_ids": vec!["r1"; 20_000]})),
        ("stop_runs", json!({"job_ids": vec!["/"; 100_000]})),
        ("list_runs", json!({"test_type": megabyte})),
        ("list_runs", json!({"tags": many(10_000)})),
        ("list_runs", json!({"project_id": megabyte})),
        ("list_runs", (0..5_000).map(|number| (format!("page_{number}"), json!(1))).collect()),
        ("list_runs", json!({"page": "9".repeat(1 << 20)})),
    ];

    for (tool, arguments) in cases {
        let refused = tokio::time::timeout(TIME_LIMIT, host.fail(tool, arguments)).await.expect("in time");
        assert_eq!(refused["code"], "invalid_arguments", "{tool}");
        assert!(refused["details"]["violations"][0].is_object(), "{tool}");
        assert!(refused.to_string().len() < 20_000, "{tool}");
    }

    let refused = host.fail("list_runs", json!({&*megabyte: 1})).await;
    assert!(refused["code"] == "invalid_arguments" && refused.to_string().len() < 2_000, "{refused}");

    assert_eq!(service.requests().await, [""; 0]);

    // The server still answers after these values.
    host.succeed("list_runs", json!({})).await;
}

#[tokio::test]
async fn a_list_that_does_not_exist_has_no_id_to_check() {
    let stub = Stub::start(async |_| (404, json!({"error": "not found"}))).await;
    let mut host = Host::open(&stub.settings(keys::DEMO, &[])).await;

    for (tool, names_an_id, arguments) in
        [("list_runs", false, json!({})), ("get_run", true, json!({"run_id": "r1"}))]
    {
        let error = host.fail(tool, arguments).await;
        let advises_the_id = error["hint"].as_str().expect("a hint").contains("check the id");
        assert_eq!((&error["code"], advises_the_id), (&json!("not_found"), names_an_id), "{error}");
    }
}
