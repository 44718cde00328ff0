//! `rerun_results`: what did not pass is started again, and nothing twice.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    service::Service,
};

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
    let test = &rerun["tests"][0];
    let build = json!({"id": seed::BUILD_ANDROID_EARLIER, "name": "Emberfall 1.4.0 nightly 412"});
    assert_eq!((&test["build"], &test["deployment_config_id"]), (&build, &json!(PHONES)));
    assert!(test["device"].is_string(), "{test}");
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
    assert_eq!(third["tests"][0]["build"]["id"], seed::BUILD_ANDROID, "{third}");
    assert!(third["tests"][0]["build"]["name"].is_string(), "{third}");
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

/// Starts a plan with `count` tests that fail, and returns the call that starts them again.
async fn many_failures(service: &Service, host: &mut Host, count: usize) -> Value {
    let items: Vec<_> = (0..count).map(|_| json!({"multiplayer_test_id": seed::TEST_FAILS})).collect();
    let plan = host.succeed("create_test_plan", json!({"name": "Many", "test_items": items})).await;
    let start = json!({"test_plan_id": plan["id"], "deployment_config_id": PHONES});
    let started = host.succeed("start_test_plan_run", start).await;
    service.advance(360_000.0);

    let mut call = of_execution(&json!({"which": "failed"}));
    call["test_plan_execution_id"] = started["test_plan_execution_id"].clone();
    call
}

fn with(call: &Value, argument: &str, value: impl Into<Value>) -> Value {
    let mut call = call.clone();
    call[argument] = value.into();
    call
}

fn count(list: &Value) -> Option<usize> {
    list.as_array().map(Vec::len)
}

#[tokio::test]
async fn more_than_ten_starts_need_the_agreement_of_a_user() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let call = many_failures(&service, &mut host, 11).await;

    for call in [call.clone(), with(&call, "max_starts", 11), with(&call, "confirm", true)] {
        let error = host.fail("rerun_results", call).await;
        assert_eq!(error["code"], "confirmation_required", "{error}");
        assert_eq!(error["message"], "rerun_results starts 11 runs without retries; each is billed");
        assert_eq!(error["details"]["agreement"], json!({"max_starts": 11}));
    }

    // Never more are started than the caller names; a repeated call starts the rest.
    for (max_starts, is_confirmed, jobs) in [(3, false, 3), (5, true, 8), (50, true, 11)] {
        let call = with(&with(&call, "max_starts", max_starts), "confirm", is_confirmed);
        let rerun = host.succeed("rerun_results", call).await;
        assert_eq!(count(&rerun["job_ids"]), Some(jobs), "{rerun}");
        assert_eq!(rerun["left_out"].is_null(), jobs == 11, "{rerun}");
    }
}

/// The tool reads everything again after the answer, and finds one failure more.
#[tokio::test]
async fn a_person_agrees_to_a_number_and_not_to_what_is_found_later() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().connect().await;
    let client = json!({"name": "host", "version": "1"});
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": client});
    host.request("initialize", params).await;
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let call = many_failures(&service, &mut host, 12).await;
    let filter = json!({"test_plan_execution_id": call["test_plan_execution_id"], "page_size": 100});
    let mut jobs = host.succeed("list_jobs", filter).await;
    jobs["data"].as_array_mut().expect("a list").pop();
    service.fault(json!({"operation": "list_jobs", "body": jobs, "times": 1})).await;

    let call = host.start("tools/call", json!({"name": "rerun_results", "arguments": call})).await;
    let question = host.receive().await;
    let message = question["params"]["message"].as_str().expect("a message");
    assert!(message.contains("starts 11 runs without retries"), "{message}");
    let answer = json!({"action": "accept", "content": {"confirm": true}});
    host.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;

    let rerun = host.answer(call).await["result"]["structuredContent"].clone();
    assert_eq!((count(&rerun["job_ids"]), rerun["left_out"].is_object()), (Some(11), true), "{rerun}");
}

#[tokio::test]
async fn a_plan_stands_for_its_latest_execution_and_capitals_in_a_build_id_start_nothing_twice() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    let source = of_execution(&json!({"which": "failed"}));
    let rerun = host.succeed("rerun_results", source.clone()).await;
    let build = rerun["tests"][0]["build"]["id"].as_str().expect("an id").to_owned();

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
    let call = many_failures(&service, &mut host, 52).await;
    let call = with(&with(&call, "confirm", true), "max_starts", 50);

    let first = host.succeed("rerun_results", call.clone()).await;
    assert_eq!(count(&first["job_ids"]), Some(50), "{first}");
    let second = host.succeed("rerun_results", call).await;
    assert_eq!(count(&second["job_ids"]), Some(52), "{second}");
}

#[tokio::test]
async fn the_devices_need_not_be_readable_if_one_is_given() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    service.fault(json!({"operation": "list_deployment_configs", "status": 403})).await;

    let rerun = host.succeed("rerun_results", of_execution(&json!({"which": "failed"}))).await;

    assert_eq!(rerun["status"], "started", "{rerun}");
    assert_eq!(service.writes().await.len(), 1);
}

#[tokio::test]
async fn a_start_that_fails_is_named_and_the_others_remain() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    service.fault(json!({"operation": "start_run", "status": 400, "times": 1})).await;

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
