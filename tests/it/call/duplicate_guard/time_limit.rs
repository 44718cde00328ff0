//! Looking and writing share the time of one call.

use std::time::Duration;

use serde_json::json;
use tas_mcp::{
    clock::Clock as _,
    sandbox::{keys, seed},
};

use super::{lost_before, open_with, start, text};

/// A limit for one request that is as long as that of the whole call.
const PATIENT: (&str, &str) = ("TAS_TIMEOUT_S", "45");

/// The clock jumps over what is waited for.
#[tokio::test(start_paused = true)]
async fn a_look_leaves_time_for_the_write_or_nothing_is_sent() {
    let mut scene = open_with(keys::DEMO, &[PATIENT]).await;
    scene.lose("start_run", &start(), lost_before()).await;

    let writes = scene.service.writes().await.len();
    scene.service.fault(json!({"operation": "list_jobs", "delay_ms": 40_000})).await;

    let error = scene.host.fail("start_run", start()).await;

    assert_eq!(
        (&error["code"], &error["details"]["looking_failed"]),
        (&json!("outcome_unknown"), &json!("timeout")),
        "{error}"
    );
    assert!(text(&error["message"]).contains("not sent"), "{error}");
    assert_eq!(scene.service.writes().await.len(), writes);
}

/// The owner of the run was searched for so long that no time is left to export it.
#[tokio::test(start_paused = true)]
async fn a_write_is_not_begun_when_its_time_is_nearly_over() {
    let mut scene = open_with(keys::ORGANIZATION, &[PATIENT, ("TAS_PROJECTS", "demo,arena")]).await;
    scene.service.fault(json!({"operation": "get_run", "delay_ms": 40_000, "times": 2})).await;

    let arguments = json!({"multiplayer_run_id": seed::RUN_PASSED});
    let error = scene.host.fail("export_tmsys_run", arguments.clone()).await;

    assert_eq!(error["code"], "timeout", "{error}");
    assert!(text(&error["message"]).contains("not sent"), "{error}");
    assert_eq!(scene.service.writes().await, Vec::<String>::new());

    scene.host.succeed("export_tmsys_run", arguments).await;
}

/// The call takes 40 seconds of the 10 minutes and 30 seconds until it is repeated.
#[tokio::test(start_paused = true)]
async fn the_time_to_repeat_begins_when_the_caller_is_left_in_doubt() {
    let mut scene = open_with(keys::DEMO, &[]).await;
    let before = scene.count("list_jobs").await;
    scene.service.fault(json!({"operation": "start_run", "delay_ms": 90_000, "after": true})).await;

    let slow = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        scene.clock.sleep(Duration::from_secs(40)).await;
    };
    let (error, ()) = tokio::join!(scene.host.fail("start_run", start()), slow);

    assert_eq!(error["code"], "outcome_unknown", "{error}");

    scene.pass(590).await;
    scene.service.release().await;

    assert_eq!(scene.host.fail("start_run", start()).await["code"], "conflict");
    assert_eq!(scene.count("list_jobs").await, before + 1);
}
