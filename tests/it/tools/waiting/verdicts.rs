//! Verdicts of a wait (service.md 2.3, 3.2).

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{EXECUTION_COMPLETED, JOB_PASSED, JOB_REJECTED};

use crate::support::fixture::Fixture;

/// Waits for a job with these runs.
async fn wait_for_job_with_runs(runs: Value) -> Value {
    let mut session = Fixture::new().simulated_time().open().await;
    let job = json!({"job_id": JOB_PASSED, "status": "COMPLETED", "runs": runs});
    session.service.fault(json!({"operation": "get_job", "body": job})).await;
    session.wait(json!({"job_id": JOB_PASSED})).await
}

fn run(id: &str, result: impl Into<Value>, started_at: Option<&str>) -> Value {
    json!({"multiplayer_run_id": id, "state": "COMPLETED", "result": result.into(), "started_at": started_at})
}

#[tokio::test]
async fn the_start_times_decide_and_not_the_order_of_the_list() {
    // The times have different offsets from UTC and differ by one millisecond.
    let late = run("late", "SUCCESS", Some("2026-03-02T10:30:00+02:00"));
    let early = run("early", "ERROR", Some("2026-03-02T08:29:59.999Z"));
    let never = run("never", "STOPPED", None);

    for runs in [json!([early, late, never]), json!([never, late, early]), json!([late, early])] {
        let end = wait_for_job_with_runs(runs).await;
        assert_eq!((&end["items"][0]["run_id"], &end["all_passed"]), (&json!("late"), &json!(true)), "{end}");
    }

    let untimed = [run("first", "SUCCESS", None), run("last", "STOPPED", None)];

    assert_eq!(wait_for_job_with_runs(json!(untimed)).await["items"][0]["run_id"], "last");
}

#[tokio::test]
async fn a_result_counts_only_when_the_job_is_completed() {
    let mut session = Fixture::new().simulated_time().open().await;
    let attempts = [run("one", "TIMEOUT", Some("2026-03-02T09:00:00Z"))];
    let job = json!({"job_id": JOB_PASSED, "status": "RUNNING", "runs": attempts});

    session.service.fault(json!({"operation": "get_job", "body": job, "times": 100})).await;
    let end = session.wait(json!({"job_id": JOB_PASSED, "timeout_seconds": 1})).await;

    assert_eq!((&end["status"], &end["verdicts"]), (&json!("timed_out"), &json!({})));
    assert_eq!((&end["items"][0]["status"], &end["items"][0]["result"]), (&json!("RUNNING"), &Value::Null));
}

#[tokio::test]
async fn only_success_counts_as_passed_and_unknown_results_are_unchanged() {
    for word in ["FAILED", "SKIPPED", "BLOCKED", "TIMEOUT", "ERROR", "STOPPED", "MAX_STEPS", "Quarantined"] {
        let end = wait_for_job_with_runs(json!([run("one", word, None)])).await;
        assert_eq!((&end["verdicts"], &end["all_passed"]), (&json!({word: 1}), &json!(false)));
    }

    let end = wait_for_job_with_runs(json!([run("one", "max_steps", None)])).await;

    assert_eq!(
        (&end["verdicts"], &end["items"][0]["result"]),
        (&json!({"MAX_STEPS": 1}), &json!("max_steps"))
    );
}

#[tokio::test]
async fn a_job_without_a_run_or_a_result_is_not_passed() {
    let mut session = Fixture::new().simulated_time().open().await;
    let end = session.wait(json!({"job_id": JOB_REJECTED})).await;
    assert_eq!((&end["verdicts"], &end["all_passed"]), (&json!({"no_run": 1}), &json!(false)));
    assert_eq!(end["items"][0]["reason"], "no_device_available");
    let end = wait_for_job_with_runs(json!([run("one", Value::Null, None)])).await;
    assert_eq!((&end["verdicts"], &end["all_passed"]), (&json!({"no_result": 1}), &json!(false)));
}

/// The counts of an execution describe all tests only if they contain the total.
#[tokio::test]
async fn tests_that_were_not_read_have_not_passed() {
    for (total, has_passed) in [(json!(2), json!(true)), (json!(3), json!(false)), (Value::Null, Value::Null)]
    {
        let mut session = Fixture::new().simulated_time().open().await;
        let mut execution =
            json!({"id": EXECUTION_COMPLETED, "status": "completed", "test_status": {"passed": 2}});

        if !total.is_null() {
            execution["total_tests"] = total;
        }

        session.service.fault(json!({"operation": "list_jobs", "status": 404})).await;
        session.service.fault(json!({"operation": "get_test_plan_execution", "body": execution})).await;

        let end = session.wait(json!({"test_plan_execution_id": EXECUTION_COMPLETED})).await;

        assert_eq!((&end["status"], &end["all_passed"]), (&json!("completed"), &has_passed), "{end}");
    }
}
