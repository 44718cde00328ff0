//! `rerun_results`: what did not pass is started again, and nothing twice.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::fixture::{Fixture, Session};

const PHONES: &str = seed::CONFIG_PRIVATE_PHONE;

fn of_execution(more: &Value) -> Value {
    let mut arguments = json!({
        "test_plan_execution_id": seed::EXECUTION_COMPLETED,
        "deployment_config_id": PHONES,
    });
    arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    arguments
}

fn names(rerun: &Value) -> Vec<&str> {
    rerun["tests"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|test| test["name"].as_str().expect("a name"))
        .collect()
}

#[tokio::test]
async fn the_failed_tests_of_an_execution_are_started_again_with_their_builds() {
    let Session { service, mut host, .. } = Fixture::new().open().await;

    let rerun = host.succeed("rerun_results", of_execution(&json!({"which": "failed"}))).await;

    assert_eq!(rerun["status"], "started", "{rerun}");
    assert_eq!(names(&rerun), ["Pause and resume"], "{rerun}");
    assert_eq!(rerun["tests"][0]["build_id"], seed::BUILD_ANDROID_EARLIER);
    assert_eq!(rerun["left_out"]["SUCCESS"], 3, "{rerun}");
    assert_eq!(service.writes().await.len(), 1);

    let job = host.succeed("get_job", json!({"job_id": rerun["job_ids"][0]})).await;
    let tags = job["tags"].as_array().expect("tags");
    assert!(tags.contains(&json!(format!("rerun-of:{}", seed::JOB_FAILED))), "{job}");
}

#[tokio::test]
async fn a_repeated_rerun_starts_nothing_and_returns_the_same_jobs() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let call = of_execution(&json!({"which": "failed"}));

    let first = host.succeed("rerun_results", call.clone()).await;
    let second = host.succeed("rerun_results", call).await;

    assert_eq!(second["job_ids"], first["job_ids"]);
    assert_eq!(second["tests"][0]["already_started"], true, "{second}");
    assert_eq!(service.writes().await.len(), 1);

    let of_other_build = of_execution(&json!({"which": "failed", "build_id": seed::BUILD_ANDROID}));
    let third = host.succeed("rerun_results", of_other_build).await;
    assert_ne!(third["job_ids"], first["job_ids"]);
    assert_eq!(service.writes().await.len(), 2);
}

#[tokio::test]
async fn a_run_and_a_job_are_started_again_as_the_job_that_they_belong_to() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let call = |name: &str, id: &str| json!({name: id, "which": "all", "deployment_config_id": PHONES});

    let of_run = host.succeed("rerun_results", call("run_id", seed::RUN_FAILED)).await;
    let of_job = host.succeed("rerun_results", call("job_id", seed::JOB_FAILED)).await;

    assert_eq!(of_run["job_ids"], of_job["job_ids"], "{of_run} {of_job}");
    assert_eq!(service.writes().await.len(), 1);
}

#[tokio::test]
async fn without_a_test_to_start_nothing_is_sent() {
    let Session { service, mut host, .. } = Fixture::new().open().await;

    let rerun = host.succeed("rerun_results", of_execution(&json!({}))).await;

    assert_eq!(rerun["status"], "nothing_to_start", "{rerun}");
    assert_eq!(rerun["left_out"]["FAILED"], 1, "{rerun}");
    assert_eq!(service.writes().await, [""; 0]);
}

#[tokio::test]
async fn a_device_that_is_not_known_is_asked_for_with_those_that_exist() {
    let Session { service, mut host, .. } = Fixture::new().open().await;

    let error = host.fail("rerun_results", json!({"job_id": seed::JOB_FAILED, "which": "failed"})).await;

    assert_eq!(error["code"], "invalid_arguments");
    assert!(error["hint"].as_str().expect("a hint").contains("`deployment_config_id`"), "{error}");
    assert!(error["details"]["devices"].as_array().is_some_and(|devices| devices.len() > 3), "{error}");
    assert_eq!(service.writes().await, [""; 0]);
}

#[tokio::test]
async fn a_dry_run_shows_each_start_and_sends_none() {
    let Session { service, mut host, .. } = Fixture::new().open().await;

    let rerun =
        host.succeed("rerun_results", of_execution(&json!({"which": "failed", "dry_run": true}))).await;

    assert_eq!(rerun["status"], "dry_run", "{rerun}");
    assert_eq!(rerun["tests"][0]["request"]["body"]["multiplayer_test_id"], seed::TEST_FAILS, "{rerun}");
    assert_eq!(service.writes().await, [""; 0]);
}

#[tokio::test]
async fn more_than_ten_starts_need_the_agreement_of_a_user() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let items: Vec<_> = (0..11).map(|_| json!({"multiplayer_test_id": seed::TEST_FAILS})).collect();
    let plan = host.succeed("create_test_plan", json!({"name": "Many", "test_items": items})).await;
    let start = json!({"test_plan_id": plan["id"], "deployment_config_id": PHONES});
    let started = host.succeed("start_test_plan_run", start).await;
    service.advance(36_000.0);

    let call = |more: Value| {
        let mut arguments = of_execution(&more);
        arguments["test_plan_execution_id"] = started["test_plan_execution_id"].clone();
        arguments
    };
    let error = host.fail("rerun_results", call(json!({"which": "all"}))).await;
    assert_eq!(error["code"], "confirmation_required", "{error}");
    assert_eq!(error["message"], "rerun_results starts 11 runs without retries; each is billed");

    assert_eq!(error["details"]["agreement"], json!({"max_starts": 11}));

    // Never more are started than agreed; a repeated call starts the rest.
    for (max_starts, jobs) in [(10, 10), (11, 11)] {
        let agreed = json!({"which": "all", "confirm": true, "max_starts": max_starts});
        let rerun = host.succeed("rerun_results", call(agreed)).await;
        assert_eq!(rerun["job_ids"].as_array().map(Vec::len), Some(jobs), "{rerun}");
        assert_eq!(rerun["left_out"].as_object().map_or(0, serde_json::Map::len), 11 - jobs, "{rerun}");
    }
}

#[tokio::test]
async fn a_plan_stands_for_its_latest_execution_and_capitals_in_a_build_id_start_nothing_twice() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    let source = of_execution(&json!({"which": "failed"}));
    let rerun = host.succeed("rerun_results", source.clone()).await;
    let build = rerun["tests"][0]["build_id"].as_str().expect("an id").to_owned();

    for build in [build.clone(), build.to_uppercase()] {
        let mut call = source.clone();
        call["build_id"] = json!(build);
        let again = host.succeed("rerun_results", call).await;
        assert_eq!(again["job_ids"], rerun["job_ids"], "{again}");
    }
    let of_plan =
        host.succeed("rerun_results", json!({"test_plan_id": seed::PLAN_SMOKE, "which": "failed"})).await;
    assert_eq!(of_plan["left_out"], json!({"SUCCESS": 1, "running": 3}), "{of_plan}");
}

#[tokio::test]
async fn a_repeated_call_starts_what_was_too_much_for_one_call() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let items: Vec<_> = (0..52).map(|_| json!({"multiplayer_test_id": seed::TEST_FAILS})).collect();
    let plan = host.succeed("create_test_plan", json!({"name": "Many", "test_items": items})).await;
    let start = json!({"test_plan_id": plan["id"], "deployment_config_id": PHONES});
    let started = host.succeed("start_test_plan_run", start).await;
    service.advance(360_000.0);
    let mut call = of_execution(&json!({"which": "failed", "confirm": true, "max_starts": 50}));
    call["test_plan_execution_id"] = started["test_plan_execution_id"].clone();

    let first = host.succeed("rerun_results", call.clone()).await;
    assert_eq!(first["job_ids"].as_array().map(Vec::len), Some(50), "{first}");
    let second = host.succeed("rerun_results", call).await;
    assert_eq!(second["job_ids"].as_array().map(Vec::len), Some(52), "{second}");
}

#[tokio::test]
async fn the_devices_need_not_be_readable_if_one_is_given() {
    let fault = json!({"operation": "list_deployment_configs", "status": 403});
    let Session { service, mut host, .. } = Fixture::new().fault(fault).open().await;

    let rerun = host.succeed("rerun_results", of_execution(&json!({"which": "failed"}))).await;

    assert_eq!(rerun["status"], "started", "{rerun}");
    assert_eq!(service.writes().await.len(), 1);
}

#[tokio::test]
async fn a_start_that_fails_is_named_and_the_others_remain() {
    let fault = json!({"operation": "start_run", "status": 400, "times": 1});
    let Session { service: _service, mut host, .. } = Fixture::new().fault(fault).open().await;

    let error = host.fail("rerun_results", of_execution(&json!({"which": "failed"}))).await;
    assert_eq!(error["code"], "rejected", "{error}");

    let rerun = host.succeed("rerun_results", of_execution(&json!({"which": "failed"}))).await;
    assert_eq!(rerun["status"], "started", "{rerun}");
}

#[tokio::test]
async fn a_wrong_project_is_named_before_anything_is_started() {
    let fixture = Fixture::new().key(keys::ORGANIZATION).variables(&[("TAS_PROJECTS", "demo,arena")]);
    let Session { service, mut host, .. } = fixture.open().await;

    let error = host.fail("rerun_results", of_execution(&json!({"project_id": "arena"}))).await;

    assert_eq!(error["code"], "project_scope_mismatch", "{error}");
    assert_eq!(service.writes().await, [""; 0]);
}
