//! Repeated calls where the look-up cannot show whether the first call was performed.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::{fixture, reset_after_write, reset_before_write, start_arguments, text};

/// A fault that outlasts the retries.
fn unavailable(list: &str) -> Value {
    json!({"operation": list, "status": 503, "headers": {"retry-after": "0"}, "times": 10})
}

#[tokio::test]
async fn a_failed_look_up_leaves_the_outcome_unknown_and_sends_nothing() {
    let mut session = fixture().open().await;
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;

    let writes = session.service.writes().await.len();
    session.service.fault(unavailable("list_jobs")).await;

    let error = session.host.fail("start_run", start_arguments()).await;

    assert_eq!(
        (&error["code"], &error["details"]["looking_failed"]),
        (&json!("outcome_unknown"), &json!("service_unavailable")),
        "{error}"
    );
    assert!(text(&error["message"]).contains("the check with `list_jobs` failed"), "{error}");
    assert!(text(&error["hint"]).starts_with("check with `list_jobs`"), "{error}");
    assert_eq!(session.service.writes().await.len(), writes);

    session.service.heal().await;

    assert_eq!(
        session.host.fail("start_run", start_arguments()).await["code"],
        "conflict",
        "the first call is still remembered"
    );
}

/// A look-up that can never succeed would hold back the call forever.
#[tokio::test]
async fn a_refused_look_up_holds_back_the_call_once() {
    let mut session = fixture().open().await;
    let before = session.count_records("list_jobs").await;
    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;

    let refusal = json!({"error": "API key missing required permission: project:read-runs"});
    session.service.fault(json!({"operation": "list_jobs", "status": 403, "body": refusal})).await;

    let error = session.host.fail("start_run", start_arguments()).await;

    assert_eq!(
        (&error["code"], &error["details"]["looking_failed"]),
        (&json!("outcome_unknown"), &json!("permission_denied")),
        "{error}"
    );
    assert!(text(&error["hint"]).ends_with("to repeat the call anyway, call again"), "{error}");

    session.host.succeed("start_run", start_arguments()).await;

    assert_eq!(session.count_records("list_jobs").await, before + 1);
}

/// No list of the service shows exports of runs, so that a person has to decide.
#[tokio::test]
async fn an_export_of_runs_is_held_back_once() {
    let mut session = fixture().open().await;
    let arguments = json!({"multiplayer_run_id": seed::RUN_PASSED});
    session.lose_answer("export_tmsys_run", &arguments, reset_after_write()).await;

    let requests = session.service.requests().await.len();
    let error = session.host.fail("export_tmsys_run", arguments.clone()).await;

    assert_eq!(error["code"], "outcome_unknown", "{error}");
    assert!(
        text(&error["message"]).ends_with("no operation of the service shows an export of runs"),
        "{error}"
    );
    assert!(text(&error["hint"]).starts_with("look in the test-management system"), "{error}");
    assert_eq!(session.service.requests().await.len(), requests);

    session.host.succeed("export_tmsys_run", arguments).await;
}

#[tokio::test]
async fn an_export_in_progress_leaves_the_outcome_unknown() {
    let mut session = fixture().open().await;
    let arguments = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED});
    session.lose_answer("export_tmsys_run", &arguments, reset_before_write()).await;
    session.service.export_in_progress(seed::EXECUTION_COMPLETED).await;

    // Unlike a refused look-up, a conflict is temporary: every repetition looks again.
    for _ in 0..2 {
        let error = session.host.fail("export_tmsys_run", arguments.clone()).await;
        assert_eq!(
            (&error["code"], &error["details"]["looking_failed"]),
            (&json!("outcome_unknown"), &json!("conflict")),
            "{error}"
        );
    }
}

/// The service may list a build only after its upload is complete.
#[tokio::test]
async fn an_upload_that_no_list_shows_is_sent_again() {
    let mut session = fixture().open().await;
    let build = json!({"name": "Game", "file_name": "game.apk", "file_size": 10, "platform": "android"});
    session.lose_answer("initiate_build_upload", &build, reset_after_write()).await;
    session.host.succeed("initiate_build_upload", build).await;

    let requests = session.service.requests().await;
    let look_ups =
        requests.iter().filter(|line| line.contains("/builds?") && line.contains("platform=android"));

    assert_eq!(look_ups.count(), 1, "{requests:?}");
}
