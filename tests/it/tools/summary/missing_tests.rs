//! Tests that an execution counts and no list contains.

use serde_json::{Value, json};

use super::{
    TOOL, against, each, execution, fixture,
    history::{History, Test, uuid},
};
use crate::support::stub::Stub;

const FAILED_TWICE: [(usize, &str); 5] =
    [(1, "FAILED"), (2, "FAILED"), (3, "SUCCESS"), (4, "SUCCESS"), (5, "SUCCESS")];

fn tests() -> Vec<Test> {
    FAILED_TWICE.iter().map(|(number, result)| Test::new(*number, &[result])).collect()
}

#[tokio::test]
async fn tests_missing_in_the_list_of_jobs_are_reported() {
    let mut history = History::new(&tests());
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

#[tokio::test]
async fn a_test_missing_in_the_list_is_not_listed_as_not_run() {
    let mut history = History::new(&tests());
    history.add(&tests());

    let complete = history.clone().summary(against(execution(&uuid(0xe, 1)), "previous")).await;

    assert_eq!(complete["unread"], Value::Null);

    // The list lacks the first two jobs of the second execution.
    let stub = Stub::start(move |target| {
        let (status, mut body) = history.answer(&target);
        if target.contains("/jobs?") && target.contains(&uuid(0xe, 1)) {
            body["data"].as_array_mut().expect("a list").drain(..2);
        }
        async move { (status, body) }
    })
    .await;

    let arguments = against(execution(&uuid(0xe, 1)), "previous");
    let mut session = fixture().open_with(stub).await;
    let summary = session.host.succeed(TOOL, arguments).await;
    let comparison = &summary["comparison"];

    assert_eq!(comparison["with"]["target_id"], uuid(0xe, 0));
    assert_eq!(comparison["not_run"], Value::Null);
    assert!(comparison["note"].as_str().is_some_and(|note| note.starts_with("not every test")), "{summary}");
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
