//! Changing shared steps (service.md 8).

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::STEPS_SIGN_IN;

use super::client::{Answer, Client};

#[tokio::test]
async fn a_shared_step_counts_its_versions_and_refuses_a_stale_version() {
    let client = Client::demo().await;
    let path = format!("/shared-steps/{STEPS_SIGN_IN}");
    let change = json!({"expected_version": 2, "patch": {"steps_by_key": {"1": {"screenshots": 3}}}});
    let before = client.read(&path).await;
    let after = client.patch(&path, change.clone()).await.body;
    let step = |collection: &Value| collection["steps_by_key"]["1"].clone();
    let mut expected = step(&before);

    expected["screenshots"] = json!(3);

    assert_eq!((&after["version"], step(&after)), (&json!(3), expected));

    let stale = json!({"error": "version conflict", "expected_version": 2, "latest_version": 3});

    assert_eq!(client.patch(&path, change).await, Answer { status: 409, body: stale });
    assert_eq!(client.read(&path).await, after);
    assert_eq!(client.read(&format!("{path}?version=2")).await, before);

    let unordered = json!({"expected_version": 3, "patch": {"step_order": ["7"]}});
    assert_eq!(client.patch(&path, unordered).await.status, 400);
}
