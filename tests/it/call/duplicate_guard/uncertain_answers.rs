//! The service answers, and nobody knows all the same whether the call has happened.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::{Session, cases, open, start, text};

/// Answers that leave a change in doubt, and the codes that they end with.
fn answers() -> Vec<(Value, &'static str)> {
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
    /// Calls a tool, whose answer takes the place of the operation's own.
    async fn answered(&mut self, tool: &str, arguments: &Value, mut answer: Value) -> Value {
        answer["operation"] = json!(tool);
        self.service.fault(answer).await;
        self.host.fail(tool, arguments.clone()).await
    }
}

#[tokio::test]
async fn what_was_done_before_the_answer_failed_is_told_and_not_done_again() {
    for (mut answer, code) in answers() {
        answer["after"] = json!(true);
        let mut scene = open().await;
        let before = scene.count("list_jobs").await;
        let error = scene.answered("start_run", &start(), answer.clone()).await;

        assert_eq!(error["code"], code, "{answer}: {error}");
        assert!(text(&error["hint"]).ends_with("check with `list_jobs` before another call"), "{error}");

        let error = scene.host.fail("start_run", start()).await;

        assert_eq!(
            (&error["code"], &error["details"]["found_count"]),
            (&json!("conflict"), &json!(1)),
            "{answer}"
        );
        assert_eq!(scene.count("list_jobs").await, before + 1, "{answer}");
    }
}

#[tokio::test]
async fn what_was_not_done_is_done_once() {
    for (answer, _) in answers() {
        let mut scene = open().await;
        let before = scene.count("list_jobs").await;
        scene.answered("start_run", &start(), answer.clone()).await;
        scene.host.succeed("start_run", start()).await;
        assert_eq!(scene.count("list_jobs").await, before + 1, "{answer}");
    }
}

#[tokio::test]
async fn a_gateway_that_gives_up_leaves_every_kind_of_call_in_doubt() {
    for case in cases() {
        let mut scene = open().await;
        let before = scene.count(case.list).await;
        scene.answered(case.tool, &case.arguments, json!({"status": 504, "after": true})).await;
        assert_eq!(scene.host.fail(case.tool, case.arguments).await["code"], "conflict", "{}", case.tool);
        assert_eq!(scene.count(case.list).await, before + 1, "{}", case.tool);
    }
}

/// The answer says what became of each part: nothing is left to look for.
#[tokio::test]
async fn a_failure_that_reports_its_parts_leaves_no_doubt() {
    let mut scene = open().await;
    let rows = json!({"device_runs": [{"device": "Pixel 8", "success": false, "error": "no such device"}]});
    scene.answered("start_run", &start(), json!({"status": 500, "body": rows})).await;
    let requests = scene.service.requests().await.len();
    scene.host.succeed("start_run", start()).await;
    assert_eq!(scene.service.requests().await.len(), requests + 1, "nobody looks");
}

#[tokio::test]
async fn an_export_of_runs_whose_answer_failed_is_held_back_once() {
    let mut scene = open().await;
    let arguments = json!({"multiplayer_run_id": seed::RUN_PASSED});
    scene.answered("export_tmsys_run", &arguments, json!({"status": 504, "after": true})).await;

    let writes = scene.service.writes().await.len();

    assert_eq!(scene.host.fail("export_tmsys_run", arguments.clone()).await["code"], "outcome_unknown");
    assert_eq!(scene.service.writes().await.len(), writes);

    scene.host.succeed("export_tmsys_run", arguments).await;
}
