//! From the start of a job to its end (service.md 2.3, 3).

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{
    BUG_CRITICAL, BUG_UNREVIEWED, CONFIG_PHONES, CONFIG_PHONES_ALL_BROKEN, EXECUTION_IN_PROGRESS,
    RUN_RUNNING, RUN_THREE_PLAYERS, TEST_BLOCKED, TEST_DISCOVERY, TEST_ERRORS, TEST_FAILS, TEST_FLAKY,
    TEST_PASSES, TEST_SKIPPED, TEST_TWO_PLAYERS,
};

use super::client::Client;

/// Longer than any job takes, including all retries.
const TO_THE_END_S: f64 = 3_600.0;

/// Returns the results of the attempts of a job with `retries`, and the remaining retries.
async fn attempts(test: &str, retries: u8) -> (Vec<Value>, Value) {
    let client = Client::demo().await;
    let body =
        json!({"multiplayer_test_id": test, "deployment_config_id": CONFIG_PHONES, "retries": retries});
    let started = client.post("/runs", body).await;

    client.sandbox.advance(TO_THE_END_S);
    let job = client.job(&started).await;

    assert_eq!(job["status"], "COMPLETED");

    let results = job["runs"].as_array().unwrap().iter().map(|run| run["result"].clone());

    (results.collect(), job["retries"]["remaining"].clone())
}

#[tokio::test]
async fn a_job_passes_through_its_states_in_order() {
    let client = Client::demo().await;
    let body = json!({"multiplayer_test_id": TEST_PASSES, "deployment_config_id": CONFIG_PHONES});
    let started = client.post("/runs", body).await;
    let mut states = Vec::new();

    for _ in 0..160 {
        let job = client.job(&started).await;
        let state = json!([job["status"], job["runs"][0]["state"], job["runs"][0]["result"]]);
        if states.last() != Some(&state) {
            states.push(state);
        }
        client.sandbox.advance(1.0);
    }

    let expected = [
        json!(["QUEUED", null, null]),
        json!(["STARTING", "INITIALIZING", null]),
        json!(["RUNNING", "RUNNING", null]),
        json!(["CLEANING_UP", "COMPLETED", "SUCCESS"]),
        json!(["COMPLETED", "COMPLETED", "SUCCESS"]),
    ];

    assert_eq!(states, expected);
}

#[tokio::test]
async fn an_execution_failure_is_retried_while_retries_remain_and_a_verdict_never() {
    for (test, retries, results, remaining) in [
        (TEST_FLAKY, 2, &["TIMEOUT", "SUCCESS"][..], 1),
        (TEST_FLAKY, 0, &["TIMEOUT"], 0),
        (TEST_ERRORS, 2, &["ERROR"; 3], 0),
        (TEST_PASSES, 3, &["SUCCESS"], 3),
        (TEST_FAILS, 3, &["FAILED"], 3),
        (TEST_BLOCKED, 3, &["BLOCKED"], 3),
        (TEST_SKIPPED, 3, &["SKIPPED"], 3),
    ] {
        let results = results.iter().map(|result| json!(result)).collect();
        assert_eq!(attempts(test, retries).await, (results, json!(remaining)), "{test}");
    }
}

#[tokio::test]
async fn a_job_without_a_device_is_rejected() {
    let client = Client::demo().await;
    let body = json!({"multiplayer_test_id": TEST_PASSES, "deployment_config_id": CONFIG_PHONES_ALL_BROKEN});
    let started = client.post("/runs", body).await;

    client.sandbox.advance(10.0);
    let job = client.job(&started).await;

    assert_eq!((&job["status"], &job["runs"]), (&json!("COMPLETED"), &json!([])));
    assert_eq!(job["queue_rejection_reason"], "no_device_available");
}

#[tokio::test]
async fn seeded_jobs_do_not_change_while_the_clock_stands_still() {
    let client = Client::demo().await;
    for _ in 0..2 {
        let run = client.read(&format!("/runs/{RUN_RUNNING}")).await;
        let steps = run["players"][0]["steps"].as_array().unwrap();
        let states: Vec<_> = steps.iter().map(|step| step["run_state"].as_str().unwrap()).collect();
        assert_eq!(
            (&run["state"], states),
            (&json!("RUNNING"), vec!["COMPLETED", "RUNNING", "INITIALIZING"])
        );
    }
}

#[tokio::test]
async fn an_execution_is_completed_with_its_last_job() {
    let client = Client::demo().await;
    let path = format!("/test-plan-executions/{EXECUTION_IN_PROGRESS}");
    let before = client.read(&path).await;

    assert_eq!(
        before["test_status"],
        json!({"passed": 1, "failed": 0, "skipped": 0, "stopped": 0, "queued": 2, "running": 1})
    );

    client.sandbox.advance(TO_THE_END_S);
    let after = client.read(&path).await;

    assert_eq!((&before["status"], &after["status"]), (&json!("in_progress"), &json!("completed")));
    assert_eq!(
        after["test_status"],
        json!({"passed": 3, "failed": 1, "skipped": 0, "stopped": 0, "queued": 0, "running": 0})
    );
}

#[tokio::test]
async fn a_failed_step_shows_which_expectation_was_not_met() {
    let client = Client::demo().await;
    let body = json!({"multiplayer_test_id": TEST_FAILS, "deployment_config_id": CONFIG_PHONES});
    let started = client.post("/runs", body).await;

    client.sandbox.advance(TO_THE_END_S);
    let run = client.last_run(&started).await;
    let player = &run["players"][0];

    assert_eq!(player["step_result_summary"], json!({"SUCCESS": 1, "FAILED": 1, "SKIPPED": 1}));
    assert_eq!(player["completed_step_count"], 1);

    let items = player["steps"][1]["items"].as_array().unwrap();
    let statuses: Vec<_> =
        items.iter().map(|item| (item["id"].as_str().unwrap(), item["status"].as_str().unwrap())).collect();

    assert_eq!(statuses, [("2a", "passed"), ("2b", "failed")]);
    assert_eq!(run["bug_info"], json!({"bug_label": "bugs_found", "bug_count": 1}));
}

#[tokio::test]
async fn bugs_appear_during_a_discovery_run() {
    let client = Client::demo().await;
    let body = json!({"multiplayer_test_id": TEST_DISCOVERY, "deployment_config_id": CONFIG_PHONES});
    let started = client.post("/runs", body).await;

    client.sandbox.advance(30.0);
    let run = client.last_run(&started).await;
    let path = format!("/runs/{}/bugs", run["multiplayer_run_id"].as_str().unwrap());

    assert_eq!(client.read(&path).await["pagination"]["total_count"], 0);

    client.sandbox.advance(TO_THE_END_S);
    let bugs = client.read(&path).await;
    let ids: Vec<_> =
        { bugs["data"].as_array().unwrap() }.iter().map(|bug| bug["bug_id"].as_str().unwrap()).collect();

    assert!(ids.contains(&BUG_CRITICAL) && ids.contains(&BUG_UNREVIEWED), "{ids:?}");

    let run = client.last_run(&started).await;

    assert_eq!((&run["bug_info"], &run["players"][0]["steps"][0]["items"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn bugs_count_players_from_0_and_runs_from_1() {
    let client = Client::demo().await;
    let run = client.read(&format!("/runs/{RUN_THREE_PLAYERS}")).await;
    let results: Vec<_> =
        { run["players"].as_array().unwrap() }.iter().map(|player| player["result"].clone()).collect();

    assert_eq!(results, ["SUCCESS", "FAILED", "SUCCESS"]);
    assert_eq!(run["players"][1]["player_number"], 2);
    assert_eq!(run["players"][1]["id"], format!("{RUN_THREE_PLAYERS}-2"));

    let bugs = client.read(&format!("/runs/{RUN_THREE_PLAYERS}/bugs")).await;

    assert_eq!(
        (&bugs["data"][0]["bug_id"], &bugs["data"][0]["player_number"]),
        (&json!(BUG_CRITICAL), &json!(1))
    );
}

#[tokio::test]
async fn a_job_counts_its_players() {
    let client = Client::demo().await;
    let body = json!({"multiplayer_test_id": TEST_TWO_PLAYERS, "deployment_config_id": CONFIG_PHONES});
    let started = client.post("/runs", body).await;
    client.sandbox.advance(TO_THE_END_S);
    assert_eq!(client.job(&started).await["runs"][0]["players"], 2);
}
