//! Repeated calls where the look-up finds the record of the first call.

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use super::{
    creating_calls, fixture, plan_arguments, reset_after_write, reset_before_write, start_arguments, text,
};
use crate::support::host::Host;

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

#[tokio::test]
async fn an_older_record_is_not_taken_for_the_record_of_the_call() {
    let mut session = fixture().open().await;
    // Another server makes this record, because a server ignores the records of its own answered calls.
    let mut other_host = Host::open(&session.service.settings(keys::DEMO, &[])).await;
    other_host.succeed("start_run", start_arguments()).await;
    session.advance(300).await;

    let before = session.count_records("list_jobs").await;
    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;
    session.host.succeed("start_run", start_arguments()).await;

    assert_eq!(session.count_records("list_jobs").await, before + 1);
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

#[tokio::test]
async fn the_record_of_an_answered_call_is_not_taken_for_that_of_a_lost_call() {
    for (tool, arguments, list, id) in [
        ("start_run", start_arguments(), "list_jobs", "/job_ids/0"),
        ("start_test_plan_run", plan_arguments(), "list_test_plan_executions", "/test_plan_execution_id"),
    ] {
        let mut session = fixture().open().await;
        let before = session.count_records(list).await;
        let first_id = session.host.succeed(tool, arguments.clone()).await.pointer(id).cloned();
        assert!(first_id.as_ref().is_some_and(serde_json::Value::is_string), "{tool}");
        session.lose_answer(tool, &arguments, reset_before_write()).await;
        session.host.succeed(tool, arguments.clone()).await;
        assert_eq!(session.count_records(list).await, before + 2, "{tool}: the lost call is repeated");

        session.lose_answer(tool, &arguments, reset_after_write()).await;
        let error = session.host.fail(tool, arguments).await;
        assert_eq!(
            (&error["code"], &error["details"]["found_count"]),
            (&json!("conflict"), &json!(1)),
            "{error}"
        );
        assert_eq!(session.count_records(list).await, before + 3, "{tool}");
    }
}

#[tokio::test]
async fn a_reported_record_is_not_taken_for_that_of_a_later_call() {
    let mut session = fixture().open().await;
    let before = session.count_records("list_jobs").await;
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;

    assert_eq!(session.host.fail("start_run", start_arguments()).await["code"], "conflict");

    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;
    session.host.succeed("start_run", start_arguments()).await;

    assert_eq!(session.count_records("list_jobs").await, before + 2);
}
