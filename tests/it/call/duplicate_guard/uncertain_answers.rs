//! Answers of the service that do not show whether it has performed the call.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::{Session, creating_calls, fixture, start_arguments, text};

/// Answers that leave the outcome of a write unknown, with the error codes of the calls.
fn uncertain_answers() -> Vec<(Value, &'static str)> {
    let status = |status: u16| (json!({"status": status}), "service_unavailable");
    vec![
        status(500),
        status(502),
        status(503),
        status(504),
        (json!({"truncate": true}), "outcome_unknown"),
        (json!({"body": "<html>Gateway</html>"}), "bad_response"),
        (json!({"body": {"unheard": "of"}}), "bad_response"),
    ]
}

impl Session {
    /// Calls a tool whose operation is answered like this.
    async fn call_with_answer(&mut self, tool: &str, arguments: &Value, mut answer: Value) -> Value {
        answer["operation"] = json!(tool);
        self.service.fault(answer).await;
        self.host.fail(tool, arguments.clone()).await
    }
}

#[tokio::test]
async fn a_write_before_a_failed_answer_is_reported_and_not_repeated() {
    for (mut answer, code) in uncertain_answers() {
        // The service performs the call before its answer fails.
        answer["after"] = json!(true);
        let mut session = fixture().open().await;
        let before = session.count_records("list_jobs").await;
        let error = session.call_with_answer("start_run", &start_arguments(), answer.clone()).await;

        assert_eq!(error["code"], code, "{answer}: {error}");
        assert!(text(&error["hint"]).ends_with("check with `list_jobs` before another call"), "{error}");

        let error = session.host.fail("start_run", start_arguments()).await;

        assert_eq!(
            (&error["code"], &error["details"]["found_count"]),
            (&json!("conflict"), &json!(1)),
            "{answer}"
        );
        assert_eq!(session.count_records("list_jobs").await, before + 1, "{answer}");
    }
}

#[tokio::test]
async fn a_write_that_was_not_performed_is_sent_once() {
    for (answer, _) in uncertain_answers() {
        let mut session = fixture().open().await;
        let before = session.count_records("list_jobs").await;
        session.call_with_answer("start_run", &start_arguments(), answer.clone()).await;
        session.host.succeed("start_run", start_arguments()).await;
        assert_eq!(session.count_records("list_jobs").await, before + 1, "{answer}");
    }
}

#[tokio::test]
async fn a_gateway_timeout_leaves_the_outcome_of_every_call_unknown() {
    for case in creating_calls() {
        let mut session = fixture().open().await;
        let before = session.count_records(case.list).await;
        session.call_with_answer(case.tool, &case.arguments, json!({"status": 504, "after": true})).await;
        assert_eq!(session.host.fail(case.tool, case.arguments).await["code"], "conflict", "{}", case.tool);
        assert_eq!(session.count_records(case.list).await, before + 1, "{}", case.tool);
    }
}

/// The answer states the result for each device, so that no look-up is necessary.
#[tokio::test]
async fn a_failure_that_reports_each_device_is_a_known_outcome() {
    let mut session = fixture().open().await;
    let rows = json!({"device_runs": [{"device": "Pixel 8", "success": false, "error": "no such device"}]});
    session.call_with_answer("start_run", &start_arguments(), json!({"status": 500, "body": rows})).await;
    let requests = session.service.requests().await.len();
    session.host.succeed("start_run", start_arguments()).await;
    assert_eq!(session.service.requests().await.len(), requests + 1, "no list is read");
}

#[tokio::test]
async fn an_export_of_runs_with_a_failed_answer_is_held_back_once() {
    let mut session = fixture().open().await;
    let arguments = json!({"multiplayer_run_id": seed::RUN_PASSED});
    session.call_with_answer("export_tmsys_run", &arguments, json!({"status": 504, "after": true})).await;

    let writes = session.service.writes().await.len();

    assert_eq!(session.host.fail("export_tmsys_run", arguments.clone()).await["code"], "outcome_unknown");
    assert_eq!(session.service.writes().await.len(), writes);

    session.host.succeed("export_tmsys_run", arguments).await;
}
