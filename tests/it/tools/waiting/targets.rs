//! The targets of a wait.

use serde_json::{Value, json};
use tas_mcp::sandbox::{
    keys,
    seed::{
        ARENA_EXECUTION, ARENA_JOB_FAILED, ARENA_JOB_PASSED, ARENA_JOB_RUNNING, ARENA_RUN_RUNNING,
        BUILD_ANDROID_EARLIER, EXECUTION_COMPLETED, EXECUTION_IN_PROGRESS, JOB_FAILED, JOB_PASSED,
        JOB_RUNNING, RUN_FAILED, RUN_RUNNING,
    },
};

use super::{TOOL, rows};
use crate::support::fixture::Fixture;

#[tokio::test]
async fn a_job_ends_by_its_status() {
    let mut session = Fixture::new().simulated_time().open().await;
    let (end, _) = session.wait_with_progress(json!({"job_id": JOB_RUNNING, "timeout_seconds": 7_200})).await;

    assert_eq!([&end["status"], &end["target_type"], &end["target_id"]], ["completed", "job", JOB_RUNNING]);
    assert_eq!(end["last_status"], "COMPLETED");
    assert_eq!((&end["all_passed"], &end["verdicts"]), (&json!(true), &json!({"SUCCESS": 1})));
    assert_eq!((&end["finished"], &end["total"], &end["still_running"]), (&json!(1), &json!(1), &json!([])));
    assert!(end["polls"].as_u64() > Some(1) && end["elapsed_seconds"].as_f64() > Some(30.0), "{end}");
}

#[tokio::test]
async fn a_run_ends_by_its_state() {
    let mut session = Fixture::new().simulated_time().open().await;
    let (end, _) = session.wait_with_progress(json!({"run_id": RUN_RUNNING, "timeout_seconds": 7_200})).await;

    assert_eq!([&end["status"], &end["target_type"], &end["target_id"]], ["completed", "run", RUN_RUNNING]);
    // The first attempt times out; its retry is another run.
    assert_eq!((&end["last_status"], &end["verdicts"]), (&json!("COMPLETED"), &json!({"TIMEOUT": 1})));
    assert_eq!(
        end["next_step"],
        format!("to find out why, call `summarize_results` with `run_id` `{RUN_RUNNING}`")
    );
}

#[tokio::test]
async fn builds_and_devices_are_named_beside_their_ids() {
    let mut session = Fixture::new().simulated_time().open().await;
    for arguments in [
        json!({"run_id": RUN_FAILED}),
        json!({"job_id": JOB_FAILED}),
        json!({"job_ids": [JOB_FAILED]}),
        json!({"test_plan_execution_id": EXECUTION_COMPLETED}),
    ] {
        let end = session.wait(arguments).await;
        let build = json!({"id": BUILD_ANDROID_EARLIER, "name": "Emberfall 1.4.0 nightly 412"});
        assert_eq!(end["builds"], json!([build]), "{end}");
        assert!(end["items"][0]["platform"].is_string(), "{end}");
    }
}

#[tokio::test]
async fn an_execution_ends_with_its_last_job() {
    let mut session = Fixture::new().simulated_time().open().await;
    let arguments = json!({"test_plan_execution_id": EXECUTION_IN_PROGRESS, "timeout_seconds": 7_200});
    let (end, _) = session.wait_with_progress(arguments).await;
    let target = [&end["status"], &end["target_type"], &end["target_id"]];

    assert_eq!(target, ["completed", "test_plan_execution", EXECUTION_IN_PROGRESS]);
    assert_eq!(end["verdicts"], json!({"FAILED": 1, "SUCCESS": 3}));
    assert_eq!((&end["finished"], &end["total"], &end["all_passed"]), (&json!(4), &json!(4), &json!(false)));

    let next = format!("`summarize_results` with `test_plan_execution_id` `{EXECUTION_IN_PROGRESS}`");

    assert!(end["next_step"].as_str().is_some_and(|said| said.ends_with(&next)), "{end}");

    let expected =
        ["Finish the first level", "Beat the Cinder Golem", "Explore the Ashen Woods", "Pause and resume"];

    assert_eq!(rows(&end["items"], &["test_name"]).concat(), expected);
}

#[tokio::test]
async fn several_jobs_are_returned_once_in_the_order_of_the_request() {
    let mut session = Fixture::new().simulated_time().open().await;
    // UUIDs are equal in either letter case, so that this is a repeated id.
    let upper = JOB_FAILED.to_uppercase();
    let jobs = [JOB_FAILED, JOB_RUNNING, JOB_PASSED, &upper];
    let (end, _) = session.wait_with_progress(json!({"job_ids": jobs, "timeout_seconds": 7_200})).await;
    let expected = [[JOB_FAILED, "FAILED"], [JOB_RUNNING, "SUCCESS"], [JOB_PASSED, "SUCCESS"]];

    assert_eq!(rows(&end["items"], &["job_id", "result"]), expected);
    assert_eq!((&end["target_type"], &end["target_id"]), (&json!("jobs"), &Value::Null));

    let next = "`summarize_results` with the same `job_ids`";

    assert!(end["next_step"].as_str().is_some_and(|said| said.ends_with(next)), "{end}");
}

#[tokio::test]
async fn statuses_are_accepted_in_either_letter_case() {
    let mut session = Fixture::new().key(keys::ARENA).simulated_time().open().await;
    let lower = json!({"job_id": ARENA_JOB_PASSED, "status": "completed", "runs": [
        {"multiplayer_run_id": "r", "state": "completed", "result": "success", "started_at": null},
    ]});
    session.service.fault(json!({"operation": "get_job", "body": lower})).await;

    let job = session.wait(json!({"job_id": ARENA_JOB_PASSED})).await;

    assert_eq!((&job["verdicts"], &job["all_passed"]), (&json!({"SUCCESS": 1}), &json!(true)));
    assert_eq!(job["items"][0]["result"], "success", "as the service writes it");
}

/// A service without the operation is asked for the list (service.md 5.2).
#[tokio::test]
async fn an_execution_that_cannot_be_read_is_found_in_the_list() {
    let mut session = Fixture::new().simulated_time().open().await;
    session.service.fault(json!({"operation": "get_test_plan_execution", "status": 405, "times": 100})).await;
    let end = session.wait(json!({"test_plan_execution_id": EXECUTION_COMPLETED})).await;
    assert_eq!((&end["status"], &end["finished"]), (&json!("completed"), &json!(4)));
}

/// Without a list of jobs, the verdicts follow from the counts (service.md 5.1).
#[tokio::test]
async fn an_execution_without_a_list_of_jobs_is_described_by_its_counts() {
    let mut session = Fixture::new().simulated_time().open().await;
    session.service.fault(json!({"operation": "list_jobs", "status": 404, "times": 100})).await;
    let end = session.wait(json!({"test_plan_execution_id": EXECUTION_COMPLETED})).await;
    assert_eq!(end["verdicts"], json!({"failed or error": 1, "SUCCESS": 3}));
    assert_eq!((&end["finished"], &end["total"], &end["items"]), (&json!(4), &json!(4), &json!([])));
}

#[tokio::test]
async fn the_ids_decide_the_project_of_an_organization_key() {
    let mut session = Fixture::new()
        .key(keys::ORGANIZATION)
        .variables(&[("TAS_PROJECTS", "demo,arena")])
        .simulated_time()
        .open()
        .await;
    for arguments in [
        json!({"job_ids": [ARENA_JOB_PASSED, ARENA_JOB_FAILED, ARENA_JOB_RUNNING]}),
        json!({"test_plan_execution_id": ARENA_EXECUTION}),
    ] {
        let end = session.wait(arguments).await;
        assert_eq!(end["verdicts"]["FAILED"], 1, "{end}");
    }

    let lists: Vec<_> = session.service.requests().await;
    let lists: Vec<_> = lists.iter().filter(|line| line.contains("/jobs?")).collect();

    assert!(!lists.is_empty() && lists.iter().all(|line| line.contains("/project/arena/")), "{lists:?}");
}

#[tokio::test]
async fn ids_of_another_project_are_a_mismatch() {
    let mut session = Fixture::new()
        .key(keys::ORGANIZATION)
        .variables(&[("TAS_PROJECTS", "demo,arena")])
        .simulated_time()
        .open()
        .await;
    let cases = [
        json!({"project_id": "demo", "job_id": ARENA_JOB_PASSED}),
        json!({"project_id": "demo", "job_ids": [ARENA_JOB_PASSED, ARENA_JOB_FAILED, ARENA_JOB_RUNNING]}),
        json!({"project_id": "demo", "run_id": ARENA_RUN_RUNNING}),
        json!({"project_id": "demo", "test_plan_execution_id": ARENA_EXECUTION}),
        json!({"job_ids": [JOB_PASSED, ARENA_JOB_PASSED]}),
    ];

    for arguments in cases {
        let error = session.host.fail(TOOL, arguments).await;
        assert_eq!(error["code"], "project_scope_mismatch", "{error}");
        let message = error["message"].as_str().expect("a text");
        assert!(message.contains("`demo`") && message.contains("`arena`"), "{message}");
    }

    let error = Fixture::new()
        .simulated_time()
        .open()
        .await
        .host
        .fail(TOOL, json!({"project_id": "arena", "run_id": RUN_FAILED}))
        .await;

    assert_eq!(error["code"], "project_scope_mismatch");
}

#[tokio::test]
async fn an_unknown_id_ends_the_wait_at_once() {
    let nowhere = "00000000-0000-4000-8000-000000000000";
    for arguments in [
        json!({"job_id": nowhere}),
        json!({"job_ids": [JOB_RUNNING, nowhere]}),
        json!({"run_id": "nowhere"}),
        json!({"test_plan_execution_id": nowhere}),
    ] {
        let mut session = Fixture::new().simulated_time().open().await;
        let error = session.host.fail(TOOL, arguments.clone()).await;
        assert_eq!(
            (&error["code"], &error["details"]["polls"]),
            (&json!("not_found"), &json!(1)),
            "{arguments}"
        );
        assert!(session.clock.pauses().is_empty());
    }

    for jobs in [[JOB_RUNNING, nowhere], [nowhere, JOB_RUNNING]] {
        let error =
            Fixture::new().simulated_time().open().await.host.fail(TOOL, json!({"job_ids": jobs})).await;
        assert_eq!(error["details"]["job_id"], nowhere, "{jobs:?}");
    }

    let error = Fixture::new()
        .simulated_time()
        .open()
        .await
        .host
        .fail(TOOL, json!({"job_ids": [JOB_RUNNING, nowhere]}))
        .await;
    let known = &error["details"]["known"];

    assert_eq!((&known["items"][0]["status"], &known["status"]), (&json!("RUNNING"), &Value::Null));
}

#[tokio::test]
async fn the_answer_contains_only_the_selected_fields() {
    let mut session = Fixture::new().simulated_time().open().await;
    let end = session.wait(json!({"job_id": JOB_FAILED, "fields": ["verdicts", "items.run_id"]})).await;
    assert_eq!(end, json!({"verdicts": {"FAILED": 1}, "items": [{"run_id": RUN_FAILED}]}));
}
