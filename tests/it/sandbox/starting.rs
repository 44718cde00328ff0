//! Rules of a start (service.md 2.1, 4.6).

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{AGENT_CAREFUL, BUILD_ANDROID_EARLIER, CONFIG_PHONES, PLAN_SMOKE, TEST_PASSES};

use super::client::{Client, error};

const NOWHERE: &str = "00000000-0000-4000-8000-000000000000";

/// Returns the error text of a start that is refused with 400.
async fn refusal(body: Value) -> String {
    let answer = Client::demo().await.post("/runs", body).await;
    assert_eq!(answer.status, 400, "{}", answer.body);
    answer.body["error"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_start_of_a_saved_test_returns_one_job_and_no_run_id() {
    let client = Client::demo().await;
    let body = json!({
        "multiplayer_test_id": TEST_PASSES, "deployment_config_id": CONFIG_PHONES,
        "build_id": BUILD_ANDROID_EARLIER, "agent_config_id": AGENT_CAREFUL, "additional_tags": ["nightly"],
    });
    let started = client.post("/runs", body).await;
    let job_id = started.body["job_ids"][0].clone();
    let expected = json!({"message": "queued", "build_id": BUILD_ANDROID_EARLIER, "job_ids": [job_id]});

    assert_eq!((started.status, &started.body), (201, &expected));

    let job = client.job(&started).await;

    assert_eq!((&job["status"], &job["tags"]), (&json!("QUEUED"), &json!(["smoke", "nightly"])));
}

#[tokio::test]
async fn unknown_subjects_are_404_and_unknown_configs_400() {
    let client = Client::demo().await;
    let test = json!({"multiplayer_test_id": NOWHERE, "deployment_config_id": CONFIG_PHONES});

    assert_eq!(client.post("/runs", test).await, error(404, "multiplayer test not found"));

    let plan = json!({"test_plan_id": NOWHERE, "deployment_config_id": CONFIG_PHONES});

    assert_eq!(client.post("/runs", plan).await, error(404, "test plan not found"));
    for field in ["deployment_config_id", "build_id", "agent_config_id"] {
        let mut body = json!({"multiplayer_test_id": TEST_PASSES, "deployment_config_id": CONFIG_PHONES});
        body[field] = json!(NOWHERE);
        assert!(refusal(body).await.starts_with("unknown "), "{field}");
    }
}

#[tokio::test]
async fn a_plan_gives_one_job_per_test_and_an_execution() {
    let client = Client::demo().await;
    let body = json!({"test_plan_id": PLAN_SMOKE, "deployment_config_id": CONFIG_PHONES});
    let started = client.post("/runs", body).await;

    assert_eq!(started.status, 201);
    assert_eq!(started.body["job_ids"].as_array().unwrap().len(), 4);

    let id = started.body["test_plan_execution_id"].as_str().unwrap();
    let execution = client.read(&format!("/test-plan-executions/{id}")).await;

    assert_eq!((&execution["status"], &execution["total_tests"]), (&json!("queued"), &json!(4)));

    let jobs = client.read(&format!("/jobs?test_plan_execution_id={id}")).await;
    let mut retries: Vec<_> =
        { jobs["data"].as_array().unwrap() }.iter().map(|job| job["retries"]["total"].as_u64()).collect();
    retries.sort();

    assert_eq!(retries, [Some(0), Some(0), Some(1), Some(1)]);
}

#[tokio::test]
async fn the_same_calls_give_the_same_ids() {
    let body = json!({"multiplayer_test_id": TEST_PASSES, "deployment_config_id": CONFIG_PHONES});
    let first = Client::demo().await.post("/runs", body.clone()).await;
    assert_eq!(Client::demo().await.post("/runs", body).await, first);
}
