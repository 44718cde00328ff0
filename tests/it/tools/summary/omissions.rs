//! Records that cannot be read: they are reported, and the rest is summarized.

use std::sync::Arc;

use serde_json::{Value, json};
use tas_mcp::{
    client::RETRY_POLICY,
    sandbox::seed::{EXECUTION_COMPLETED, RUN_FAILED},
};

use super::{
    TOOL, each, execution, fixture,
    history::{History, Test, uuid},
    whole_length,
};
use crate::support::{fixture::Session, stub::Stub};

/// Starts a service with these records. Requests for which `failure` returns a status fail with it.
async fn serve_with_failures(history: History, failure: fn(&str) -> Option<u16>) -> Stub {
    Stub::start(move |target| {
        let answer = match failure(&target) {
            Some(status) => (status, json!({"error": "out of \u{202e}order"})),
            None => history.answer(&target),
        };
        async move { answer }
    })
    .await
}

fn tests(count: usize) -> Vec<Test> {
    (0..count).map(|number| Test::new(number, &["FAILED"]).with_bug("bug_1", "high")).collect()
}

async fn summary(count: usize, failure: fn(&str) -> Option<u16>) -> Value {
    let stub = serve_with_failures(History::new(&tests(count)), failure).await;
    let mut session = fixture().open_with(stub).await;
    session.host.succeed(TOOL, execution(&uuid(0xe, 0))).await
}

#[tokio::test]
async fn the_verdict_remains_if_a_run_or_its_bugs_cannot_be_read() {
    for (operation, status, what) in
        [("get_run", 404, "run"), ("list_run_bugs", 403, "bugs of run"), ("get_run", 500, "run")]
    {
        let Session { service, mut host, .. } = fixture().open().await;
        let fault = json!({"operation": operation, "status": status, "times": RETRY_POLICY.attempts});
        service.fault(fault).await;

        let summary = host.succeed(TOOL, execution(EXECUTION_COMPLETED)).await;

        assert_eq!(summary["verdicts"], json!({"FAILED": 1, "SUCCESS": 3}));
        assert_eq!(summary["failures"][0]["run_ids"], json!([RUN_FAILED]));
        let read = summary["unread"][0]["what"].as_str().expect("a text");
        assert!(read.starts_with(&format!("{what} ")) && read.contains(RUN_FAILED), "{read}");

        let why = summary["unread"][0]["why"].as_str().expect("a text");

        assert!(why.starts_with(operation) && why.contains(&status.to_string()), "{why}");
    }
}

#[tokio::test]
async fn omissions_with_the_same_cause_become_one_entry() {
    let summary =
        summary(12, |target| (target.contains("/runs/") && !target.contains("/bugs")).then_some(500)).await;

    assert_eq!(each(&summary["unread"], "/what"), ["run r0000a00000, r0001a00000, r0002a00000 and 9 more"]);

    let why = summary["unread"][0]["why"].as_str().expect("a text");

    assert!(why.ends_with("out of order"), "{why}");
    assert_eq!(summary["failures"].as_array().map(Vec::len), Some(12));
    assert_eq!(summary["bugs"], json!({"high": 1}), "bugs are read without the run");
}

#[tokio::test]
async fn the_other_pages_are_used_if_one_page_is_missing() {
    let summary = summary(250, |target| target.contains("&page=1&").then_some(500)).await;
    assert_eq!((&summary["total"], &summary["finished"]), (&json!(250), &json!(150)));
    assert_eq!((&summary["all_passed"], &summary["verdicts"]), (&json!(false), &json!({"FAILED": 150})));
    assert_eq!(each(&summary["unread"], "/what"), ["jobs, page 1"]);
}

/// Changes the answer of a list.
type PageChange = fn(Value) -> Value;

/// Lists without a page count, and answers without a list.
#[tokio::test]
async fn lists_are_read_to_their_end_and_other_answers_are_rejected() {
    let changes: [(PageChange, usize, Value); 3] = [
        (|page| json!({"data": page["data"]}), 250, Value::Null),
        (|_| json!({"data": "none"}), 0, json!("list_jobs: the service's answer is not a list")),
        (
            |mut page| {
                page["pagination"]["total_pages"] = json!(21);
                page
            },
            250,
            json!("the list is too long to be read completely"),
        ),
    ];
    for (change, failures, why) in changes {
        let history = Arc::new(History::new(&tests(250)));
        let stub = Stub::start(move |target| {
            let (status, body) = history.answer(&target);
            let body = if target.contains("/jobs?") { change(body) } else { body };
            async move { (status, body) }
        })
        .await;

        let arguments = json!({"test_plan_execution_id": uuid(0xe, 0)});
        let mut session = fixture().open_with(stub).await;
        let summary = session.host.succeed(TOOL, arguments).await;

        let word = if failures == 0 { "failed or error" } else { "FAILED" };
        assert_eq!(summary["verdicts"], json!({word: 250}));

        assert_eq!(whole_length(&summary, "/failures"), failures, "{summary}");
        assert_eq!(summary["unread"][0]["why"], why, "{summary}");
    }
}

#[tokio::test]
async fn the_counts_of_the_execution_are_no_verdicts_if_the_list_is_missing() {
    let summary = summary(3, |target| target.contains("/jobs?").then_some(503)).await;
    assert_eq!((&summary["verdicts"], &summary["finished"]), (&json!({"failed or error": 3}), &json!(3)));
    assert_eq!(each(&summary["unread"], "/what"), [format!("tests of the execution {}", uuid(0xe, 0))]);
    for list in ["failures", "passed_after_retry", "bugs"] {
        assert_eq!(summary[list], Value::Null, "{list}: {summary}");
    }
}

#[tokio::test]
async fn an_incomplete_summary_says_so_first() {
    let incomplete = summary(2, |target| target.contains("/jobs?").then_some(503)).await;
    let complete = summary(2, |_| None).await;
    let first = |summary: &Value| summary.as_object().expect("an object").keys().next().cloned();

    assert_eq!(first(&incomplete).as_deref(), Some("incomplete"));
    assert_eq!(incomplete["incomplete"], true);
    assert!(
        incomplete["repeat"].as_str().is_some_and(|repeat| repeat.contains("repeat the call")),
        "{incomplete}"
    );
    assert_eq!((&complete["incomplete"], &complete["repeat"]), (&Value::Null, &Value::Null));
}

/// A missing test may have failed.
#[tokio::test]
async fn tests_that_were_not_read_have_not_passed() {
    let tests: Vec<_> = (0..150).map(|number| Test::new(number, &["SUCCESS"])).collect();
    let read = History::new(&tests).summary(execution(&uuid(0xe, 0))).await;

    assert_eq!((&read["all_passed"], &read["unread"]), (&json!(true), &Value::Null));

    let failures: [fn(&str) -> Option<u16>; 2] = [
        |target| target.contains("/jobs?").then_some(500),
        |target| target.contains("&page=1&").then_some(500),
    ];

    for failure in failures {
        let stub = serve_with_failures(History::new(&tests), failure).await;
        let mut session = fixture().open_with(stub).await;
        let summary = session.host.succeed(TOOL, execution(&uuid(0xe, 0))).await;
        assert_eq!((&summary["all_passed"], summary["unread"].is_null()), (&Value::Null, false), "{summary}");
    }
}

#[tokio::test]
async fn runs_are_listed_if_the_service_does_not_list_jobs() {
    let history = History::new(&[Test::new(1, &["ERROR", "FAILED"]), Test::new(2, &["ERROR", "SUCCESS"])]);
    let stub = serve_with_failures(history, |target| target.contains("/jobs?").then_some(404)).await;
    let mut session = fixture().open_with(stub).await;
    let summary = session.host.succeed(TOOL, execution(&uuid(0xe, 0))).await;

    assert_eq!(summary["verdicts"], json!({"FAILED": 1, "SUCCESS": 1}));
    assert_eq!(each(&summary["failures"], "/run_ids/0"), ["r0000a00001"]);
    assert_eq!(each(&summary["passed_after_retry"], "/earlier"), [json!(["ERROR"])]);
    assert_eq!(summary["unread"], Value::Null);
}

#[tokio::test]
async fn the_call_fails_if_nothing_can_be_read() {
    for (status, code) in [(500, "service_unavailable"), (404, "not_found"), (403, "permission_denied")] {
        for (arguments, operation) in [
            (execution(&uuid(0xe, 0)), "get_test_plan_execution"),
            (json!({"run_id": "r0000a00000"}), "get_run"),
            (json!({"job_id": uuid(0x10, 0)}), "get_job"),
        ] {
            let stub = Stub::start(move |_| async move { (status, json!({"error": "no"})) }).await;
            let mut session = fixture().open_with(stub).await;
            let error = session.host.fail(TOOL, arguments).await;

            assert_eq!(error["code"], code, "{error}");
            assert!(error["message"].as_str().is_some_and(|said| said.contains(operation)), "{error}");
        }
    }
}

#[tokio::test]
async fn records_without_most_fields_are_summarized() {
    let stub = Stub::start(|target| async move {
        let body = match target.split('/').nth(1) {
            Some(list) if list.starts_with("jobs?") => {
                json!({"data": [{"status": "COMPLETED"}, {"job_id": "j"}, 5, {
                    "status": "COMPLETED", "runs": [{"multiplayer_run_id": "r", "result": "FAILED"}],
                }]})
            }
            Some("runs") if target.ends_with("/bugs") => json!({"bug_occurrences": [{"title": "T"}, {}, 7]}),
            Some("runs") => json!({"multiplayer_run_id": "r", "players": [3, {"steps": "none"}]}),
            _ => json!({"id": "e"}),
        };
        (200, body)
    })
    .await;

    let mut session = fixture().open_with(stub).await;
    let summary = session.host.succeed(TOOL, execution(&uuid(0xe, 0))).await;

    assert_eq!(summary["verdicts"], json!({"FAILED": 1, "no_run": 1}));
    assert_eq!(summary["failures"][0]["bugs"], json!([{"title": "T", "severity": "unknown"}]));
    assert_eq!(summary["total"], 4);
}

const FAILED_TWICE: [(usize, &str); 5] =
    [(1, "FAILED"), (2, "FAILED"), (3, "SUCCESS"), (4, "SUCCESS"), (5, "SUCCESS")];

fn failed_twice() -> Vec<Test> {
    FAILED_TWICE.iter().map(|(number, result)| Test::new(*number, &[result])).collect()
}

#[tokio::test]
async fn tests_missing_in_the_list_of_jobs_are_reported() {
    let mut history = History::new(&failed_twice());
    history.forget_jobs(2);
    let summary = history.summary(execution(&uuid(0xe, 0))).await;
    assert_eq!([&summary["finished"], &summary["total"]], [3, 5]);
    let what =
        format!("tests of the execution {}: 2 of 5 (it counts SUCCESS 3, failed or error 2)", uuid(0xe, 0));
    assert_eq!(summary["unread"], json!([{"what": what, "why": "they are not in the list of jobs"}]));
}

#[tokio::test]
async fn an_empty_list_of_jobs_is_reported_and_not_passed() {
    let mut history = History::new(&[Test::new(1, &["SUCCESS"]), Test::new(2, &["SUCCESS"])]);
    history.forget_jobs(2);
    let summary = history.summary(execution(&uuid(0xe, 0))).await;
    assert_eq!((&summary["verdicts"], &summary["all_passed"]), (&json!({"SUCCESS": 2}), &Value::Null));
    assert_eq!(each(&summary["unread"], "/why"), ["they are not in the list of jobs"]);
}

/// If jobs cannot be listed, a test that was never started has no run.
#[tokio::test]
async fn tests_missing_in_the_list_of_runs_are_reported() {
    let history = History::new(&[Test::new(1, &["SUCCESS"]), Test::new(2, &[])]);
    let stub = Stub::start(move |target| {
        let answer =
            if target.contains("/jobs") { (404, json!({"error": "no"})) } else { history.answer(&target) };
        async move { answer }
    })
    .await;

    let mut session = fixture().open_with(stub).await;
    let summary = session.host.succeed(TOOL, execution(&uuid(0xe, 0))).await;

    assert_eq!([&summary["finished"], &summary["total"]], [1, 2]);
    assert_eq!(each(&summary["unread"], "/why"), ["they are not in the list of runs"]);
}
