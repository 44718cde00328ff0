//! Stopping jobs (service.md 2.6).

use serde_json::json;
use tas_mcp::sandbox::seed::{CONFIG_PHONES, JOB_QUEUED, JOB_RUNNING, RUN_RUNNING, TEST_FLAKY};

use super::client::{Answer, Client};

#[tokio::test]
async fn stopping_takes_effect_at_once() {
    let client = Client::demo().await;
    let stopped = client.post("/runs/stop", json!({"job_ids": [JOB_RUNNING]})).await;
    let row =
        json!({"job_id": JOB_RUNNING, "ok": true, "status": 200, "message": "Job stopped", "error": null});
    let body = json!({"ok": true, "message": "Stopped 1/1 job(s)", "received_count": 1, "stopped_count": 1, "results": [row]});

    assert_eq!(stopped, Answer { status: 200, body });

    let run = client.read(&format!("/runs/{RUN_RUNNING}")).await;

    assert_eq!((&run["state"], &run["result"]), (&json!("COMPLETED"), &json!("STOPPED")));

    let steps = &run["players"][0]["steps"];

    assert_eq!(
        (&steps[1]["run_result"], &steps[1]["items"][0]["status"]),
        (&json!("STOPPED"), &json!("stopped"))
    );
    assert_eq!((&steps[2]["run_state"], &steps[2]["run_result"]), (&json!("INITIALIZING"), &json!(null)));
}

#[tokio::test]
async fn a_stopped_job_is_not_retried() {
    let client = Client::demo().await;
    let body =
        json!({"multiplayer_test_id": TEST_FLAKY, "deployment_config_id": CONFIG_PHONES, "retries": 5});
    let started = client.post("/runs", body).await;

    client.sandbox.advance(40.0);
    client.post("/runs/stop", json!({"job_ids": started.body["job_ids"]})).await;

    let mut statuses = Vec::new();
    for seconds in [0.0, 3.0, 5.0] {
        client.sandbox.advance(seconds);
        statuses.push(client.job(&started).await["status"].clone());
    }

    assert_eq!(statuses, ["STOPPING", "CLEANING_UP", "COMPLETED"]);

    let job = client.job(&started).await;

    assert_eq!((job["runs"].as_array().unwrap().len(), &job["retries"]["remaining"]), (1, &json!(5)));
    assert_eq!(job["stopped_by"], json!({"key_id": "key_demo"}));
}

#[tokio::test]
async fn a_stopped_queued_job_never_runs() {
    let client = Client::demo().await;
    assert_eq!(client.post("/runs/stop", json!({"job_ids": [JOB_QUEUED]})).await.status, 200);
    client.sandbox.advance(60.0);
    let job = client.read(&format!("/jobs/{JOB_QUEUED}")).await;
    assert_eq!((&job["status"], &job["runs"]), (&json!("COMPLETED"), &json!([])));
}
