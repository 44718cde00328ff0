//! Nobody can see whether the first call has happened.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::{lost_after, lost_before, open, start, text};

/// A fault that outlasts the retries.
fn down(list: &str) -> Value {
    json!({"operation": list, "status": 503, "headers": {"retry-after": "0"}, "times": 10})
}

#[tokio::test]
async fn a_look_that_fails_leaves_the_outcome_unknown_and_sends_nothing() {
    let mut scene = open().await;
    scene.lose("start_run", &start(), lost_after()).await;

    let writes = scene.service.writes().await.len();
    scene.service.fault(down("list_jobs")).await;

    let error = scene.host.fail("start_run", start()).await;

    assert_eq!(
        (&error["code"], &error["details"]["looking_failed"]),
        (&json!("outcome_unknown"), &json!("service_unavailable")),
        "{error}"
    );
    assert!(text(&error["message"]).contains("looking with `list_jobs` failed"), "{error}");
    assert!(text(&error["hint"]).starts_with("look with `list_jobs`"), "{error}");
    assert_eq!(scene.service.writes().await.len(), writes);

    scene.service.heal().await;

    assert_eq!(scene.host.fail("start_run", start()).await["code"], "conflict", "it is still remembered");
}

/// A look that can never succeed would hold the call back for good.
#[tokio::test]
async fn a_look_that_is_refused_is_told_once() {
    let mut scene = open().await;
    let before = scene.count("list_jobs").await;
    scene.lose("start_run", &start(), lost_before()).await;

    let refusal = json!({"error": "API key missing required permission: project:read-runs"});
    scene.service.fault(json!({"operation": "list_jobs", "status": 403, "body": refusal})).await;

    let error = scene.host.fail("start_run", start()).await;

    assert_eq!(
        (&error["code"], &error["details"]["looking_failed"]),
        (&json!("outcome_unknown"), &json!("permission_denied")),
        "{error}"
    );
    assert!(text(&error["hint"]).ends_with("call once more"), "{error}");

    scene.host.succeed("start_run", start()).await;

    assert_eq!(scene.count("list_jobs").await, before + 1);
}

/// Nothing in the service shows the exports of runs: a person decides.
#[tokio::test]
async fn an_export_of_runs_is_held_back_once() {
    let mut scene = open().await;
    let arguments = json!({"multiplayer_run_id": seed::RUN_PASSED});
    scene.lose("export_tmsys_run", &arguments, lost_after()).await;

    let requests = scene.service.requests().await.len();
    let error = scene.host.fail("export_tmsys_run", arguments.clone()).await;

    assert_eq!(error["code"], "outcome_unknown", "{error}");
    assert!(text(&error["message"]).ends_with("nothing in the service shows an export of runs"), "{error}");
    assert!(text(&error["hint"]).starts_with("ask the person"), "{error}");
    assert_eq!(scene.service.requests().await.len(), requests);

    scene.host.succeed("export_tmsys_run", arguments).await;
}

#[tokio::test]
async fn an_export_under_way_is_waited_for() {
    let mut scene = open().await;
    let arguments = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED});
    scene.lose("export_tmsys_run", &arguments, lost_before()).await;
    scene.service.export_in_progress(seed::EXECUTION_COMPLETED).await;

    for _ in 0..2 {
        let error = scene.host.fail("export_tmsys_run", arguments.clone()).await;
        assert_eq!(
            (&error["code"], &error["details"]["looking_failed"]),
            (&json!("outcome_unknown"), &json!("conflict")),
            "{error}"
        );
    }
}

/// Reserved space is no build that a list has to show.
#[tokio::test]
async fn an_upload_that_is_not_listed_is_begun_again() {
    let mut scene = open().await;
    let build = json!({"name": "Game", "file_name": "game.apk", "file_size": 10, "platform": "android"});
    scene.lose("initiate_build_upload", &build, lost_after()).await;
    scene.host.succeed("initiate_build_upload", build).await;

    let requests = scene.service.requests().await;
    let looks = requests.iter().filter(|line| line.contains("/builds?") && line.contains("platform=android"));

    assert_eq!(looks.count(), 1, "{requests:?}");
}
