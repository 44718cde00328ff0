//! Complete records: tests, shared steps and builds (service.md 6.2, 8, 10.2).

use serde_json::{Value, json};
use tas_mcp::sandbox::{
    keys,
    seed::{
        BUILD_ANDROID, RUN_FAILED, RUN_PASSED, STEPS_START_LEVEL, TEST_DISCOVERY, TEST_FAILS, TEST_PASSES,
        TEST_TASK, TEST_THREE_PLAYERS,
    },
};

use super::client::{Client, error};

/// Returns the steps of the first player in order, including the steps of collections.
fn steps(test: &Value) -> Vec<&Value> {
    let player = &test["players_by_key"][test["player_order"][0].as_str().unwrap()];
    let mut found = Vec::new();

    for key in player["item_order"].as_array().unwrap() {
        let item = &player["items_by_key"][key.as_str().unwrap()];
        match item["step_order"].as_array() {
            None => found.push(item),
            Some(order) => {
                found.extend(order.iter().map(|key| &item["steps_by_key"][key.as_str().unwrap()]));
            }
        }
    }

    found
}

#[tokio::test]
async fn a_test_has_the_same_steps_as_its_runs() {
    let client = Client::demo().await;
    for (test, run) in [(TEST_PASSES, RUN_PASSED), (TEST_FAILS, RUN_FAILED)] {
        let test = client.read(&format!("/tests/{test}")).await;
        let run = client.read(&format!("/runs/{run}")).await;
        let ran: Vec<_> =
            run["players"][0]["steps"].as_array().unwrap().iter().map(|step| &step["test"]).collect();
        let written = steps(&test);

        assert_eq!(written.len(), ran.len());
        for (written, ran) in written.into_iter().zip(ran) {
            for field in ["test_step_id", "goal", "finish_condition"] {
                assert_eq!(written[field], ran[field], "{field}");
            }
        }

        assert_eq!((&test["test_type"], &test["name"]), (&run["test"]["type"], &run["test"]["name"]));
    }
}

#[tokio::test]
async fn a_test_has_every_field_of_the_contract() {
    let test = Client::demo().await.read(&format!("/tests/{TEST_PASSES}")).await;
    let own = [
        ("id", json!(TEST_PASSES)),
        ("project_id", json!("demo")),
        ("version", json!(3)),
        ("tags", json!(["smoke"])),
        ("incident_auto_approve", json!(false)),
        ("quarantined", json!(false)),
        ("source", json!("repository")),
        ("memory", json!(null)),
        ("player_order", json!(["1"])),
    ];

    for (field, value) in own {
        assert_eq!(test[field], value, "{field}");
    }

    assert_eq!(test["tmsys"]["cases"][1]["case_id"], 1042);

    let step = steps(&test)[0];

    assert_eq!(
        step["expected_results"],
        json!([{"expected": "The level starts"}, {"expected": "The lantern is lit"}])
    );
    assert_eq!(step["finish_condition"], "1. The level starts\n2. The lantern is lit");
}

#[tokio::test]
async fn default_time_budgets_follow_the_kind_of_test() {
    let client = Client::demo().await;
    for (test, least, most) in [
        (TEST_PASSES, json!(null), 19_800),
        (TEST_DISCOVERY, json!(3_600), 10_800),
        (TEST_TASK, json!(0), 19_800),
    ] {
        let test = client.read(&format!("/tests/{test}")).await;
        assert_eq!((&test["min_seconds"], &test["max_seconds"]), (&least, &json!(most)), "{}", test["name"]);
    }

    let players = client.read(&format!("/tests/{TEST_THREE_PLAYERS}")).await;

    assert_eq!(players["player_order"], json!(["1", "2", "3"]));
}

#[tokio::test]
async fn collections_include_their_steps_by_default() {
    let client = Client::demo().await;
    let path = format!("/tests/{TEST_FAILS}");
    let item = |test: &Value| test["players_by_key"]["1"]["items_by_key"]["1"].clone();
    let complete = item(&client.read(&path).await);
    let collection = client.read(&format!("/shared-steps/{STEPS_START_LEVEL}")).await;

    assert_eq!(
        (&complete["type"], &complete["collection_id"]),
        (&json!("collection"), &json!(STEPS_START_LEVEL))
    );
    assert_eq!(complete["steps_by_key"], collection["steps_by_key"]);
    assert_eq!(complete["step_order"], collection["step_order"]);

    let bare = item(&client.read(&format!("{path}?include_shared_collection_steps=false")).await);

    assert_eq!(bare, json!({"type": "collection", "collection_id": STEPS_START_LEVEL}));
}

#[tokio::test]
async fn earlier_versions_can_be_read() {
    let client = Client::demo().await;
    for (path, latest, missing) in [
        (format!("/tests/{TEST_PASSES}"), 3, "test not found"),
        (format!("/shared-steps/{STEPS_START_LEVEL}"), 4, "shared step not found"),
    ] {
        assert_eq!(client.read(&path).await["version"], latest);
        assert_eq!(client.read(&format!("{path}?version=1")).await["version"], 1);
        let later = format!("{path}?version={}", latest + 1);
        assert_eq!(client.get(&later).await, error(404, missing));
    }
}

#[tokio::test]
async fn a_shared_step_lists_its_steps_in_order() {
    let client = Client::demo().await;
    let list = client.read("/shared-steps").await;

    assert_eq!(list["data"][0]["steps_count"], 1);
    assert_eq!(list["data"][0].get("version"), None);

    let collection = client.read(&format!("/shared-steps/{STEPS_START_LEVEL}")).await;

    assert_eq!((&collection["is_shared"], &collection["step_order"]), (&json!(true), &json!(["1"])));
    assert_eq!(collection["steps_by_key"]["1"]["goal"], "Start level 1");
}

#[tokio::test]
async fn a_build_contains_its_origin_and_its_last_use() {
    let build = Client::demo().await.read(&format!("/builds/{BUILD_ANDROID}")).await;
    assert_eq!(build["details"]["ci"]["build_number"], "413");
    assert_eq!(build["details"]["vcs"]["commit"]["short_hash"], "9fceb02");
    // The execution in progress uses the build.
    assert_eq!(build["last_used"], "2026-03-02T09:14:57+00:00");
}

#[tokio::test]
async fn any_valid_key_reads_tests_folders_and_shared_steps() {
    let client = Client::demo().await.key(keys::POWERLESS);
    for path in ["/tests/unknown", "/shared-steps/unknown"] {
        assert_eq!(client.get(path).await.status, 404, "{path}");
    }

    for path in ["/test-folders", "/shared-steps"] {
        client.read(path).await;
    }

    for (path, permission) in [
        ("/agent-configs", "view-configs"),
        ("/credential-kinds", "view-configs"),
        ("/builds", "manage-build-storage"),
    ] {
        let lacking = format!("API key missing required permission: project:{permission}");
        assert_eq!(client.get(path).await, error(403, &lacking), "{path}");
    }
}
