//! The last results of a plan or a test as a grid.

use serde_json::{Value, json};

use super::{
    TOOL, against, characters, each, execution, fixture,
    history::{History, PLAN, Test, uuid},
    whole_length,
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
    history.add(&[test(1, "SUCCESS"), test(2, "FAILED"), test(3, "FAILED"), test(4, "SUCCESS")]);

    history
}

fn of_plan(count: usize) -> Value {
    json!({"test_plan_id": PLAN, "history": count})
}

#[tokio::test]
async fn the_grid_has_a_letter_for_each_result_and_changing_tests_first() {
    let summary = four_executions().summary(of_plan(3)).await;
    let history = &summary["history"];

    assert_eq!(summary["target_id"], uuid(0xe, 3), "the latest execution is summarized beside it");
    let place = |name: &str| summary.as_object().and_then(|fields| fields.keys().position(|key| key == name));
    assert!(place("history") < place("failures"), "the grid was asked for: {summary}");
    assert_eq!(history["letters"], json!({".": "not included", "F": "FAILED", "S": "SUCCESS"}));
    assert_eq!(
        history["results"][0],
        json!({"id": uuid(0xe, 1), "started_at": "2026-03-02 08:00Z", "build": "build 1"})
    );
    assert_eq!(each(&history["results"], "/build"), ["build 1", "build 2", "build 3"]);
    assert_eq!(history["changing"], 1);
    assert_eq!(each(&history["tests"], "/name"), ["Test 002", "Test 003", "Test 001", "Test 004"]);
    assert_eq!(each(&history["tests"], "/results"), ["FSF", "FFF", "SSS", "..S"]);
    assert_eq!(history["tests"][0]["failed_run_id"], "r0010a00000");
    assert_eq!(each(&history["tests"], "/label"), [json!("flaky"), json!(null), json!(null), json!(null)]);
}

/// Verdicts of the product make a test flaky; equal rows have equal labels.
#[tokio::test]
async fn labels_follow_from_the_letters_alone() {
    let mut history = History::default();
    let product = ["SUCCESS", "FAILED", "SUCCESS"];
    let infrastructure = ["SUCCESS", "ERROR", "SUCCESS"];
    for day in 0..3 {
        let retried: &[&str] = if day == 1 { &["ERROR", "SUCCESS"] } else { &["SUCCESS"] };
        history.add(&[
            test(1, product[day]),
            test(2, product[day]),
            test(3, infrastructure[day]),
            Test::new(4, retried),
        ]);
    }
    // The second test fails on another build than it passes on.
    history.change_jobs(|job| {
        if job["test_name"] == "Test 002" {
            job["build_id"] = json!(job["job_id"]);
        }
    });
    let summary = history.summary(of_plan(3)).await;

    let rows = |field: &str| each(&summary["history"]["tests"], field);
    assert_eq!(rows("/results"), ["SFS", "SFS", "SES", "SsS"]);
    assert_eq!(rows("/label"), ["flaky", "flaky", "infrastructure", "passed_after_retry"]);
}

#[tokio::test]
async fn the_latest_execution_is_not_read_again() {
    let stub = four_executions().serve().await;
    let mut session = fixture().open_with(stub).await;
    session.host.succeed(TOOL, of_plan(3)).await;

    let requests = session.service.requests();
    let count = |part: &str| requests.iter().filter(|one| one.contains(part)).count();
    assert_eq!((count("/jobs?"), count("/test-plan-executions/")), (3, 1));
    assert_eq!(count("/runs/"), 2, "the failures of the latest execution: {requests:?}");
}

#[tokio::test]
async fn an_execution_stands_for_its_plan_and_a_run_for_its_test() {
    let of_plan = four_executions().summary(of_plan(3)).await;
    let mut arguments = execution(&uuid(0xe, 1));
    arguments["history"] = json!(3);
    let of_execution = four_executions().summary(arguments).await;

    assert_eq!(of_execution["target_id"], uuid(0xe, 1));
    assert_eq!(of_execution["history"], of_plan["history"]);

    let mut history = History::new(&[test(1, "SUCCESS")]);
    history.add(&[Test::new(1, &["TIMEOUT", "SUCCESS"])]);
    history.add(&[test(1, "FAILED")]);
    for arguments in [
        json!({"multiplayer_test_id": uuid(0x7, 1), "history": 5}),
        json!({"run_id": "r0001a00001", "history": 5}),
        json!({"job_id": uuid(0x10, 1), "history": 5}),
    ] {
        let summary = history.clone().summary(arguments).await;
        let history = &summary["history"];
        assert_eq!(each(&history["results"], "/id"), ["r0000a00000", "r0001a00001", "r0002a00000"]);
        assert_eq!(each(&history["results"], "/build"), ["build 0", "build 1", "build 2"]);
        assert_eq!(history["tests"][0]["results"], "SsF");
    }
}

#[tokio::test]
async fn a_long_history_loses_its_ids_and_then_tests_that_did_not_change() {
    let mut history = History::default();
    for day in 0..10 {
        let test = |number: usize| {
            let result = if number.is_multiple_of(9) && day % 2 == 0 { "FAILED" } else { "SUCCESS" };
            Test::new(number, &[result])
        };
        history.add(&(0..400).map(test).collect::<Vec<_>>());
    }
    let summary = history.summary(of_plan(10)).await;
    let tests = summary["history"]["tests"].as_array().expect("tests");

    assert!(characters(&summary) <= 20_000, "{}", characters(&summary));
    assert_eq!(summary["history"]["results"].as_array().map(Vec::len), Some(10));
    assert_eq!(summary["history"]["changing"], 45);
    assert!(tests.len() > 45 && tests.iter().all(|test| test["results"].as_str().map(str::len) == Some(10)));
    assert!(tests.iter().all(|test| test["id"].is_null()));
    assert_eq!(whole_length(&summary, "/history/tests"), 400);
    assert_eq!(
        each(&summary["truncated"]["cuts"], "/path"),
        ["/history/tests/-/id", "/history/results/-/id", "/history/tests"]
    );
    assert_eq!(tests[0]["failed_run_id"], "r3200a00000", "the ids of failures go last");
}

/// Neither what is new nor a failure makes room for the grid.
#[tokio::test]
async fn the_ids_of_the_grid_are_cut_before_failures_changes_and_changing_tests() {
    let mut history = History::default();
    for day in 0..3 {
        let test = |number: usize| test(number, if number < 12 && day == 2 { "FAILED" } else { "SUCCESS" });
        history.add(&(0..250).map(test).collect::<Vec<_>>());
    }
    history.change_jobs(|job| job["test_name"] = json!(format!("{} of {}", job["job_id"], "n".repeat(60))));
    let mut arguments = against(of_plan(3), "previous");
    let summary = history.clone().summary(arguments.clone()).await;

    let length = |pointer: &str| summary.pointer(pointer).and_then(Value::as_array).map(Vec::len);
    assert!(characters(&summary) <= 20_000, "{}", characters(&summary));
    assert_eq!(["/failures", "/comparison/new"].map(length), [Some(12); 2]);
    assert_eq!(each(&summary["failures"], "/bugs"), vec![json!([]); 12]);
    assert!(length("/history/tests") >= Some(12) && summary["history"]["changing"] == 12, "{summary}");
    assert!(
        each(&summary["truncated"]["cuts"], "/path")
            .iter()
            .all(|path| { path.as_str().is_some_and(|path| path.starts_with("/history/")) })
    );

    // The number of changing tests need not be selected: then all rows stay as long as anything else can go.
    arguments["fields"] = json!("history.tests");
    let selected = history.summary(arguments).await;
    assert!(selected["history"]["tests"].as_array().is_some_and(|tests| tests.len() > 12), "{selected}");
    assert_eq!(
        selected.as_object().expect("an object").keys().collect::<Vec<_>>(),
        ["incomplete", "truncated", "history"]
    );
}

#[tokio::test]
async fn fields_are_selected_before_a_reply_is_cut() {
    let tests: Vec<_> = (0..300).map(|number| test(number, ["SUCCESS", "FAILED"][number % 2])).collect();
    let mut history = History::new(&tests);
    history.add(&tests);
    let mut arguments = of_plan(2);
    arguments["fields"] = json!("history.tests.name,history.changing");
    let summary = history.summary(arguments).await;

    assert_eq!(summary["history"]["tests"].as_array().map(Vec::len), Some(300));
    assert_eq!(summary["truncated"], Value::Null);
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

    let mut without_plan = four_executions();
    without_plan.change_execution(3, |execution| execution["test_plan_id"] = Value::Null);
    let mut arguments = execution(&uuid(0xe, 3));
    arguments["history"] = json!(2);
    let summary = without_plan.summary(arguments).await;
    assert_eq!(summary["history"], Value::Null, "an empty grid would say that there are no results");
    assert_eq!(summary["unread"], json!([{"what": "history", "why": "the execution has no test plan"}]));
}

#[tokio::test]
async fn a_history_has_2_to_30_results() {
    let mut session = fixture().open_with(four_executions().serve().await).await;
    for (arguments, rule) in [
        (of_plan(1), "history: must be from 2 to 30, got 1"),
        (of_plan(31), "history: must be from 2 to 30, got 31"),
    ] {
        assert_eq!(session.host.violations(TOOL, arguments).await, [rule]);
    }
}
