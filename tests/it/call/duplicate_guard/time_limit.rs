//! The look-up and the write share the time limit of one call.

use std::time::Duration;

use serde_json::json;
use tas_mcp::{
    clock::Clock as _,
    sandbox::{keys, seed},
};

use super::{fixture, reset_before_write, start_arguments, text};

/// A time limit for one request that is as long as the limit of the whole call.
const LONG_TIMEOUT: (&str, &str) = ("TAS_TIMEOUT_S", "45");

/// The paused clock of Tokio skips the delay of the sandbox.
#[tokio::test(start_paused = true)]
async fn no_write_is_sent_after_a_look_up_that_leaves_too_little_time() {
    let mut session = fixture().variables(&[LONG_TIMEOUT]).open().await;
    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;

    let writes = session.service.writes().await.len();
    session.service.fault(json!({"operation": "list_jobs", "delay_ms": 40_000})).await;

    let error = session.host.fail("start_run", start_arguments()).await;

    assert_eq!(
        (&error["code"], &error["details"]["looking_failed"]),
        (&json!("outcome_unknown"), &json!("timeout")),
        "{error}"
    );
    assert!(text(&error["message"]).contains("not sent"), "{error}");
    assert_eq!(session.service.writes().await.len(), writes);
}

/// The look-up of the owner takes so long that no time is left for the export.
#[tokio::test(start_paused = true)]
async fn no_write_is_sent_shortly_before_the_time_limit() {
    let mut session = fixture()
        .key(keys::ORGANIZATION)
        .variables(&[LONG_TIMEOUT, ("TAS_PROJECTS", "demo,arena")])
        .open()
        .await;
    session.service.fault(json!({"operation": "get_run", "delay_ms": 40_000, "times": 2})).await;

    let arguments = json!({"multiplayer_run_id": seed::RUN_PASSED});
    let error = session.host.fail("export_tmsys_run", arguments.clone()).await;

    assert_eq!(error["code"], "timeout", "{error}");
    assert!(text(&error["message"]).contains("not sent"), "{error}");
    assert_eq!(session.service.writes().await, Vec::<String>::new());

    session.host.succeed("export_tmsys_run", arguments).await;
}

/// 40 seconds pass during the call and 590 seconds after it: more than 10 minutes since the start of the call, and less
/// since its end.
#[tokio::test(start_paused = true)]
async fn the_time_to_repeat_begins_with_the_answer_of_unknown_outcome() {
    let mut session = fixture().open().await;
    let before = session.count_records("list_jobs").await;
    session.service.fault(json!({"operation": "start_run", "delay_ms": 90_000, "after": true})).await;

    let pass_40_seconds = async {
        // The request has been sent by then, and the sandbox delays its answer.
        tokio::time::sleep(Duration::from_secs(1)).await;
        session.clock.sleep(Duration::from_secs(40)).await;
    };
    let (error, ()) = tokio::join!(session.host.fail("start_run", start_arguments()), pass_40_seconds);

    assert_eq!(error["code"], "outcome_unknown", "{error}");

    session.advance(590).await;
    session.service.release().await;

    assert_eq!(session.host.fail("start_run", start_arguments()).await["code"], "conflict");
    assert_eq!(session.count_records("list_jobs").await, before + 1);
}
