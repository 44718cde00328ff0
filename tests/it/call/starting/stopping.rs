//! Stopping jobs.

use serde_json::json;
use tas_mcp::sandbox::seed;

use super::{assert_refused, fixture};
use crate::support::fixture::Session;

#[tokio::test]
async fn ids_of_jobs_are_uuids() {
    const UUID: &str = "must be a UUID such as 3f2b8c1e-7a4d-4e59-9b60-1c2d3e4f5a6b";

    let run = format!("job_ids.1: {UUID}");
    let blank = format!("job_ids.0: {UUID}");

    assert_refused(
        "stop_runs",
        &[
            (json!({}), &["job_ids: is required"]),
            (json!({"job_ids": null}), &["job_ids: is required"]),
            (json!({"job_ids": []}), &["job_ids: must not be empty"]),
            (json!({"job_ids": [seed::JOB_RUNNING, seed::RUN_RUNNING]}), &[&run]),
            (json!({"job_ids": ""}), &[&blank]),
            (
                json!({"jobs_id": [seed::RUN_RUNNING]}),
                &[
                    "jobs_id: is not an argument of this tool; the nearest is `job_ids`",
                    "job_ids: is required",
                ],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn stopping_some_jobs_succeeds_and_shows_the_others() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let all = host.succeed("stop_runs", json!({"job_ids": [seed::JOB_QUEUED]})).await;
    assert_eq!((&all["ok"], &all["stopped_count"]), (&json!(true), &json!(1)));
    let some = host.succeed("stop_runs", json!({"job_ids": [seed::JOB_RUNNING, seed::JOB_PASSED]})).await;
    assert_eq!((&some["ok"], &some["message"]), (&json!(false), &json!("Stopped 1/2 job(s)")));
    assert_eq!(some["results"][1]["error"], "Job already completed");
}

#[tokio::test]
async fn no_matching_job_is_not_found_for_both_forms_of_the_answer() {
    let Session { service, mut host, .. } = fixture().open().await;
    let unknown = json!({"job_ids": [seed::ARENA_JOB_RUNNING]});
    let error = host.fail("stop_runs", unknown.clone()).await;

    assert_eq!((&error["code"], &error["status"]), (&json!("not_found"), &json!(404)));
    assert_eq!((&error["details"]["received_count"], &error["details"]["results"]), (&json!(1), &json!([])));

    service
        .fault(json!({"operation": "stop_runs", "status": 404, "body": {"error": "no matching jobs"}}))
        .await;
    let error = host.fail("stop_runs", unknown).await;

    assert_eq!(
        (&error["code"], &error["details"]["service_error"]),
        (&json!("not_found"), &json!("no matching jobs"))
    );
}
