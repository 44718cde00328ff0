//! Deleting tests, plans and shared steps (service.md 1.5, 4.5, 6.5, 8).

use serde_json::{Value, json};
use tas_mcp::sandbox::{
    keys,
    seed::{
        CONFIG_PHONES, EXECUTION_COMPLETED, FOLDER_MENUS, JOB_FAILED, PLAN_SMOKE, RUN_FAILED, TEST_BLOCKED,
        TEST_FAILS,
    },
};

use super::client::{Answer, Client, error};

fn deletion_of(id: &Value) -> Answer {
    Answer { status: 200, body: json!({"id": id, "deleted": true}) }
}

fn ids(list: &Value, name: &str) -> Vec<Value> {
    list["data"].as_array().unwrap().iter().map(|record| record[name].clone()).collect()
}

/// Creates a test in `Menus` without runs.
async fn new_test(client: &Client) -> String {
    let created = client.post("/tests", json!({"test": {"name": "New"}, "folder_id": FOLDER_MENUS})).await;
    created.body["id"].as_str().unwrap().to_owned()
}

/// Returns the number of runs and the number of jobs of a test.
async fn runs_and_jobs(client: &Client, test: &str) -> [Value; 2] {
    let count = async |list: &str| {
        let path = format!("/{list}?multiplayer_test_id={test}");
        client.read(&path).await["pagination"]["total_count"].clone()
    };
    [count("runs").await, count("jobs").await]
}

#[tokio::test]
async fn a_deleted_test_disappears_from_lists_folders_versions_and_plans() {
    let client = Client::demo().await;
    let path = format!("/tests/{TEST_FAILS}");

    assert_eq!(client.read(&format!("{path}?version=2")).await["version"], 2);

    let items = client.read(&format!("/test-plans/{PLAN_SMOKE}")).await["test_items"].clone();

    assert!(items.as_array().unwrap().iter().any(|item| item["multiplayer_test_id"] == TEST_FAILS));
    assert_eq!(
        client.delete_with(&path, json!({"force_delete": true})).await,
        deletion_of(&json!(TEST_FAILS))
    );

    for read in [path.clone(), format!("{path}?version=2")] {
        assert_eq!(client.get(&read).await, error(404, "test not found"));
    }

    for list in ["/tests", "/tests?folder_path=Menus"] {
        assert!(!ids(&client.read(list).await, "id").contains(&json!(TEST_FAILS)), "{list}");
    }

    let plan = client.read(&format!("/test-plans/{PLAN_SMOKE}")).await;
    let items = items.as_array().unwrap().iter();
    let remaining: Vec<_> = items.filter(|item| item["multiplayer_test_id"] != TEST_FAILS).collect();

    assert_eq!(plan["test_items"], json!(remaining));

    let start = json!({"multiplayer_test_id": TEST_FAILS, "deployment_config_id": CONFIG_PHONES});

    assert_eq!(client.post("/runs", start).await, error(404, "multiplayer test not found"));
    assert_eq!(client.delete(&path).await, error(404, "test not found"));
}

#[tokio::test]
async fn a_test_without_runs_is_deleted_without_options() {
    let client = Client::demo().await;
    let id = new_test(&client).await;
    let deleted = client.delete(&format!("/tests/{}", id.to_ascii_uppercase())).await;

    assert_eq!(deleted, deletion_of(&json!(id)));

    let body = json!({"test": {"name": "Same id", "id": id}});

    assert_eq!(client.post("/tests", body).await.body["version"], 0);
    assert_eq!(client.get(&format!("/tests/{id}?version=1")).await.status, 404);
}

#[tokio::test]
async fn a_forced_deletion_keeps_the_runs() {
    let client = Client::demo().await;
    let run = client.read(&format!("/runs/{RUN_FAILED}")).await;
    let before = runs_and_jobs(&client, TEST_FAILS).await;
    client.delete_with(&format!("/tests/{TEST_FAILS}"), json!({"force_delete": true})).await;
    assert_eq!(runs_and_jobs(&client, TEST_FAILS).await, before);
    assert_eq!(client.read(&format!("/runs/{RUN_FAILED}")).await, run);
}

#[tokio::test]
async fn associated_jobs_are_deleted_with_their_runs_everywhere() {
    for more in [json!({}), json!({"force_delete": true}), json!({"force_delete": false})] {
        let client = Client::demo().await;
        let execution = format!("/test-plan-executions/{EXECUTION_COMPLETED}");
        let before = client.read(&execution).await["total_tests"].as_u64().unwrap();
        let others = runs_and_jobs(&client, TEST_BLOCKED).await;
        let mut body = json!({"delete_associated_jobs": true});

        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let deleted = client.delete_with(&format!("/tests/{TEST_FAILS}"), body).await;

        assert_eq!(deleted, deletion_of(&json!(TEST_FAILS)));
        assert_eq!(runs_and_jobs(&client, TEST_FAILS).await, [0, 0]);
        assert_eq!(client.get(&format!("/runs/{RUN_FAILED}")).await.status, 404);
        assert_eq!(client.get(&format!("/runs/{RUN_FAILED}/bugs")).await.status, 404);
        assert_eq!(client.get(&format!("/jobs/{JOB_FAILED}")).await.status, 404);
        assert_eq!(client.read(&execution).await["total_tests"], before - 1);
        assert_eq!(runs_and_jobs(&client, TEST_BLOCKED).await, others);
    }
}

#[tokio::test]
async fn an_unreadable_body_deletes_nothing_more() {
    let client = Client::demo().await;
    let path = format!("/tests/{TEST_FAILS}");

    for body in ["{", "[]", "null", r#"{"force_delete": "true"}"#, r#"{"delete_associated_jobs": 1}"#] {
        let answer = client.send(reqwest::Method::DELETE, &path, Some(body.to_owned())).await.unwrap();
        assert_eq!(answer.status(), 400, "{body}");
    }

    assert_eq!(client.delete(&format!("{path}?force_delete=true")).await.status, 409, "a query is no body");
    assert_eq!(client.read(&path).await["id"], TEST_FAILS);
}

#[tokio::test]
async fn a_deleted_plan_disappears_and_its_executions_stay() {
    let client = Client::demo().await;
    let path = format!("/test-plans/{PLAN_SMOKE}");
    let executions = client.read("/test-plan-executions").await;

    assert_eq!(client.delete(&path).await, deletion_of(&json!(PLAN_SMOKE)));
    assert_eq!(client.get(&path).await, error(404, "test plan not found"));
    assert!(!ids(&client.read("/test-plans").await, "id").contains(&json!(PLAN_SMOKE)));

    let start = json!({"test_plan_id": PLAN_SMOKE, "deployment_config_id": CONFIG_PHONES});

    assert_eq!(client.post("/runs", start).await, error(404, "test plan not found"));
    assert_eq!(client.read("/test-plan-executions").await, executions);
    assert_eq!(client.read(&format!("/tests/{TEST_FAILS}")).await["id"], TEST_FAILS);
    assert_eq!(client.delete(&path).await, error(404, "test plan not found"));
}

#[tokio::test]
async fn a_test_of_another_project_is_not_deleted() {
    let client = Client::demo().await.key(keys::ARENA);
    assert_eq!(client.delete(&format!("/tests/{TEST_FAILS}")).await.status, 404);
}
