//! The comparison with the last result on a baseline build.

use serde_json::{Value, json};

use super::{
    TOOL, each, execution, fixture,
    history::{History, PLAN, Test, uuid},
};
use crate::support::stub::Stub;

/// Adds `baseline` to arguments.
fn on_build(mut arguments: Value, build: &str) -> Value {
    arguments["baseline"] = json!(build);
    arguments
}

fn test(number: usize, result: &str) -> Test {
    Test::new(number, &[result])
}

/// Three executions: one that passed, one on the baseline build, and the one that is summarized.
fn three_executions() -> History {
    let mut history = History::new(&[test(1, "SUCCESS"), test(2, "SUCCESS")]);
    history.add(&[test(1, "SUCCESS"), test(2, "FAILED"), test(3, "FAILED"), Test::new(4, &[])]);
    history.add(&[
        test(1, "ERROR"),
        test(2, "BLOCKED"),
        test(3, "SUCCESS"),
        test(4, "FAILED"),
        test(5, "FAILED"),
        test(6, "SUCCESS"),
    ]);

    history
}

#[tokio::test]
async fn failures_are_new_known_fixed_or_without_a_verdict_on_the_build() {
    for build in ["build 1", "BUILD 1", &uuid(0xb, 1)] {
        let summary = three_executions().summary(on_build(execution(&uuid(0xe, 2)), build)).await;
        let baseline = &summary["baseline"];

        assert_eq!(baseline["with"]["target_id"], uuid(0xe, 1));
        assert_eq!(baseline["with"]["build"]["name"], "build 1");
        for (list, expected) in [
            ("new", vec!["Test 001 ERROR SUCCESS"]),
            ("known", vec!["Test 002 BLOCKED FAILED"]),
            ("fixed", vec!["Test 003 SUCCESS FAILED"]),
            ("without_verdict", vec!["Test 004 FAILED no_run", "Test 005 FAILED -"]),
        ] {
            let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
            let parts = ["/test/name", "/verdict", "/was"].map(|field| each(&baseline[list], field));
            let found: Vec<_> = (0..parts[0].len())
                .map(|place| parts.each_ref().map(|part| text(&part[place])).join(" "))
                .collect();
            assert_eq!(found, expected, "{list}");
        }
    }
}

#[tokio::test]
async fn the_latest_earlier_result_that_passed_is_a_baseline() {
    let mut history = three_executions();
    history.add(&[test(1, "SUCCESS")]);
    let summary = history.summary(on_build(execution(&uuid(0xe, 2)), "latest-passed")).await;
    let baseline = &summary["baseline"];

    assert_eq!(baseline["with"]["target_id"], uuid(0xe, 0));
    assert_eq!(
        each(&baseline["new"], "/test/name"),
        ["Test 002", "Test 001"],
        "the worst verdict comes first"
    );
    assert_eq!(baseline["known"], json!([]));
}

#[tokio::test]
async fn an_unfinished_result_is_no_baseline_and_the_builds_that_could_be_are_named() {
    let mut history = History::new(&[test(1, "SUCCESS")]);
    history.add(&[test(1, "SUCCESS").going_on()]);
    history.add(&[test(1, "FAILED")]);

    for build in ["build 1", "build 2", "no such build"] {
        let summary = history.clone().summary(on_build(json!({"test_plan_id": PLAN}), build)).await;
        let note = summary["baseline"]["note"].as_str().expect("a note");
        assert!(note.contains(&format!("`{build}`")) && note.contains("`build 0`"), "{note}");
        assert_eq!((&summary["baseline"]["with"], &summary["baseline"]["new"]), (&Value::Null, &Value::Null));
    }
}

#[tokio::test]
async fn a_run_and_a_job_are_compared_with_the_last_run_of_the_test_on_the_build() {
    let mut history = History::new(&[test(1, "SUCCESS"), test(2, "FAILED")]);
    history.add(&[Test::new(1, &["TIMEOUT", "FAILED"])]);

    for arguments in [json!({"run_id": "r0002a00001"}), json!({"job_id": uuid(0x10, 2)})] {
        for build in ["build 0", "latest-passed"] {
            let summary = history.clone().summary(on_build(arguments.clone(), build)).await;
            assert_eq!(summary["baseline"]["with"]["target_id"], "r0000a00000", "{build}");
            assert_eq!(each(&summary["baseline"]["new"], "/test/name"), ["Test 001"]);
        }
        // The other attempt of the job is no baseline.
        let summary = history.clone().summary(on_build(arguments, "build 1")).await;
        assert!(summary["baseline"]["note"].is_string(), "{summary}");
    }
}

#[tokio::test]
async fn a_baseline_that_cannot_be_read_leaves_the_summary() {
    let history = three_executions();
    let stub = Stub::start(move |target: String| {
        let answer = if target.contains("/test-plan-executions?") {
            (404, json!({"error": "no"}))
        } else {
            history.answer(&target)
        };
        async move { answer }
    })
    .await;
    let mut session = fixture().open_with(stub).await;
    let summary = session.host.succeed(TOOL, on_build(execution(&uuid(0xe, 2)), "build 1")).await;

    assert_eq!(summary["baseline"], json!({"note": "it could not be read: see `unread`"}));
    assert_eq!(summary["unread"][0]["what"], "baseline build 1");
    assert!(summary["verdicts"].is_object(), "{summary}");
}
