//! Live runs: screenshots are images of the reply, never Base64 in its JSON.

use serde_json::{Value, json};
use tas_mcp::sandbox::{
    keys,
    seed::{ARENA_RUN_RUNNING, RUN_PASSED, RUN_RUNNING},
};

use crate::support::{
    fixture::{Fixture, Session},
    host::{Host, reply_of},
};

mod files;
mod hostile;
mod pictures;

/// Calls `get_live_run`. Returns the structure of the reply, and its images as media type and Base64.
async fn get_live_run(host: &mut Host, arguments: Value) -> (Value, Vec<(Value, String)>) {
    let result = host.call("get_live_run", arguments).await;

    assert_ne!(result["isError"], true, "{result}");

    let (text, blocks) = (reply_of(&result), result["content"].as_array().expect("blocks"));
    let images = blocks.iter().skip(1).map(|block| {
        assert_eq!(block["type"], "image");
        (block["mimeType"].clone(), block["data"].as_str().expect("Base64").to_owned())
    });

    (text, images.collect())
}

/// The `screenshot` of each player and the images of a reply, where each player has one of these screenshots.
async fn reply_with_screenshots(screenshots: &[Value]) -> (Vec<Value>, Vec<(Value, String)>) {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    service.fault(json!({"operation": "get_live_run", "body": live_run(screenshots)})).await;
    let (run, images) = get_live_run(&mut host, json!({"run_id": "x"})).await;
    let players = run["players"].as_array().expect("players").iter();
    (players.map(|player| player["screenshot"].clone()).collect(), images)
}

/// An answer of the service with one player per screenshot.
fn live_run(screenshots: &[Value]) -> Value {
    let player =
        |(number, screenshot): (usize, &Value)| json!({"player_number": number, "screenshot": screenshot});
    let players: Vec<_> = screenshots.iter().enumerate().map(player).collect();
    json!({"multiplayer_run_id": "x", "state": "running", "players": players})
}

#[tokio::test]
async fn a_screenshot_is_an_image_and_the_json_holds_its_number() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    let (run, images) = get_live_run(&mut host, json!({"run_id": RUN_RUNNING})).await;
    let described = json!({"image": 1, "mimeType": "image/png", "width": 720, "height": 1280});

    assert_eq!(run["players"][0]["screenshot"], described);
    assert_eq!(run["players"][0]["current_step"], 2);
    assert_eq!(images.len(), 1);
    assert_eq!(pictures::size(&images[0]), (720, 1280));
}

#[tokio::test]
async fn without_screenshots_there_is_no_image() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    for arguments in
        [json!({"run_id": RUN_RUNNING, "include_screenshot": false}), json!({"run_id": RUN_PASSED})]
    {
        let (run, images) = get_live_run(&mut host, arguments).await;
        assert_eq!((&run["players"][0]["screenshot"], images.len()), (&json!(null), 0));
    }
}

#[tokio::test]
async fn the_run_decides_the_project_and_a_wide_screenshot_is_resized() {
    let projects = ("TAS_PROJECTS", "demo,arena");
    let Session { service: _service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).all_tools().variables(&[projects]).open().await;
    let (run, images) = get_live_run(&mut host, json!({"run_id": ARENA_RUN_RUNNING})).await;
    let described = json!({
        "image": 1, "mimeType": "image/png", "width": 1568, "height": 882,
        "original_width": 1920, "original_height": 1080,
    });

    assert_eq!(run["players"][0]["screenshot"], described);
    assert_eq!(pictures::size(&images[0]), (1568, 882));

    let error = host.fail("get_live_run", json!({"run_id": ARENA_RUN_RUNNING, "project_id": "demo"})).await;

    assert_eq!(error["code"], "project_scope_mismatch");
}

#[tokio::test]
async fn an_unknown_run_is_not_found() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    assert_eq!(host.fail("get_live_run", json!({"run_id": "nowhere"})).await["code"], "not_found");
}
