//! Records without ids: they are not confused with each other.

use serde_json::{Value, json};

use super::{
    TOOL, against, each, execution, fixture,
    history::{History, Test, uuid},
};
use crate::support::stub::Stub;

/// Removes an id from each record of a list.
fn remove_ids(list: &mut Value, name: &str) {
    for record in list["data"].as_array_mut().expect("a list") {
        record.as_object_mut().expect("a record").shift_remove(name);
    }
}

/// Starts a service whose answers to requests with `part` lack an id.
async fn serve_without_ids(history: History, part: &'static str, name: &'static str) -> Stub {
    Stub::start(move |target| {
        let (status, mut body) = history.answer(&target);
        if target.contains(part) {
            remove_ids(&mut body, name);
        }
        async move { (status, body) }
    })
    .await
}

#[tokio::test]
async fn jobs_without_ids_are_separate_tests() {
    let mut history = History::new(&[Test::new(1, &[]), Test::new(1, &[]), Test::new(1, &[])]);
    history.change_jobs(|job| job["multiplayer_test_id"] = Value::Null);
    let stub = serve_without_ids(history, "/jobs?", "job_id").await;
    let mut session = fixture().open_with(stub).await;
    let summary = session.host.succeed(TOOL, execution(&uuid(0xe, 0))).await;
    assert_eq!((&summary["total"], &summary["verdicts"]), (&json!(3), &json!({"no_run": 3})));
    assert_eq!(each(&summary["failures"], "/count"), [1, 1, 1]);
}

/// If only runs can be listed, runs without a job are not attempts of one job.
#[tokio::test]
async fn runs_without_job_ids_are_separate_tests() {
    let history =
        History::new(&[Test::new(1, &["SUCCESS"]), Test::new(2, &["FAILED"]), Test::new(3, &["FAILED"])]);
    let stub = Stub::start(move |target| {
        let (mut status, mut body) = history.answer(&target);
        // Without a list of jobs, the summary reads the list of runs.
        if target.contains("/jobs?") {
            status = 404;
        }
        if target.contains("/runs?") {
            remove_ids(&mut body, "job_id");
            remove_ids(&mut body, "multiplayer_run_id");
        }
        async move { (status, body) }
    })
    .await;

    let mut session = fixture().open_with(stub).await;
    let summary = session.host.succeed(TOOL, execution(&uuid(0xe, 0))).await;

    assert_eq!(summary["verdicts"], json!({"FAILED": 2, "SUCCESS": 1}));
    assert_eq!((&summary["total"], &summary["passed_after_retry"]), (&json!(3), &json!([])));
}

/// Without an id, the record may be the one that is summarized.
#[tokio::test]
async fn a_record_without_an_id_is_not_compared_with() {
    let mut history = History::new(&[Test::new(1, &["SUCCESS"])]);
    let last = history.add(&[Test::new(1, &["FAILED"])]);
    let stub = serve_without_ids(history, "/test-plan-executions?", "id").await;
    let mut session = fixture().open_with(stub).await;
    let summary = session.host.succeed(TOOL, against(execution(&last), "previous")).await;
    let comparison = &summary["comparison"];

    assert_eq!((&comparison["with"], &comparison["known"]), (&Value::Null, &Value::Null), "{summary}");
    assert!(
        comparison["note"].as_str().is_some_and(|note| note.contains("no earlier completed")),
        "{summary}"
    );
}

#[tokio::test]
async fn tests_without_ids_are_not_compared() {
    let mut history = History::new(&[Test::new(1, &[]), Test::new(2, &["SUCCESS"])]);
    let last = history.add(&[Test::new(3, &[]), Test::new(2, &["FAILED"])]);
    history.change_jobs(|job| {
        if job["test_name"] != "Test 002" {
            job["multiplayer_test_id"] = Value::Null;
        }
    });

    let stub = serve_without_ids(history, "/jobs?", "job_id").await;
    let mut session = fixture().open_with(stub).await;
    let summary = session.host.succeed(TOOL, against(execution(&last), "previous")).await;
    let comparison = &summary["comparison"];

    assert_eq!(each(&comparison["new"], "/test/name"), ["Test 002"]);
    assert_eq!((&comparison["not_run"], &comparison["known"]), (&json!([]), &json!([])), "{comparison}");
    assert_eq!(comparison["note"], "tests without an id are not compared");
}
