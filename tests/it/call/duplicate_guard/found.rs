//! The first call has happened: its record is told instead of made again.

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use super::{cases, lost_after, lost_before, open, plan, start, text};
use crate::support::host::Host;

#[tokio::test]
async fn what_has_happened_is_told_once_and_not_done_again() {
    for case in cases() {
        let mut scene = open().await;
        let before = scene.count(case.list).await;
        scene.lose(case.tool, &case.arguments, lost_after()).await;

        let error = scene.host.fail(case.tool, case.arguments.clone()).await;
        let message = format!("{} {}: {error}", case.tool, case.arguments);

        assert_eq!(error["code"], "conflict", "{message}");
        assert!(text(&error["message"]).contains("of 12 s ago"), "{message}");
        assert!(text(&error["hint"]).ends_with("to do it again all the same, call once more"), "{message}");
        assert_eq!(error["details"]["found_count"], 1, "{message}");
        assert_eq!(scene.count(case.list).await, before + 1, "{message}");

        let told = error["details"]["found"][0].as_object().expect("a record").clone();
        let listed = scene.host.succeed(case.list, json!({"page_size": 100})).await;
        let holds = |record: &serde_json::Value| told.iter().all(|(name, value)| record[name] == *value);

        assert!(listed["data"].as_array().expect("a list").iter().any(holds), "{message}");
    }
}

#[tokio::test]
async fn who_was_told_and_calls_again_means_it() {
    let mut scene = open().await;
    let before = scene.count("list_jobs").await;
    scene.lose("start_run", &start(), lost_after()).await;
    scene.host.fail("start_run", start()).await;
    scene.host.succeed("start_run", start()).await;
    scene.host.succeed("start_run", start()).await;

    assert_eq!(scene.count("list_jobs").await, before + 3);
}

#[tokio::test]
async fn what_has_not_happened_is_done_once() {
    for case in cases() {
        let mut scene = open().await;
        let before = scene.count(case.list).await;
        scene.lose(case.tool, &case.arguments, lost_before()).await;
        scene.host.succeed(case.tool, case.arguments.clone()).await;
        assert_eq!(scene.count(case.list).await, before + 1, "{} {}", case.tool, case.arguments);
    }
}

#[tokio::test]
async fn what_was_there_long_before_is_not_taken_for_it() {
    let mut scene = open().await;
    // By somebody else: a server knows what it made itself.
    let mut other = Host::open(&scene.service.settings(keys::DEMO, &[])).await;
    other.succeed("start_run", start()).await;
    scene.pass(300).await;

    let before = scene.count("list_jobs").await;
    scene.lose("start_run", &start(), lost_before()).await;
    scene.host.succeed("start_run", start()).await;

    assert_eq!(scene.count("list_jobs").await, before + 1);
}

#[tokio::test]
async fn a_call_that_is_lost_twice_is_found_by_its_first_time() {
    let mut scene = open().await;
    scene.lose("start_run", &start(), lost_before()).await;
    scene.pass(400).await;
    scene.lose("start_run", &start(), lost_after()).await;
    let error = scene.host.fail("start_run", start()).await;
    assert_eq!((&error["code"], &error["details"]["found_count"]), (&json!("conflict"), &json!(1)));
}

#[tokio::test]
async fn five_records_are_shown_and_all_are_counted() {
    let mut scene = open().await;
    let mut many = start();
    many["instances"] = json!(7);
    scene.lose("start_run", &many, lost_after()).await;
    let details = scene.host.fail("start_run", many).await["details"].clone();
    assert_eq!((details["found"].as_array().map(Vec::len), &details["found_count"]), (Some(5), &json!(7)));
}

/// An execution is asked for its export in a way that makes none where there is one.
#[tokio::test]
async fn an_export_of_an_execution_is_found_or_made_and_never_made_twice() {
    let arguments = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED});
    let mut scene = open().await;
    scene.lose("export_tmsys_run", &arguments, lost_after()).await;

    let error = scene.host.fail("export_tmsys_run", arguments.clone()).await;

    assert_eq!(error["code"], "conflict", "{error}");

    let found = &error["details"]["found"][0];

    assert_eq!((&found["already_exported"], &found["runs_processed"]), (&json!(true), &json!([])), "{error}");

    let mut scene = open().await;
    scene.lose("export_tmsys_run", &arguments, lost_before()).await;

    let made = scene.host.succeed("export_tmsys_run", arguments.clone()).await;

    assert!(made["already_exported"] != true && made["runs_processed"] != json!([]), "{made}");

    let once = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED, "force_new_run": false});
    let again = scene.host.succeed("export_tmsys_run", once).await;

    assert_eq!(again["already_exported"], true, "{again}");
    assert_eq!(again["tmsys_plan_id"], made["tmsys_plan_id"], "there is one export");
}

#[tokio::test]
async fn what_an_equal_call_was_answered_with_is_not_taken_for_another() {
    for (tool, arguments, list, id) in [
        ("start_run", start(), "list_jobs", "/job_ids/0"),
        ("start_test_plan_run", plan(), "list_test_plan_executions", "/test_plan_execution_id"),
    ] {
        let mut scene = open().await;
        let before = scene.count(list).await;
        let known = scene.host.succeed(tool, arguments.clone()).await.pointer(id).cloned();
        assert!(known.as_ref().is_some_and(serde_json::Value::is_string), "{tool}");
        scene.lose(tool, &arguments, lost_before()).await;
        scene.host.succeed(tool, arguments.clone()).await;
        assert_eq!(scene.count(list).await, before + 2, "{tool}: the lost one is made up for");

        scene.lose(tool, &arguments, lost_after()).await;
        let error = scene.host.fail(tool, arguments).await;
        assert_eq!(
            (&error["code"], &error["details"]["found_count"]),
            (&json!("conflict"), &json!(1)),
            "{error}"
        );
        assert_eq!(scene.count(list).await, before + 3, "{tool}");
    }
}

#[tokio::test]
async fn what_was_told_is_not_taken_for_a_later_call() {
    let mut scene = open().await;
    let before = scene.count("list_jobs").await;
    scene.lose("start_run", &start(), lost_after()).await;

    assert_eq!(scene.host.fail("start_run", start()).await["code"], "conflict");

    scene.lose("start_run", &start(), lost_before()).await;
    scene.host.succeed("start_run", start()).await;

    assert_eq!(scene.count("list_jobs").await, before + 2);
}
