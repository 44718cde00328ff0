//! The last results of a plan or a test as a grid.

use serde_json::{Value, json};

use super::{
    TOOL, characters, each, fixture,
    history::{History, PLAN, Test, uuid},
};
use crate::support::stub::Stub;

fn test(number: usize, result: &str) -> Test {
    Test::new(number, &[result])
}

/// Four executions. Test 1 passes, test 2 changes, test 3 fails, test 4 is new.
fn four_executions() -> History {
    let mut history = History::new(&[test(1, "SUCCESS"), test(2, "SUCCESS"), test(3, "FAILED")]);
    history.add(&[test(1, "SUCCESS"), test(2, "FAILED"), test(3, "FAILED")]);
    history.add(&[test(1, "SUCCESS"), test(2, "SUCCESS"), test(3, "FAILED")]);
    let failed = test(2, "FAILED").reporting("The map stayed closed.");
    history.add(&[test(1, "SUCCESS"), failed, test(3, "FAILED"), test(4, "SUCCESS")]);

    history
}

fn of_plan(count: usize) -> Value {
    json!({"test_plan_id": PLAN, "history": count})
}

#[tokio::test]
async fn the_grid_has_a_letter_for_each_result_and_causes_of_the_tests_that_changed() {
    let summary = four_executions().summary(of_plan(3)).await;
    let history = &summary["history"];

    assert_eq!(summary["target_id"], uuid(0xe, 3), "the latest execution is summarized beside it");
    assert_eq!(history["letters"], json!({".": "not included", "F": "FAILED", "S": "SUCCESS"}));
    assert_eq!(
        history["results"][0],
        json!({"id": uuid(0xe, 1), "started_at": "2026-03-02 08:00Z", "build": "build 1"})
    );
    assert_eq!(each(&history["results"], "/build"), ["build 1", "build 2", "build 3"]);
    assert_eq!(history["changing"], 1);
    assert_eq!(each(&history["tests"], "/name"), ["Test 002", "Test 003", "Test 001", "Test 004"]);
    assert_eq!(each(&history["tests"], "/results"), ["FSF", "FFF", "SSS", "..S"]);
    assert_eq!(
        history["tests"][0]["causes"],
        json!([{
            "results": [3, 1], "verdict": "FAILED", "step": {"number": 2, "goal": "Open the map"},
            "observed": "The map stayed closed.", "run_id": "r0010a00000",
        }])
    );
    assert_eq!(history["tests"][0]["id"], uuid(0x7, 2));
    assert!(history["tests"][1]["causes"].is_null() && history["tests"][2]["id"].is_null(), "{history}");
}

#[tokio::test]
async fn the_latest_execution_and_known_causes_are_not_read_again() {
    let stub = four_executions().serve().await;
    let mut session = fixture().open_with(stub).await;
    session.host.succeed(TOOL, of_plan(3)).await;

    let requests = session.service.requests();
    let count = |part: &str| requests.iter().filter(|one| one.contains(part)).count();
    assert_eq!((count("/jobs?"), count("/test-plan-executions/")), (3, 1));
    // Two failures of the latest execution, and the earlier failure of the test that changed.
    assert_eq!(count("/runs/"), 3, "{requests:?}");
}

#[tokio::test]
async fn the_history_of_a_test_joins_the_attempts_of_a_job() {
    let mut history = History::new(&[test(1, "SUCCESS")]);
    history.add(&[Test::new(1, &["TIMEOUT", "SUCCESS"])]);
    history.add(&[test(1, "FAILED")]);
    let arguments = json!({"multiplayer_test_id": uuid(0x7, 1), "history": 5});
    let summary = history.summary(arguments).await;
    let history = &summary["history"];

    assert_eq!(summary["target_type"], "run");
    assert_eq!(each(&history["results"], "/id"), ["r0000a00000", "r0001a00001", "r0002a00000"]);
    assert_eq!(each(&history["results"], "/build"), ["build 0", "build 1", "build 2"]);
    assert_eq!(history["tests"][0]["results"], "SSF");
    assert_eq!(history["tests"][0]["flaky"], "passed only when repeated");
    assert_eq!(history["tests"][0]["causes"][0]["results"], json!([3]));
}

#[tokio::test]
async fn a_long_history_fits_and_counts_the_tests_that_are_left_out() {
    let mut history = History::default();
    let report =
        |number: usize, day: usize| format!("{} {}", "door ".repeat(number % 40), "x".repeat(day + 1));
    for day in 0..28 {
        let test = |number: usize| {
            let result = if number.is_multiple_of(3) && day % 2 == 0 { "FAILED" } else { "SUCCESS" };
            Test::new(number, &[result]).reporting(report(number, day))
        };
        history.add(&(0..90).map(test).collect::<Vec<_>>());
    }
    let summary = history.summary(of_plan(30)).await;
    let tests = summary["history"]["tests"].as_array().expect("tests");

    assert!(characters(&summary) < 8_000, "{}", characters(&summary));
    assert_eq!(summary["history"]["results"].as_array().map(Vec::len), Some(28));
    assert_eq!(summary["history"]["changing"], 30);
    assert!(tests.len() > 5, "{}", tests.len());
    assert!(tests.iter().all(|test| test["results"].as_str().map(str::len) == Some(28)));
    assert_eq!(summary["left_out"]["history.tests"].as_u64(), Some(90 - tests.len() as u64));
}

#[tokio::test]
async fn what_the_history_could_not_read_is_named_and_the_rest_is_there() {
    let history = four_executions();
    let stub = Stub::start(move |target| {
        let answer = if target.contains("/jobs?") && target.contains(&uuid(0xe, 1)) {
            (403, json!({"error": "no"}))
        } else {
            history.answer(&target)
        };
        async move { answer }
    })
    .await;
    let mut session = fixture().open_with(stub).await;
    let summary = session.host.succeed(TOOL, of_plan(3)).await;

    assert_eq!(each(&summary["history"]["tests"], "/results"), [".SF", ".FF", ".SS", "..S"]);
    assert_eq!(summary["incomplete"], true);
    assert!(summary["unread"][0]["what"].as_str().is_some_and(|what| what.contains(&uuid(0xe, 1))));
}

#[tokio::test]
async fn a_history_has_2_to_30_results_of_a_plan_or_a_test() {
    let mut session = fixture().open_with(four_executions().serve().await).await;
    for (arguments, rule) in [
        (json!({"run_id": "r0", "history": 5}), "history: requires `test_plan_id` or `multiplayer_test_id`"),
        (json!({"latest": true, "history": 5}), "history: requires `test_plan_id` or `multiplayer_test_id`"),
        (of_plan(1), "history: must be from 2 to 30, got 1"),
        (of_plan(31), "history: must be from 2 to 30, got 31"),
    ] {
        assert_eq!(session.host.violations(TOOL, arguments).await, [rule]);
    }
}
