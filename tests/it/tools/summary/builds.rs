//! The comparison with the last result on a build, or with the latest one that passed.

use serde_json::{Value, json};

use super::{
    TOOL, against, changes, each, execution, fixture,
    history::{History, PLAN, Test, uuid},
};
use crate::support::stub::Stub;

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
async fn a_build_by_name_or_id_stands_for_its_last_result() {
    for build in ["build 1", "BUILD 1", &uuid(0xb, 1)] {
        let summary = three_executions().summary(against(execution(&uuid(0xe, 2)), build)).await;
        let comparison = &summary["comparison"];

        assert_eq!(comparison["with"]["target_id"], uuid(0xe, 1));
        assert_eq!(comparison["with"]["build"]["name"], "build 1");
        for (list, expected) in [
            ("new", vec!["Test 004 FAILED no_run", "Test 005 FAILED -", "Test 001 ERROR SUCCESS"]),
            ("known", vec!["Test 002 BLOCKED FAILED"]),
            ("fixed", vec!["Test 003 SUCCESS FAILED"]),
        ] {
            assert_eq!(changes(&comparison[list]), expected, "{list}");
        }
    }
}

#[tokio::test]
async fn the_latest_earlier_result_that_passed_is_compared_with() {
    let mut history = three_executions();
    history.add(&[test(1, "SUCCESS")]);
    let summary = history.summary(against(execution(&uuid(0xe, 2)), "latest-passed")).await;
    let comparison = &summary["comparison"];

    assert_eq!(comparison["with"]["target_id"], uuid(0xe, 0));
    assert_eq!(
        each(&comparison["new"], "/test/name"),
        ["Test 004", "Test 005", "Test 002", "Test 001"],
        "the worst verdict comes first"
    );
    assert_eq!(comparison["known"], json!([]));
}

#[tokio::test]
async fn an_unfinished_result_is_not_compared_with_and_the_builds_of_others_are_named() {
    let mut history = History::new(&[test(1, "SUCCESS")]);
    history.add(&[test(1, "SUCCESS").going_on()]);
    history.add(&[test(1, "FAILED")]);

    for build in ["build 1", "build 2", "no such build"] {
        let summary = history.clone().summary(against(json!({"test_plan_id": PLAN}), build)).await;
        let note = summary["comparison"]["note"].as_str().expect("a note");
        assert!(note.contains(&format!("`{build}`")) && note.contains("`build 0`"), "{note}");
        assert_eq!(
            (&summary["comparison"]["with"], &summary["comparison"]["new"]),
            (&Value::Null, &Value::Null)
        );
    }
}

#[tokio::test]
async fn a_run_and_a_job_are_compared_with_the_last_run_of_the_test_on_the_build() {
    let mut history = History::new(&[test(1, "SUCCESS"), test(2, "FAILED")]);
    history.add(&[Test::new(1, &["TIMEOUT", "FAILED"])]);

    for (arguments, earlier) in [
        (json!({"run_id": "r0002a00001"}), "r0000a00000".to_owned()),
        (json!({"job_id": uuid(0x10, 2)}), uuid(0x10, 0)),
    ] {
        for build in ["build 0", "latest-passed"] {
            let summary = history.clone().summary(against(arguments.clone(), build)).await;
            assert_eq!(summary["comparison"]["with"]["target_id"], earlier, "{build}");
            assert_eq!(each(&summary["comparison"]["new"], "/test/name"), ["Test 001"]);
        }
        // The other attempt of the job is not compared with.
        let summary = history.clone().summary(against(arguments, "build 1")).await;
        assert!(summary["comparison"]["note"].is_string(), "{summary}");
    }
}

#[tokio::test]
async fn builds_that_cannot_be_read_leave_the_summary() {
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
    let summary = session.host.succeed(TOOL, against(execution(&uuid(0xe, 2)), "build 1")).await;

    assert_eq!(summary["comparison"], json!({"note": "it could not be read: see `unread`"}));
    assert_eq!(summary["unread"][0]["what"], "compare_with build 1");
    assert!(summary["verdicts"].is_object(), "{summary}");
}
