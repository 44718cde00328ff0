//! The number of requests of a wait for many jobs.

use serde_json::{Value, json};
use tas_mcp::sandbox::{
    keys,
    seed::{CONFIG_PHONES, PLAN_SMOKE, TEST_DISCOVERY, TEST_ERRORS, TEST_FAILS, TEST_FLAKY, TEST_PASSES},
};

use crate::support::fixture::{Fixture, Session};

/// Starts fifty jobs of five tests. Ten of them run for more than ten minutes.
async fn start_fifty_jobs(session: &mut Session) -> Vec<Value> {
    let mut jobs = Vec::new();
    for (test, retries) in
        [(TEST_PASSES, 0), (TEST_FAILS, 0), (TEST_FLAKY, 2), (TEST_DISCOVERY, 0), (TEST_ERRORS, 10)]
    {
        jobs.extend(session.start_jobs(test, retries, 10).await);
    }

    jobs
}

/// Returns the numbers of requests and polls of a wait of ten minutes, and its result.
async fn count_requests(session: &mut Session, arguments: Value) -> (usize, u64, Value) {
    let before = session.service.requests().await.len();
    let (end, _) = session.wait_with_progress(arguments).await;
    let polls = end["polls"].as_u64().expect("a number");
    (session.service.requests().await.len() - before, polls, end)
}

/// Jobs without an execution are read one by one.
#[tokio::test]
async fn a_poll_reads_each_unfinished_job_once() {
    for key in [keys::DEMO, keys::ORGANIZATION] {
        let mut session =
            Fixture::new().key(key).variables(&[("TAS_PROJECTS", "demo")]).simulated_time().open().await;
        let jobs = start_fifty_jobs(&mut session).await;
        let (requests, polls, end) =
            count_requests(&mut session, json!({"job_ids": jobs, "timeout_seconds": 600})).await;
        assert_eq!((&end["status"], &end["finished"]), (&json!("timed_out"), &json!(40)));
        // The owner of the first job may have to be found.
        assert!(requests as u64 <= 50 * polls + 3, "{requests} requests in {polls} polls");
        assert!(requests as u64 >= 50 + 10 * (polls - 1), "{requests} requests in {polls} polls");
    }
}

#[tokio::test]
async fn fifty_jobs_fit_into_one_reply() {
    let mut session = Fixture::new().simulated_time().open().await;
    let jobs = start_fifty_jobs(&mut session).await;
    let (end, _) = session.wait_with_progress(json!({"job_ids": jobs, "timeout_seconds": 7_200})).await;

    assert_eq!(end["truncated"], Value::Null);

    let items = end["items"].as_array().expect("items");

    assert_eq!(items.iter().map(|item| item["job_id"].clone()).collect::<Vec<_>>(), jobs);
    assert_eq!(end["verdicts"], json!({"ERROR": 10, "FAILED": 10, "SUCCESS": 30}));
    assert!(end.to_string().len() < 16_000, "{}", end.to_string().len());
}

#[tokio::test]
async fn an_execution_takes_two_requests_per_poll() {
    let mut session = Fixture::new().simulated_time().open().await;
    let start = json!({"test_plan_id": PLAN_SMOKE, "deployment_config_id": CONFIG_PHONES});
    let started = session.host.succeed("start_test_plan_run", start).await;
    let arguments =
        json!({"test_plan_execution_id": started["test_plan_execution_id"], "timeout_seconds": 600});
    let (requests, polls, end) = count_requests(&mut session, arguments).await;

    assert_eq!(end["status"], "completed");
    assert_eq!(requests as u64, 2 * polls);
}
