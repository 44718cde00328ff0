//! Repeated calls where the look-up finds the record of the first call.

use serde_json::json;
use tas_mcp::sandbox::seed;

use super::{creating_calls, fixture, reset_after_write, reset_before_write, start_arguments, text};

#[tokio::test]
async fn a_performed_call_is_reported_once_and_not_repeated() {
    for case in creating_calls() {
        let mut session = fixture().open().await;
        let before = session.count_records(case.list).await;
        session.lose_answer(case.tool, &case.arguments, reset_after_write()).await;

        let error = session.host.fail(case.tool, case.arguments.clone()).await;
        let message = format!("{} {}: {error}", case.tool, case.arguments);

        assert_eq!(error["code"], "conflict", "{message}");
        assert!(text(&error["message"]).contains("call 12 s ago"), "{message}");
        assert!(text(&error["hint"]).ends_with("to repeat the call anyway, call again"), "{message}");
        assert_eq!(error["details"]["found_count"], 1, "{message}");
        assert_eq!(session.count_records(case.list).await, before + 1, "{message}");

        let shown_record = error["details"]["found"][0].as_object().expect("a record").clone();
        let listed = session.host.succeed(case.list, json!({"page_size": 100})).await;
        let holds =
            |record: &serde_json::Value| shown_record.iter().all(|(name, value)| record[name] == *value);

        assert!(listed["data"].as_array().expect("a list").iter().any(holds), "{message}");
    }
}

#[tokio::test]
async fn a_repeated_start_after_a_warning_is_sent() {
    let mut session = fixture().open().await;
    let before = session.count_records("list_jobs").await;
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;
    session.host.fail("start_run", start_arguments()).await;
    session.host.succeed("start_run", start_arguments()).await;
    session.host.succeed("start_run", start_arguments()).await;

    assert_eq!(session.count_records("list_jobs").await, before + 3);
}

#[tokio::test]
async fn a_call_that_was_not_performed_is_sent_once() {
    for case in creating_calls() {
        let mut session = fixture().open().await;
        let before = session.count_records(case.list).await;
        session.lose_answer(case.tool, &case.arguments, reset_before_write()).await;
        session.host.succeed(case.tool, case.arguments.clone()).await;
        assert_eq!(session.count_records(case.list).await, before + 1, "{} {}", case.tool, case.arguments);
    }
}

/// Nothing shows which of two equal calls has made a record, so that the caller decides.
#[tokio::test]
async fn the_record_of_an_earlier_equal_call_is_reported_once_too() {
    let mut session = fixture().open().await;
    session.host.succeed("start_run", start_arguments()).await;
    let before = session.count_records("list_jobs").await;
    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;

    let error = session.host.fail("start_run", start_arguments()).await;
    assert_eq!((&error["code"], &error["details"]["found_count"]), (&json!("conflict"), &json!(1)));
    assert!(text(&error["message"]).contains("may also be older"), "{error}");

    session.host.succeed("start_run", start_arguments()).await;
    assert_eq!(session.count_records("list_jobs").await, before + 1);
}

#[tokio::test]
async fn the_newest_records_are_shown() {
    let mut session = fixture().open().await;
    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;
    let job = |hour: usize| json!({"job_id": hour, "created_at": format!("2026-03-02T0{hour}:00:00Z")});
    let jobs: Vec<_> = (0..7).map(job).collect();
    let pagination = json!({"page": 0, "page_size": 100, "total_count": 7, "total_pages": 1});
    session
        .service
        .fault(json!({"operation": "list_jobs", "body": {"data": jobs, "pagination": pagination}}))
        .await;

    let details = session.host.fail("start_run", start_arguments()).await["details"].clone();
    let shown = details["found"].as_array().expect("records").iter().map(|job| job["job_id"].clone());
    assert!(shown.eq([6, 5, 4, 3, 2].map(|hour| json!(hour))), "{details}");
}

#[tokio::test]
async fn the_look_up_after_two_unknown_outcomes_begins_at_the_first_call() {
    let mut session = fixture().open().await;
    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;
    session.advance(400).await;
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;
    let error = session.host.fail("start_run", start_arguments()).await;
    assert_eq!((&error["code"], &error["details"]["found_count"]), (&json!("conflict"), &json!(1)));
}

#[tokio::test]
async fn at_most_five_records_are_shown_and_all_are_counted() {
    let mut session = fixture().open().await;
    let mut seven_instances = start_arguments();
    seven_instances["instances"] = json!(7);
    session.lose_answer("start_run", &seven_instances, reset_after_write()).await;
    let details = session.host.fail("start_run", seven_instances).await["details"].clone();
    assert_eq!((details["found"].as_array().map(Vec::len), &details["found_count"]), (Some(5), &json!(7)));
}

/// `force_new_run: false` finds an existing export without making another one.
#[tokio::test]
async fn an_export_of_an_execution_is_never_made_twice() {
    let arguments = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED});
    let mut session = fixture().open().await;
    session.lose_answer("export_tmsys_run", &arguments, reset_after_write()).await;

    let error = session.host.fail("export_tmsys_run", arguments.clone()).await;

    assert_eq!(error["code"], "conflict", "{error}");

    let found = &error["details"]["found"][0];

    assert_eq!((&found["already_exported"], &found["runs_processed"]), (&json!(true), &json!([])), "{error}");

    let mut session = fixture().open().await;
    session.lose_answer("export_tmsys_run", &arguments, reset_before_write()).await;

    let made = session.host.succeed("export_tmsys_run", arguments.clone()).await;

    assert!(made["already_exported"] != true && made["runs_processed"] != json!([]), "{made}");

    let once = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED, "force_new_run": false});
    let again = session.host.succeed("export_tmsys_run", once).await;

    assert_eq!(again["already_exported"], true, "{again}");
    assert_eq!(again["tmsys_plan_id"], made["tmsys_plan_id"], "there is one export");
}
