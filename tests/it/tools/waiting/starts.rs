//! `tas-mcp run --wait` with different answers of a start (service.md 1.7, 2.1).

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{CONFIG_PHONES, EXECUTION_COMPLETED, JOB_PASSED, PLAN_SMOKE, TEST_PASSES};

use super::command::command;
use crate::support::service::Service;

/// Starts a plan with the given answer and waits for it. Returns the exit code, standard output and standard error.
async fn plan(service: &Service, answer: Value, more: &[&str]) -> (Option<i32>, Value, String) {
    service.fault(json!({"operation": "start_test_plan_run", "status": 201, "body": answer})).await;
    let start = ["run", PLAN_SMOKE, "--device", CONFIG_PHONES, "--wait"];
    command(service, &[&start, more].concat()).await
}

/// Starts a test with the given answer and waits for it.
async fn test(service: &Service, status: u16, answer: Value, more: &[&str]) -> (Option<i32>, Value, String) {
    service.fault(json!({"operation": "start_run", "status": status, "body": answer})).await;
    let start = ["run", TEST_PASSES, "--device", CONFIG_PHONES, "--wait"];
    command(service, &[&start, more].concat()).await
}

#[tokio::test]
async fn a_run_that_only_the_counts_miss_is_a_failure() {
    for (counts, missing) in [
        (json!({"ok": false, "requested_count": 3, "started_count": 1, "failed_count": 2}), 2),
        (json!({"requested_count": 3, "successful_count": 1}), 2),
        (json!({"failed_count": 1}), 1),
        (json!({"failed_count": u64::MAX}), 1_000),
        (json!({"ok": false, "error": "no device"}), 1),
        (
            json!({"requested_count": 3, "started_count": 1, "results": [
                {"device_label": "Pixel 8", "ok": true}, {"device_label": "Pixel 4", "ok": false, "error": "broken"},
            ]}),
            2,
        ),
        (json!({"ok": true, "requested_count": 1, "started_count": 1, "failed_count": 0}), 0),
    ] {
        let service = Service::start().await;
        // The start names one job. The counts claim further runs.
        let mut answer = counts.clone();
        answer["job_ids"] = json!([JOB_PASSED]);

        let (exit, _, said) = test(&service, 207, answer, &[]).await;

        assert_eq!(exit, Some(if missing == 0 { 0 } else { 10 }), "{counts}: {said}");
        assert_eq!(said.matches("NOT STARTED").count(), missing, "{counts}: {said}");
        assert!(said.contains(&format!("1 of {} passed", missing + 1)), "{counts}: {said}");
    }
}

/// In the older form of an answer, `data` contains all fields.
#[tokio::test]
async fn the_execution_is_found_in_the_older_form_of_an_answer() {
    let service = Service::start().await;
    let answer = json!({"ok": true, "data": {"test_plan_execution_id": EXECUTION_COMPLETED}});
    let (exit, end, said) = plan(&service, answer, &[]).await;
    assert_eq!((exit, &end["target_id"]), (Some(10), &json!(EXECUTION_COMPLETED)), "{said}");
}

#[tokio::test]
async fn a_start_without_jobs_is_a_bad_response() {
    let service = Service::start().await;
    let (exit, _, said) = test(&service, 201, json!({"message": "started", "job_ids": []}), &[]).await;
    let said: Value = serde_json::from_str(said.lines().last().expect("a line")).expect("an error");
    let error = &said["error"];

    assert_eq!((exit, &error["code"]), (Some(3), &json!("bad_response")));
    assert_eq!(error["message"], "the answer to the start contains no job");
    assert_eq!(error["details"]["started"]["message"], "started");
    assert_eq!(service.writes().await, ["POST /runs 201"]);
}
