//! Arguments that are rejected before any request.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{EXECUTION_COMPLETED, JOB_PASSED, RUN_PASSED};

use super::TOOL;
use crate::support::fixture::Fixture;

#[tokio::test]
async fn exactly_one_id_is_required() {
    let rule = |got: &str| {
        format!(
            ": exactly one of `job_id`, `job_ids`, `run_id`, `test_plan_execution_id` must be provided, got {got}"
        )
    };
    let cases = [
        (json!({}), rule("none")),
        (json!({"job_id": JOB_PASSED, "run_id": RUN_PASSED}), rule("`job_id`, `run_id`")),
        (
            json!({"job_ids": [JOB_PASSED], "test_plan_execution_id": EXECUTION_COMPLETED}),
            rule("`job_ids`, `test_plan_execution_id`"),
        ),
    ];

    let mut session = Fixture::new().simulated_time().open().await;
    for (arguments, expected) in cases {
        assert_eq!(session.host.violations(TOOL, arguments).await, [expected]);
    }

    assert_eq!(session.service.requests().await, [""; 0]);
}

#[tokio::test]
async fn values_outside_the_limits_are_rejected() {
    let many: Vec<_> = (0..51).map(|_| JOB_PASSED).collect();
    let job = |name: &str, value: Value| json!({"job_id": JOB_PASSED, name: value});
    let cases = [
        (json!({"job_ids": []}), "job_ids: must not be empty"),
        (json!({"job_ids": many}), "job_ids: must have at most 50 entries, got 51"),
        (job("timeout_seconds", json!(0)), "timeout_seconds: must be from 1 to 7200, got 0"),
        (job("timeout_seconds", json!(7_201)), "timeout_seconds: must be from 1 to 7200, got 7201"),
        (job("poll_interval_seconds", json!(0)), "poll_interval_seconds: must be from 1 to 300, got 0"),
        (job("poll_interval_seconds", json!(301)), "poll_interval_seconds: must be from 1 to 300, got 301"),
        (json!({"job_id": "x"}), "job_id: must be a UUID such as 3f2b8c1e-7a4d-4e59-9b60-1c2d3e4f5a6b"),
        (
            json!({"run_id": ""}),
            ": exactly one of `job_id`, `job_ids`, `run_id`, `test_plan_execution_id` must be provided, got none",
        ),
    ];

    let mut session = Fixture::new().simulated_time().open().await;
    for (arguments, expected) in cases {
        assert_eq!(session.host.violations(TOOL, arguments).await, [expected]);
    }

    assert_eq!(session.service.requests().await, [""; 0]);
}

#[tokio::test]
async fn values_at_the_limits_are_accepted() {
    let mut session = Fixture::new().simulated_time().open().await;
    let fifty: Vec<_> = (0..50).map(|_| JOB_PASSED).collect();

    for (timeout, interval) in [(1, 1), (7_200, 300)] {
        let arguments =
            json!({"job_ids": fifty, "timeout_seconds": timeout, "poll_interval_seconds": interval});
        assert_eq!(session.wait(arguments).await["status"], "completed");
    }
}
