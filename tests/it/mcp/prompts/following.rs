//! Each prompt is followed to its end against the sandbox.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{PromptSession, open, steps, text};

const DEMO: (&str, &str) = ("TAS_PROJECT_ID", "demo");
const ALL: (&str, &str) = ("TAS_TOOLSETS", "all");

#[tokio::test]
async fn triage_finds_the_step_and_the_bugs_without_a_write() {
    for more in [[DEMO, ALL].as_slice(), &[]] {
        let mut session = open(keys::DEMO, more).await;
        let called = session.follow("triage_run", json!({"run_id": seed::RUN_FAILED})).await;

        assert_eq!(called, ["summarize_results", "get_run", "list_run_bugs", "get_bug"]);
        assert_eq!(session.answer("get_run")["result"], "FAILED");

        let bugs = session.answer("list_run_bugs")["data"].as_array().expect("bugs").clone();

        assert!(!bugs.is_empty());
        assert!(session.answer("summarize_results").to_string().contains(seed::RUN_FAILED));
        assert_eq!(session.answer("get_bug")["id"], bugs[bugs.len() - 1]["bug_id"]);
        assert_eq!(session.service.writes().await, [""; 0]);
    }
}

#[tokio::test]
async fn triage_with_an_organization_key_needs_only_the_run() {
    let projects = [("TAS_PROJECTS", "demo,arena")];
    let mut session = open(keys::ORGANIZATION, &projects).await;
    session.follow("triage_run", json!({"run_id": seed::RUN_FAILED})).await;

    assert_eq!(session.answer("get_bug")["project_id"], "demo");

    let mut session = open(keys::ORGANIZATION, &projects).await;
    session.follow("triage_run", json!({"run_id": seed::ARENA_RUN_FAILED})).await;

    assert_eq!(session.answer("list_run_bugs")["data"][0]["bug_id"], seed::ARENA_BUG);
    assert_eq!(session.answer("get_bug")["error"]["code"], "feature_disabled");

    let arguments = json!({"run_id": seed::RUN_FAILED, "project_id": "demo"});
    let text = text(&mut session.host, "triage_run", arguments).await;

    assert!(!text.contains("<get_run.project_id>"), "{text}");
}

#[tokio::test]
async fn triage_of_a_run_without_bugs_skips_get_bug() {
    let mut session = open(keys::DEMO, &[]).await;
    session.follow("triage_run", json!({"run_id": seed::RUN_PASSED})).await;
    assert!(!session.answers.contains_key("get_bug"));
    assert_eq!(session.answer("get_run")["result"], "SUCCESS");
}

async fn follow_test_this_build(session: &mut PromptSession, arguments: Value) -> Vec<String> {
    follow_start(session, "test_this_build", arguments).await
}

/// Follows a prompt that starts runs; asserts that one start was sent and everything it started is over.
async fn follow_start(session: &mut PromptSession, prompt: &str, arguments: Value) -> Vec<String> {
    // An Android build needs the phones. A person knows this, but the records do not say it.
    session.chooses = |record| record["id"] == seed::CONFIG_PHONES || record["id"] == seed::PLAN_SMOKE;
    let called = session.follow(prompt, arguments).await;
    let writes = session.service.writes().await;

    assert_eq!(writes.len(), 1, "{writes:?}");
    assert!(writes[0].ends_with("/runs 200") || writes[0].ends_with("/runs 201"), "{writes:?}");

    let start = called.iter().find(|tool| tool.starts_with("start_")).expect("a start");

    assert_eq!(session.answer(start)["build_id"], seed::BUILD_ANDROID);

    let wait = session.answer("wait_for_completion");

    assert_eq!((&wait["status"], &wait["still_running"]), (&json!("completed"), &json!([])), "{wait}");
    called
}

#[tokio::test]
async fn a_build_is_tested_with_a_plan() {
    let mut session = open(keys::DEMO, &[DEMO]).await;
    let arguments = json!({"build_id": seed::BUILD_ANDROID, "test_plan_id": seed::PLAN_SMOKE});
    let called = follow_test_this_build(&mut session, arguments).await;
    let expected =
        ["list_deployment_configs", "start_test_plan_run", "wait_for_completion", "summarize_results"];

    assert_eq!(called[called.len() - 4..], expected);

    let execution = session.answer("start_test_plan_run")["test_plan_execution_id"].clone();
    let summary = session.answer("summarize_results");

    assert_eq!((&summary["state"], &summary["target_id"]), (&json!("completed"), &execution));

    let runs = session.host.succeed("list_runs", json!({"test_plan_execution_id": execution})).await;
    let runs = runs["data"].as_array().expect("runs").clone();

    assert!(!runs.is_empty() && runs.iter().all(|run| run["result"].is_string()), "{runs:?}");
}

#[tokio::test]
async fn a_build_is_tested_with_a_test_on_a_device_in_a_project() {
    let mut session = open(keys::ORGANIZATION, &[]).await;
    let arguments = json!({
        "build_id": seed::BUILD_ANDROID,
        "test_id": seed::TEST_PASSES,
        "deployment_config_id": seed::CONFIG_PHONES,
        "project_id": "demo",
    });

    let called = follow_test_this_build(&mut session, arguments).await;

    assert_eq!(called, ["start_run", "wait_for_completion", "summarize_results"]);
    assert_eq!(session.answer("summarize_results")["all_passed"], true);
}

#[tokio::test]
async fn a_build_is_tested_with_a_plan_that_the_person_chooses() {
    let mut session = open(keys::DEMO, &[]).await;
    let called = follow_test_this_build(&mut session, json!({"build_id": seed::BUILD_ANDROID})).await;
    assert_eq!(called[0], "list_test_plans");
    assert!(session.answer("start_test_plan_run")["test_plan_execution_id"].is_string());
}

#[tokio::test]
async fn a_plan_is_started_with_the_offered_tool() {
    let tools = ("TAS_TOOLSETS", "default,-start_test_plan_run");
    let mut session = open(keys::DEMO, &[DEMO, tools]).await;
    let arguments = json!({"build_id": seed::BUILD_ANDROID, "test_plan_id": seed::PLAN_SMOKE});
    let called = follow_test_this_build(&mut session, arguments).await;
    assert_eq!(called[0], "get_test_plan");
    assert!(called.contains(&"start_run".to_owned()), "{called:?}");
}

#[tokio::test]
async fn a_cross_platform_plan_is_started_with_a_device_for_each_slot() {
    let mut session = open(keys::DEMO, &[DEMO]).await;
    let given = json!({
        "build_id": seed::BUILD_WINDOWS,
        "test_plan_id": seed::PLAN_CROSS_PLATFORM,
        "deployment_config_id": seed::CONFIG_WINDOWS,
    });
    let text = text(&mut session.host, "test_this_build", given).await;
    let steps = steps(&text);
    let tools: Vec<_> = steps.iter().map(|step| step.tool.as_str()).collect();
    let expected = ["get_test_plan", "start_test_plan_run", "wait_for_completion", "summarize_results"];

    assert_eq!(tools, expected);

    let arguments = |step: usize| serde_json::from_str::<Value>(&steps[step].arguments).expect("JSON");
    let plan = session.host.succeed("get_test_plan", arguments(0)).await;
    let slots: Vec<_> =
        plan["slots"].as_array().expect("slots").iter().map(|slot| slot["index"].clone()).collect();

    assert_eq!(slots, [2, 3]);
    assert!(text.contains("If it has `slots`") && text.contains("`slot_deployment_configs`"), "{text}");

    let mut start = arguments(1);
    session.host.fail("start_test_plan_run", start.clone()).await;
    start["slot_deployment_configs"] = json!({
        "2": {"deployment_config_id": seed::CONFIG_PHONES, "build_id": seed::BUILD_ANDROID},
        "3": {"deployment_config_id": seed::CONFIG_PLAYSTATION, "build_id": seed::BUILD_PLAYSTATION},
    });

    let started = session.host.succeed("start_test_plan_run", start).await;

    assert!(started["test_plan_execution_id"].is_string(), "{started}");
}

#[tokio::test]
async fn the_report_takes_an_execution_or_the_latest_one_of_a_plan() {
    for (more, arguments) in [
        ([DEMO].as_slice(), json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED})),
        (&[ALL], json!({"test_plan_id": seed::PLAN_SMOKE})),
    ] {
        let mut session = open(keys::DEMO, more).await;
        let called = session.follow("nightly_report", arguments.clone()).await;
        assert_eq!(called.last().map(String::as_str), Some("summarize_results"));
        let summary = session.answer("summarize_results");
        assert_eq!(summary["target_id"], seed::EXECUTION_COMPLETED);
        assert!(summary["comparison"].is_object(), "{summary}");
        assert_eq!(session.service.writes().await, [""; 0]);
    }
}

#[tokio::test]
async fn the_report_compares_with_the_given_execution() {
    let mut session = open(keys::DEMO, &[]).await;
    let arguments = json!({
        "test_plan_execution_id": seed::EXECUTION_IN_PROGRESS,
        "compare_with": seed::EXECUTION_COMPLETED,
    });
    session.follow("nightly_report", arguments).await;

    let summary = session.answer("summarize_results").to_string();

    assert!(
        summary.contains(seed::EXECUTION_IN_PROGRESS) && summary.contains(seed::EXECUTION_COMPLETED),
        "{summary}"
    );
}

#[tokio::test]
async fn a_repeated_export_of_an_execution_creates_no_entry() {
    let mut session = open(keys::DEMO, &[DEMO]).await;
    let arguments = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED});
    let called = session.follow("export_results", arguments.clone()).await;

    assert_eq!(called, ["summarize_results", "export_tmsys_run"]);

    let text = text(&mut session.host, "export_results", arguments.clone()).await;
    let between: Vec<_> =
        ["1. summarize_results", "ask the user", "2. export_tmsys_run"].map(|part| text.find(part)).into();

    assert!(between.is_sorted() && between.iter().all(Option::is_some), "{text}");

    let first = session.answer("export_tmsys_run").clone();

    assert_eq!(first["success"], true, "{first}");

    session.follow("export_results", arguments).await;

    assert_eq!(session.answer("export_tmsys_run")["already_exported"], true);
}

#[tokio::test]
async fn a_run_is_exported() {
    let mut session = open(keys::DEMO, &[]).await;
    let called = session.follow("export_results", json!({"run_id": seed::RUN_PASSED})).await;
    assert_eq!(called, ["summarize_results", "export_tmsys_run"]);
    let exported = session.answer("export_tmsys_run");
    assert_eq!((&exported["success"], &exported["export_type"]), (&json!(true), &json!("single_run")));
    assert_eq!(session.service.writes().await.len(), 1);
}

#[tokio::test]
async fn a_release_smoke_compares_with_the_execution_before() {
    let mut session = open(keys::DEMO, &[DEMO]).await;
    let arguments = json!({"build_id": seed::BUILD_ANDROID, "test_plan_id": seed::PLAN_SMOKE});
    follow_start(&mut session, "release_smoke", arguments).await;
    let comparison = &session.answer("summarize_results")["comparison"];

    assert!(comparison["with"]["target_id"].is_string(), "{comparison}");
    assert_eq!(comparison["still_failing"][0]["test"]["id"], seed::TEST_FAILS, "{comparison}");
}

#[tokio::test]
async fn flaky_tests_of_a_plan_are_found_without_a_write() {
    let mut session = open(keys::DEMO, &[]).await;
    let called = session.follow("keep_flaky_tests_down", json!({"test_plan_id": seed::PLAN_SMOKE})).await;

    assert_eq!(called, ["list_test_plan_executions", "summarize_results", "list_runs", "get_test"]);
    assert_eq!(session.answer("get_test")["id"], seed::TEST_FLAKY);
    let runs = session.answer("list_runs")["data"].as_array().expect("runs").clone();
    let has = |result: &str| runs.iter().any(|run| run["result"] == result);
    assert!(has("SUCCESS") && has("TIMEOUT"), "{runs:?}");
    assert_eq!(session.service.writes().await, [""; 0]);
}

#[tokio::test]
async fn a_test_is_written_after_a_similar_one_was_read() {
    let mut session = open(keys::DEMO, &[]).await;
    for (arguments, expected) in [
        (json!({}), &["list_tests", "get_test", "list_shared_steps", "create_test"][..]),
        (json!({"test_id": seed::TEST_FAILS}), &["get_test", "list_shared_steps", "create_test"]),
    ] {
        let text = text(&mut session.host, "write_a_test", arguments).await;
        let called: Vec<_> = steps(&text).into_iter().map(|step| step.tool).collect();
        assert_eq!(called, expected);
    }
}
