//! Summaries of the latest result of a plan or a test.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::TOOL;
use crate::support::{
    fixture::{Fixture, Session},
    stub::Stub,
};

/// Returns the record of the list with the latest time in `field`.
fn latest<'a>(list: &'a Value, field: &str) -> &'a Value {
    let records = list["data"].as_array().expect("a list").iter();
    records.max_by_key(|record| record[field].as_str()).expect("a record")
}

#[tokio::test]
async fn the_latest_execution_of_a_plan_is_summarized_and_compared() {
    let mut session = Fixture::new().all_tools().open().await;
    let filter = json!({"test_plan_id": seed::PLAN_SMOKE, "page_size": 100});
    let executions = session.host.succeed("list_test_plan_executions", filter).await;

    let arguments = json!({"test_plan_id": seed::PLAN_SMOKE, "compare_with": "previous"});
    let summary = session.host.succeed(TOOL, arguments).await;

    assert_eq!(summary["target_type"], "test_plan_execution");
    assert_eq!(summary["target_id"], latest(&executions, "started_at")["id"]);
    assert!(summary["comparison"].is_object(), "{summary}");
}

#[tokio::test]
async fn the_latest_run_of_a_test_is_summarized() {
    let mut session = Fixture::new().open().await;

    for test in [seed::TEST_PASSES, seed::TEST_FLAKY, seed::TEST_FAILS, seed::TEST_DISCOVERY] {
        let fields = "created_at,multiplayer_run_id";
        let filter = json!({"multiplayer_test_id": test, "page_size": 100, "fields": fields});
        let runs = session.host.succeed("list_runs", filter).await;
        let summary = session.host.succeed(TOOL, json!({"multiplayer_test_id": test})).await;

        assert_eq!(summary["target_type"], "run");
        assert_eq!(summary["target_id"], latest(&runs, "created_at")["multiplayer_run_id"], "{test}");
    }
}

#[tokio::test]
async fn a_queued_execution_is_the_latest_only_if_none_was_started() {
    for (started_at, expected) in [(json!("2026-01-01T00:00:00Z"), "old"), (json!(null), "queued")] {
        let stub = Stub::start(move |target: String| {
            let records = json!([
                {"id": "queued", "status": "queued", "started_at": null},
                {"id": "old", "status": "completed", "started_at": started_at},
            ]);
            async move {
                let is_list = target.contains("/test-plan-executions?");
                let body = if is_list {
                    json!({"data": records, "pagination": {"total_pages": 1}})
                } else {
                    json!({"id": target.rsplit('/').next(), "data": [], "pagination": {"total_pages": 1}})
                };
                (200, body)
            }
        })
        .await;
        let mut session = Fixture::new().open_with(stub).await;
        let summary = session.host.succeed(TOOL, json!({"test_plan_id": seed::PLAN_SMOKE})).await;

        assert_eq!(summary["target_id"], expected);
    }
}

#[tokio::test]
async fn a_plan_without_executions_is_not_found() {
    let Session { service: _service, mut host, .. } = Fixture::new().open().await;
    let plan = "00000000-0000-4000-8000-000000000000";
    let error = host.fail(TOOL, json!({"test_plan_id": plan})).await;

    assert_eq!(error["code"], "not_found");
    assert!(error["message"].as_str().is_some_and(|message| message.contains(plan)), "{error}");
    assert!(error["hint"].is_string(), "{error}");
}

#[tokio::test]
async fn the_newest_run_of_the_project_is_summarized_without_an_id() {
    let mut session = Fixture::new().open().await;
    let newest = session.host.succeed("list_runs", json!({"newest": 1, "fields": "id"})).await;
    let summary = session.host.succeed(TOOL, json!({"latest": true})).await;

    assert_eq!(summary["target_type"], "run");
    assert_eq!(summary["target_id"], newest["data"][0]["multiplayer_run_id"]);
}

#[tokio::test]
async fn the_newest_run_is_not_guessed_if_a_page_cannot_be_read() {
    let stub = Stub::start(async |target: String| {
        let run = json!({"multiplayer_run_id": "r1", "created_at": "2026-01-01T00:00:00Z"});
        if target.contains("page=1&") {
            (403, json!({"error": "no"}))
        } else {
            (200, json!({"data": [run], "pagination": {"total_pages": 2}}))
        }
    })
    .await;
    let mut session = Fixture::new().open_with(stub).await;

    assert_eq!(session.host.fail(TOOL, json!({"latest": true})).await["code"], "permission_denied");
}

#[tokio::test]
async fn latest_with_its_default_value_is_no_second_subject() {
    let mut session = Fixture::new().open().await;
    let arguments = json!({"run_id": seed::RUN_FAILED, "latest": false});
    assert_eq!(session.host.succeed(TOOL, arguments).await["target_id"], seed::RUN_FAILED);

    for arguments in [
        json!({}),
        json!({"latest": false}),
        json!({"compare_with": "previous"}),
        json!({"latest": true, "run_id": seed::RUN_FAILED}),
        json!({"test_plan_id": seed::PLAN_SMOKE, "multiplayer_test_id": seed::TEST_FLAKY}),
    ] {
        let violations = session.host.violations(TOOL, arguments).await;
        assert!(violations[0].contains("exactly one of"), "{violations:?}");
    }
}
