//! Creating and changing tests, and the effect on their runs (service.md 6.3, 6.4, 8).

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{
    CONFIG_WINDOWS, FOLDER_MENUS, STEPS_START_LEVEL, TEST_DISCOVERY, TEST_FAILS, TEST_PASSES,
};

use super::client::{Client, error};

const NOWHERE: &str = "00000000-0000-4000-8000-000000000000";

/// A verification test with one step.
fn one_step(goal: &str) -> Value {
    json!({
        "name": "Walk", "test_type": "verification", "player_order": ["1"],
        "players_by_key": {"1": {"item_order": ["1"], "items_by_key": {
            "1": {"type": "step", "goal": goal, "expected_results": [{"expected": "There"}]},
        }}},
    })
}

/// Starts a test and returns the steps of the first player of its run.
async fn steps_when_run(client: &Client, test: &str) -> (Value, Vec<Value>) {
    let body = json!({"multiplayer_test_id": test, "deployment_config_id": CONFIG_WINDOWS});
    let started = client.post("/runs", body).await;

    assert_eq!(started.status, 201, "{}", started.body);

    client.sandbox.advance(600.0);
    let run = client.last_run(&started).await;
    let steps = run["players"][0]["steps"].as_array().unwrap();

    (run["result"].clone(), steps.iter().map(|step| step["test"]["goal"].clone()).collect())
}

#[tokio::test]
async fn a_changed_collection_changes_the_tests_that_refer_to_it() {
    let client = Client::demo().await;
    let path = format!("/shared-steps/{STEPS_START_LEVEL}");
    let change = json!({
        "steps_by_key": {"2": {"goal": "Skip the intro"}}, "step_order": ["2", "1"],
    });

    client.patch(&path, json!({"expected_version": 4, "patch": change})).await;
    let (_, goals) = steps_when_run(&client, TEST_FAILS).await;

    assert_eq!(goals[..2], [json!("Skip the intro"), json!("Start level 1")]);
    assert_eq!(client.read(&format!("/tests/{TEST_FAILS}")).await["version"], 3);
}

#[tokio::test]
async fn a_new_collection_can_be_used_by_a_new_test() {
    let client = Client::demo().await;
    let steps = json!({"name": "Log in", "steps_by_key": {"1": {"goal": "Log in"}}, "step_order": ["1"]});
    let created = client.post("/shared-steps", json!({"shared_step": steps})).await;
    let id = &created.body["id"];

    assert_eq!((created.status, id, &created.body["version"]), (201, &json!("ssc_log_in"), &json!(0)));

    let mut test = one_step("Walk");
    test["players_by_key"]["1"]["items_by_key"]["2"] = json!({"type": "collection", "collection_id": id});
    test["players_by_key"]["1"]["item_order"] = json!(["2", "1"]);

    let test = client.post("/tests", json!({"test": test})).await;

    assert_eq!(test.body["players_by_key"]["1"]["items_by_key"]["2"]["step_order"], json!(["1"]));

    let (result, goals) = steps_when_run(&client, test.body["id"].as_str().unwrap()).await;

    assert_eq!((result, goals), (json!("SUCCESS"), vec![json!("Log in"), json!("Walk")]));
}

#[tokio::test]
async fn unknown_collections_are_refused_or_dropped() {
    let client = Client::demo().await;
    let mut test = one_step("Walk");
    test["players_by_key"]["1"]["items_by_key"]["2"] =
        json!({"type": "collection", "collection_id": "ssc_none"});
    test["players_by_key"]["1"]["item_order"] = json!(["2", "1"]);

    let refused = error(400, "unknown shared step: ssc_none");

    assert_eq!(client.post("/tests", json!({"test": test})).await, refused);

    let in_body = json!({"test": test, "shared_collection_steps_mode": "drop"});

    assert_eq!(client.post("/tests", in_body).await, refused, "on create it is a parameter of the query");

    let dropped = client.post("/tests?shared_collection_steps_mode=drop", json!({"test": test})).await;

    assert_eq!(dropped.body["players_by_key"]["1"]["item_order"], json!(["1"]));

    let path = format!("/tests/{}", dropped.body["id"].as_str().unwrap());
    let change = json!({"players_by_key": test["players_by_key"]});
    let mut body = json!({"expected_version": 0, "patch": change});

    assert_eq!(client.patch(&path, body.clone()).await, refused);

    body["shared_collection_steps_mode"] = json!("drop");

    assert_eq!(client.patch(&path, body).await.body["version"], 1);
}

#[tokio::test]
async fn a_test_is_created_in_a_folder_and_can_be_moved() {
    let client = Client::demo().await;
    let body = json!({"test": one_step("Walk"), "folder_path": "Levels/World 1"});
    let created = client.post("/tests", body).await;
    let id = created.body["id"].as_str().unwrap().to_owned();
    let path = format!("/tests/{id}");
    let place = async |client: &Client| {
        let tests = client.read("/tests?page_size=100").await;
        let row = tests["data"].as_array().unwrap().iter().find(|row| row["id"] == *id).unwrap().clone();
        row["folder_path"].as_str().unwrap().to_owned()
    };

    assert_eq!(place(&client).await, "Levels/World 1");
    for (version, folder, expected) in [
        (0, json!({"folder_id": FOLDER_MENUS}), "Menus"),
        (1, json!({}), "Menus"),
        (2, json!({"folder_path": null}), "/"),
        (3, json!({"folder_path": "Online"}), "Online"),
    ] {
        let mut body = folder;
        body["expected_version"] = json!(version);
        body["patch"] = json!({});
        assert_eq!(client.patch(&path, body).await.status, 200);
        assert_eq!(place(&client).await, expected);
    }

    for folder in [json!({"folder_path": "None"}), json!({"folder_id": NOWHERE})] {
        let mut body = folder;
        body["test"] = one_step("Walk");
        assert_eq!(client.post("/tests", body).await.status, 400);
    }
}

#[tokio::test]
async fn time_budgets_follow_the_kind_of_test() {
    let client = Client::demo().await;
    let create = async |test: Value| client.post("/tests", json!({"test": test})).await;
    let created = create(json!({"name": "A", "test_type": "discovery", "max_seconds": 4_000})).await.body;

    assert_eq!((&created["min_seconds"], &created["max_seconds"]), (&json!(3_600), &json!(4_000)));
    for test in [
        json!({"name": "A", "test_type": "verification", "min_seconds": 1}),
        json!({"name": "A", "test_type": "discovery", "max_seconds": 3_599}),
        json!({"name": "A", "test_type": "task", "max_seconds": 19_801}),
        json!({"name": "A", "test_type": "task", "min_seconds": 2, "max_seconds": 1}),
    ] {
        assert_eq!(create(test.clone()).await.status, 400, "{test}");
    }

    let nameless = create(json!({"test_type": "task"})).await;

    assert_eq!(nameless, error(400, "invalid request: test.name: Required"));

    let path = format!("/tests/{TEST_DISCOVERY}");
    let body = json!({"expected_version": 3, "patch": {"test_type": "verification"}});
    let changed = client.patch(&path, body).await.body;

    assert_eq!((&changed["min_seconds"], &changed["max_seconds"]), (&json!(null), &json!(19_800)));
}

#[tokio::test]
async fn new_jobs_run_the_changed_test_and_earlier_jobs_the_old_version() {
    let client = Client::demo().await;
    let path = format!("/tests/{TEST_PASSES}");
    let body = json!({"multiplayer_test_id": TEST_PASSES, "deployment_config_id": CONFIG_WINDOWS});
    let earlier = client.post("/runs", body).await;
    let before = client.read(&path).await;
    let change = json!({"tags": ["short"], "players_by_key": {"1": {"item_order": ["3"]}}});
    let after = client.patch(&path, json!({"expected_version": 3, "patch": change})).await.body;

    assert_eq!((&after["version"], &after["tags"]), (&json!(4), &json!(["short"])));
    assert_eq!(after["players_by_key"]["1"]["items_by_key"], before["players_by_key"]["1"]["items_by_key"]);
    assert_eq!(
        steps_when_run(&client, TEST_PASSES).await,
        (json!("SUCCESS"), vec![json!("Reach the beacon")])
    );

    let earlier = client.last_run(&earlier).await;

    assert_eq!(earlier["players"][0]["steps"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn a_test_without_players_still_runs() {
    let client = Client::demo().await;
    let created = client.post("/tests", json!({"test": {"name": "Look around", "test_type": "task"}})).await;
    let (result, goals) = steps_when_run(&client, created.body["id"].as_str().unwrap()).await;
    assert_eq!((result, goals), (json!("SUCCESS"), vec![json!("Look around")]));
}
