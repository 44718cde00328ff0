//! Creating and changing plans (service.md 4).

use serde_json::json;
use tas_mcp::sandbox::seed::{
    CONFIG_WINDOWS, PLAN_CROSS_PLATFORM, PLAN_SMOKE, TEST_BLOCKED, TEST_PASSES, TEST_TWO_PLAYERS,
};

use super::client::{Client, error};

const NOWHERE: &str = "00000000-0000-4000-8000-000000000000";

#[tokio::test]
async fn a_new_plan_can_be_read_changed_and_started() {
    let client = Client::demo().await;
    let items =
        json!([{"multiplayer_test_id": TEST_PASSES, "retries": 2}, {"multiplayer_test_id": TEST_BLOCKED}]);
    let body = json!({"test_plan": {"name": "Nightly", "test_items": items}});
    let created = client.post("/test-plans", body).await;

    assert_eq!((created.status, &created.body["test_items"][1]["retries"]), (201, &json!(0)));

    let path = format!("/test-plans/{}", created.body["id"].as_str().unwrap());

    assert_eq!(client.read(&path).await, created.body);

    let patched = client.patch(&path, json!({"patch": {"name": "Weekly"}})).await;

    assert_eq!(
        (&patched.body["name"], &patched.body["test_items"]),
        (&json!("Weekly"), &created.body["test_items"])
    );

    let body = json!({"deployment_config_id": CONFIG_WINDOWS});
    let started = client.post(&format!("{path}/runs"), body).await;

    assert_eq!(started.body["job_ids"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn the_items_of_a_plan_are_replaced_and_keep_their_slots() {
    let client = Client::demo().await;
    let items = json!([{"multiplayer_test_id": TEST_TWO_PLAYERS, "retries": 3, "note": "kept"}]);
    let path = format!("/test-plans/{PLAN_CROSS_PLATFORM}");
    let patched = client.patch(&path, json!({"patch": {"test_items": items}})).await;

    assert_eq!((patched.status, &patched.body["test_items"]), (200, &items));

    let started = client.post(&format!("{path}/runs"), json!({"deployment_config_id": CONFIG_WINDOWS})).await;

    assert_eq!(started, error(400, "missing deployment config for slots: 2"));
}

#[tokio::test]
async fn a_plan_contains_tests_that_exist() {
    let client = Client::demo().await;
    let path = format!("/test-plans/{PLAN_SMOKE}");

    for items in [json!([{"multiplayer_test_id": NOWHERE}]), json!([{}]), json!("none")] {
        assert_eq!(client.patch(&path, json!({"patch": {"test_items": items}})).await.status, 400);
    }

    let missing = client.patch(&format!("/test-plans/{NOWHERE}"), json!({"patch": {}})).await;

    assert_eq!(missing, error(404, "test plan not found"));
}
