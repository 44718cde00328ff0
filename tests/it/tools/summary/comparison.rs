//! Comparison with an earlier result: one with an id, the previous one, one that passed, or one on a build.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{
    EXECUTION_COMPLETED, EXECUTION_IN_PROGRESS, JOB_FAILED, RUN_FAILED, TEST_FAILS,
};

use super::{
    TOOL, against, changes, each, execution, fixture,
    history::{History, PLAN, Test, uuid},
};
use crate::support::{fixture::Session, stub::Stub};

/// Returns two executions with every kind of change.
fn two_executions() -> History {
    let mut history = History::new(&[
        Test::new(1, &["SUCCESS"]),
        Test::new(2, &["FAILED"]),
        Test::new(3, &["FAILED"]),
        Test::new(4, &["SUCCESS"]),
        Test::new(5, &["SUCCESS"]),
        Test::new(6, &["ERROR"]),
        Test::new(9, &["SUCCESS"]),
    ]);
    history.add(&[
        Test::new(1, &["FAILED"]),
        Test::new(2, &["SUCCESS"]),
        Test::new(3, &["BLOCKED"]),
        Test::new(4, &[]),
        Test::new(5, &["SUCCESS"]).going_on(),
        Test::new(7, &["TIMEOUT"]),
        Test::new(8, &["SUCCESS"]),
        Test::new(9, &["SUCCESS"]),
    ]);

    history
}

#[tokio::test]
async fn tests_are_listed_by_their_change() {
    for with in ["previous", &uuid(0xe, 0)] {
        let summary = two_executions().summary(against(execution(&uuid(0xe, 1)), with)).await;
        let comparison = &summary["comparison"];

        assert_eq!(
            comparison["with"],
            json!({
                "target_type": "test_plan_execution", "target_id": uuid(0xe, 0),
                "started_at": "2026-03-01T08:00:00+00:00", "build": {"id": uuid(0xb, 0), "name": "build 0"},
            })
        );
        assert_eq!(changes(&comparison["new"]), ["Test 001 FAILED SUCCESS", "Test 007 TIMEOUT -"]);
        assert_eq!(changes(&comparison["fixed"]), ["Test 002 SUCCESS FAILED"]);
        assert_eq!(changes(&comparison["known"]), ["Test 003 BLOCKED FAILED"]);

        let not_run = ["Test 005 running SUCCESS", "Test 004 no_run SUCCESS", "Test 006 - ERROR"];

        assert_eq!(changes(&comparison["not_run"]), not_run);
        assert_eq!(comparison["new"][0]["run_id"], "r0007a00000");
    }
}

#[tokio::test]
async fn the_worst_of_several_jobs_of_a_test_counts() {
    let mut history = History::new(&[Test::new(1, &["SUCCESS"]), Test::new(1, &["SUCCESS"])]);
    history.add(&[Test::new(1, &["SUCCESS"]), Test::new(1, &["TIMEOUT"]), Test::new(1, &["FAILED"])]);
    let summary = history.summary(against(execution(&uuid(0xe, 1)), "previous")).await;
    assert_eq!(changes(&summary["comparison"]["new"]), ["Test 001 FAILED SUCCESS"]);
}

#[tokio::test]
async fn the_previous_execution_is_the_latest_completed_earlier_one() {
    let test = |result: &str| [Test::new(1, &[result])];
    let mut history = History::new(&test("SUCCESS"));
    history.add(&test("FAILED"));
    history.add(&test("SUCCESS").map(Test::going_on));
    history.add(&test("FAILED"));
    history.add(&test("SUCCESS"));

    for (number, earlier) in [(4, Some(3)), (3, Some(1)), (1, Some(0)), (0, None)] {
        let summary = history.clone().summary(against(execution(&uuid(0xe, number)), "previous")).await;
        let with = earlier.map_or(Value::Null, |earlier| json!(uuid(0xe, earlier)));
        assert_eq!(summary["comparison"]["with"]["target_id"], with, "{number}");
        let is_noted = summary["comparison"]["note"].as_str().is_some_and(|note| note.contains("no earlier"));
        assert_eq!(is_noted, earlier.is_none());
    }
}

#[tokio::test]
async fn the_previous_run_belongs_to_the_same_test_and_another_job() {
    let mut history = History::new(&[Test::new(1, &["SUCCESS"]), Test::new(2, &["FAILED"])]);
    history.add(&[Test::new(1, &["TIMEOUT", "FAILED"])]);
    history.add(&[Test::new(1, &["SUCCESS"]).going_on()]);

    for seed in 0..3 {
        for (arguments, was) in [
            (json!({"run_id": "r0002a00001"}), "r0000a00000".to_owned()),
            (json!({"job_id": uuid(0x10, 2)}), uuid(0x10, 0)),
        ] {
            let summary = history.shuffled(seed).summary(against(arguments, "previous")).await;
            assert_eq!(summary["comparison"]["with"]["target_id"], was);
            assert_eq!(changes(&summary["comparison"]["new"]), ["Test 001 FAILED SUCCESS"]);
        }
    }

    let summary = history.summary(against(json!({"run_id": "r0000a00000"}), "previous")).await;

    assert_eq!(summary["comparison"]["note"], "there is no earlier completed run of this test");
}

#[tokio::test]
async fn compare_with_accepts_ids_of_every_kind() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    for (with, kind) in
        [(EXECUTION_COMPLETED, "test_plan_execution"), (RUN_FAILED, "run"), (JOB_FAILED, "job")]
    {
        for target in
            [execution(EXECUTION_IN_PROGRESS), json!({"job_id": JOB_FAILED}), json!({"run_id": RUN_FAILED})]
        {
            let summary = host.succeed(TOOL, against(target, with)).await;
            let found = &summary["comparison"]["with"];
            assert_eq!([&found["target_type"], &found["target_id"]], [kind, with]);
        }
    }

    let summary = host.succeed(TOOL, against(execution(EXECUTION_IN_PROGRESS), "previous")).await;

    assert_eq!(summary["comparison"]["with"]["target_id"], EXECUTION_COMPLETED);
    assert_eq!(each(&summary["comparison"]["not_run"], "/was"), ["FAILED", "SUCCESS", "SUCCESS"]);
    assert_eq!(summary["comparison"]["not_run"][0]["test"]["id"], TEST_FAILS);
}

#[tokio::test]
async fn an_unknown_id_to_compare_with_is_noted() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    for with in ["nowhere", "00000000-0000-4000-8000-000000000000"] {
        let summary = host.succeed(TOOL, against(execution(EXECUTION_COMPLETED), with)).await;
        assert_eq!(summary["verdicts"], json!({"FAILED": 1, "SUCCESS": 3}));
        let note = summary["comparison"]["note"].as_str().expect("a note");
        assert!(note.contains("is no id of a result of this project"), "{note}");
    }
}

#[tokio::test]
async fn an_unreadable_earlier_result_is_noted() {
    let Session { service, mut host, .. } = fixture().open().await;
    service.fault(json!({"operation": "list_test_plan_executions", "status": 500, "times": 10})).await;
    let summary = host.succeed(TOOL, against(execution(EXECUTION_IN_PROGRESS), "previous")).await;
    assert_eq!(each(&summary["unread"], "/what"), ["compare_with previous"]);
    assert_eq!(summary["comparison"]["note"], "it could not be read: see `unread`");
    assert_eq!(
        (&summary["comparison"]["fixed"], &summary["comparison"]["new"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(summary["finished"], 1);
}

/// A test that could not be read is not listed as missing.
#[tokio::test]
async fn tests_that_could_not_be_read_are_not_changes() {
    let many = |result: &str| (0..150).map(|number| Test::new(number, &[result])).collect::<Vec<_>>();
    let mut history = History::new(&many("SUCCESS"));
    history.add(&many("SUCCESS"));

    let stub = Stub::start(move |target| {
        let fails = target.contains(&uuid(0xe, 1)) && target.contains("&page=1&");
        let answer = if fails { (500, json!({})) } else { history.answer(&target) };
        async move { answer }
    })
    .await;

    let mut session = fixture().open_with(stub).await;
    let summary = session.host.succeed(TOOL, against(execution(&uuid(0xe, 1)), "previous")).await;

    assert_eq!(summary["comparison"]["not_run"], Value::Null);

    let note = summary["comparison"]["note"].as_str().expect("a note");

    assert!(note.starts_with("not every test could be read"), "{note}");
}

/// A failure is new only if the test is known to have existed without it.
#[tokio::test]
async fn a_failure_is_not_new_if_the_earlier_test_could_not_be_read() {
    let mut history = History::new(&[Test::new(1, &["FAILED"])]);
    history.add(&[Test::new(1, &["FAILED"])]);
    let stub = Stub::start(move |target| {
        let fails = target.contains("/jobs?") && target.contains(&uuid(0xe, 0));
        let answer = if fails { (500, json!({})) } else { history.answer(&target) };
        async move { answer }
    })
    .await;

    let mut session = fixture().open_with(stub).await;
    let summary = session.host.succeed(TOOL, against(execution(&uuid(0xe, 1)), "previous")).await;
    let comparison = &summary["comparison"];

    assert_eq!(comparison["with"]["target_id"], uuid(0xe, 0));
    for list in ["new", "fixed", "known", "not_run"] {
        assert_eq!(comparison[list], Value::Null, "{list}: {summary}");
    }
}

#[tokio::test]
async fn a_comparison_with_a_later_result_is_noted() {
    let mut history = History::new(&[Test::new(1, &["SUCCESS"])]);
    history.add(&[Test::new(1, &["FAILED"])]);

    for (number, with, start) in [(1, 0, ""), (0, 1, "the result that it is compared with was started later")]
    {
        let arguments = against(execution(&uuid(0xe, number)), &uuid(0xe, with));
        let summary = history.clone().summary(arguments).await;
        let note = summary["comparison"]["note"].as_str().unwrap_or_default();
        assert!(note.starts_with(start) && note.is_empty() == start.is_empty(), "{note}");
    }
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
