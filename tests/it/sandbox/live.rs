//! The live state of runs (service.md 1.8, 2.5).

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{
    ARENA_RUN_RUNNING, CONFIG_WINDOWS, JOB_RUNNING, RUN_RUNNING, TEST_FLAKY, TEST_TWO_PLAYERS,
};

use super::client::{Client, error};

async fn live(client: &Client, run: &str) -> Value {
    client.read(&format!("/runs/{run}/live")).await
}

/// Returns width and height of a player's screenshot.
fn size(player: &Value) -> (u32, u32) {
    let screenshot = &player["screenshot"];
    assert_eq!((&screenshot["mimeType"], &screenshot["encoding"]), (&json!("image/png"), &json!("base64")));
    let file = BASE64_STANDARD.decode(screenshot["data"].as_str().unwrap()).unwrap();
    let picture = image::load_from_memory_with_format(&file, image::ImageFormat::Png).unwrap();
    (picture.width(), picture.height())
}

#[tokio::test]
async fn a_running_run_shows_its_players_from_0() {
    let client = Client::demo().await;
    let run = live(&client, RUN_RUNNING).await;

    assert_eq!((&run["multiplayer_run_id"], &run["state"]), (&json!(RUN_RUNNING), &json!("RUNNING")));
    assert_eq!(run["test"], json!({"id": TEST_FLAKY, "name": "Beat the Cinder Golem"}));

    let [player] = run["players"].as_array().unwrap().as_slice() else { panic!("{run}") };
    let id = format!("{RUN_RUNNING}-1");

    assert_eq!(player["player_number"], 0);
    assert_eq!((&player["composite_run_id"], &player["current_run_id"]), (&json!(id), &json!(id)));
    assert_eq!(player["current_step"], 2);
    assert_eq!(size(player), (720, 1_280));
}

#[tokio::test]
async fn the_live_state_follows_the_clock() {
    let client = Client::demo().await;
    client.sandbox.advance(600.0);

    assert_eq!(live(&client, RUN_RUNNING).await["state"], "COMPLETED");

    let retried = client.read(&format!("/jobs/{JOB_RUNNING}")).await["runs"][1]["multiplayer_run_id"].clone();

    assert_eq!(live(&client, retried.as_str().unwrap()).await["state"], "COMPLETED");
}

#[tokio::test]
async fn each_player_has_its_own_step_and_a_run_that_has_not_started_has_none() {
    let client = Client::demo().await;
    let body = json!({"multiplayer_test_id": TEST_TWO_PLAYERS, "deployment_config_id": CONFIG_WINDOWS});
    let started = client.post("/runs", body).await;

    client.sandbox.advance(11.0);
    let run = client.last_run(&started).await["multiplayer_run_id"].as_str().unwrap().to_owned();
    let state = live(&client, &run).await;

    assert_eq!(state["state"], "INITIALIZING");

    let nothing = json!([null, null]);
    let fields = |player: &Value| json!([player["current_step"], player["screenshot"]]);

    assert!(state["players"].as_array().unwrap().iter().all(|player| fields(player) == nothing), "{state}");

    // The first player takes 26 s for the first step, the second one 34 s.
    client.sandbox.advance(34.0);
    let state = live(&client, &run).await;
    let steps: Vec<_> =
        state["players"].as_array().unwrap().iter().map(|player| &player["current_step"]).collect();

    assert_eq!(steps, [&json!(2), &json!(1)]);

    let numbers = [0, 1].map(|index: usize| {
        let player = &state["players"][index];
        (player["player_number"].clone(), player["composite_run_id"].clone())
    });

    assert_eq!(numbers, [(json!(0), json!(format!("{run}-1"))), (json!(1), json!(format!("{run}-2")))]);
}

#[tokio::test]
async fn an_unknown_run_is_not_found() {
    let client = Client::demo().await;
    for run in ["nowhere", ARENA_RUN_RUNNING, &format!("{RUN_RUNNING}-1")] {
        assert_eq!(client.get(&format!("/runs/{run}/live")).await, error(404, "run not found"), "{run}");
    }
}
