//! `tas-mcp report --trend`.

use serde_json::{Value, json};
use tas_mcp::{
    sandbox::{keys, seed},
    text::WallClock,
    tools::{report::TrendText, summary::Trend},
};

use super::embedded_data;
use crate::support::{binary::run_binary, service::Service, stub::Stub};

/// Id of the plan of the stub.
const PLAN: &str = "00000000-0000-4000-8000-000000000001";

/// Runs the command against `base_url`. Returns the exit code, standard output and the error.
async fn report(base_url: &str, arguments: &[&str]) -> (Option<i32>, String, Value) {
    let variables = [("TAS_BASE_URL", base_url), ("TAS_API_KEY", keys::DEMO)];
    let output = run_binary(&[&["report", "--json"], arguments].concat(), &variables, &[]).await;
    let error = serde_json::from_slice::<Value>(&output.stderr).unwrap_or_default()["error"].clone();

    (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"), error)
}

/// Returns the id of the execution with this number.
fn execution_id(number: u64) -> String {
    format!("00000000-0000-4000-8000-0000000001{number:02}")
}

/// Returns the record of the execution with this number, which is also its day.
fn execution(number: u64) -> Value {
    json!({
        "id": execution_id(number), "test_plan_id": PLAN, "test_plan_name": "Nightly", "status": "completed",
        "started_at": format!("2026-03-{number:02}T02:00:00+00:00"), "build_id": format!("b{number}"),
        "build_name": format!("1.{number}"), "total_tests": 1,
    })
}

/// A service with a plan whose executions have the numbers 1 to `results.len()`. Each letter of a text in `tests` is the
/// result of the test in an execution: `P` passed, `F` failed, a space: not included.
async fn service_with(tests: &'static [(&'static str, &'static str)], executions: u64) -> Stub {
    let answer = move |target: String| async move {
        if target.starts_with("GET /test-plan-executions?") {
            // An execution that was not started, and one of another plan, are no columns.
            let queued = json!({"id": "queued", "test_plan_id": PLAN, "status": "queued"});
            let mut other = execution(1);
            other["test_plan_id"] = json!("00000000-0000-4000-8000-000000000002");
            let data: Vec<_> = (1..=executions).map(execution).chain([queued, other]).collect();
            let pagination =
                json!({"page": 0, "page_size": 100, "total_count": data.len(), "total_pages": 1});
            return (200, json!({"data": data, "pagination": pagination}));
        }
        if !target.starts_with("GET /jobs?") {
            return (404, json!({"error": "not found"}));
        }

        let number = (1..=executions).find(|number| target.contains(&execution_id(*number)));
        let index = usize::try_from(number.expect("an execution")).expect("a number") - 1;
        let job = |(name, results): &(&str, &str)| {
            let result = match results.as_bytes().get(index)? {
                b'P' => "SUCCESS",
                b'F' => "FAILED",
                _ => return None,
            };
            let run = json!({"multiplayer_run_id": format!("{name}{index}"), "state": "completed", "result": result});
            Some(json!({
                "job_id": format!("{name}-{index}"), "multiplayer_test_id": format!("id of {name}"),
                "test_name": name, "status": "completed", "runs": [run],
            }))
        };
        let data: Vec<_> = tests.iter().filter_map(job).collect();
        let pagination = json!({"page": 0, "page_size": 100, "total_count": data.len(), "total_pages": 1});

        (200, json!({"data": data, "pagination": pagination}))
    };

    Stub::start(answer).await
}

/// Returns name, verdicts and reason of flakiness of each test.
fn rows(trend: &Value) -> Vec<(String, String, Value)> {
    let letter = |result: &Value| match result["verdict"].as_str() {
        Some("SUCCESS") => 'P',
        Some("FAILED") => 'F',
        _ => ' ',
    };
    let row = |test: &Value| {
        let letters = test["results"].as_array().expect("results").iter().map(letter).collect();
        (test["test"]["name"].as_str().expect("a name").to_owned(), letters, test["flaky"].clone())
    };
    trend["tests"].as_array().expect("tests").iter().map(row).collect()
}

#[tokio::test]
async fn the_grid_has_the_last_executions_with_the_newest_on_the_right() {
    let tests = &[("stable", "PPPPP"), ("broken", "PPPFF"), ("flaky", "PFPFP"), ("new", "   PP")];
    let service = service_with(tests, 5).await;

    let (code, printed, _) = report(service.base_url(), &[PLAN, "--trend", "4"]).await;
    let trend: Value = serde_json::from_str(&printed).expect("JSON");
    let row = |name: &str, results: &str, flaky: Value| (name.to_owned(), results.to_owned(), flaky);

    assert_eq!((code, &trend["name"]), (Some(0), &json!("Nightly")));
    assert_eq!(
        rows(&trend),
        [
            row("broken", "PPFF", Value::Null),
            row("flaky", "FPFP", json!("changed 3 times")),
            row("new", "  PP", Value::Null),
            row("stable", "PPPP", Value::Null),
        ]
    );

    let ids: Vec<_> = trend["executions"]
        .as_array()
        .expect("executions")
        .iter()
        .map(|one| one["test_plan_execution_id"].as_str().expect("an id"))
        .collect();

    assert_eq!(ids, [2, 3, 4, 5].map(execution_id));
    assert_eq!(trend["executions"][3]["build"], json!({"id": "b5", "name": "1.5"}));
}

#[tokio::test]
async fn an_execution_stands_for_its_plan() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let (code, of_plan, _) = report(&base_url, &[seed::PLAN_SMOKE, "--trend", "5"]).await;
    let (_, of_execution, _) = report(&base_url, &[seed::EXECUTION_COMPLETED, "--trend", "5"]).await;
    let trend: Value = serde_json::from_str(&of_plan).expect("JSON");

    assert_eq!(code, Some(0));
    assert_eq!(of_plan, of_execution);
    assert_eq!(trend["executions"].as_array().map(Vec::len), Some(2));

    let (_, _, flaky) =
        rows(&trend).into_iter().find(|row| row.0 == "Beat the Cinder Golem").expect("a test");

    assert_eq!(flaky, "passed only when repeated");

    let (_, page, _) = report(&base_url, &[seed::PLAN_SMOKE, "--trend", "5", "--html", "-"]).await;
    let data: Value = serde_json::from_str(embedded_data(&page)).expect("JSON");

    assert_eq!(data["trend"], trend);
}

#[tokio::test]
async fn a_plan_without_executions_and_an_unknown_plan_are_refused() {
    let service = Service::start().await;
    let base_url = service.base_url();

    for (id, exit, kind, words) in [
        (seed::BUILD_IOS, 1, "not_found", "no execution of a test plan"),
        (PLAN, 1, "not_found", "no execution of a test plan"),
        ("nowhere", 2, "invalid_arguments", "no plan has the name `nowhere`"),
        (seed::RUN_FAILED, 2, "invalid_arguments", "no plan has the name"),
    ] {
        let (code, _, error) = report(&base_url, &[id, "--trend", "2"]).await;
        assert_eq!((code, &error["code"]), (Some(exit), &json!(kind)), "{id}");
        assert!(error["message"].as_str().is_some_and(|message| message.contains(words)), "{error}");
    }
}

#[tokio::test]
async fn a_trend_has_2_to_20_executions_and_no_comparison() {
    let service = Service::start().await;
    let base_url = service.base_url();

    for arguments in [
        &["--trend", "1"][..],
        &["--trend", "21"],
        &["--trend", "many"],
        &["--trend", "3", "--compare-with", "previous"],
    ] {
        let (code, printed, _) = report(&base_url, &[&[seed::PLAN_SMOKE], arguments].concat()).await;
        assert_eq!((code, printed.as_str()), (Some(2), ""), "{arguments:?}");
    }

    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn the_grid_names_executions_whose_tests_cannot_be_read() {
    let service = Service::start().await;
    service.fault(json!({"operation": "list_jobs", "status": 403, "times": 2})).await;
    let (code, printed, _) = report(&service.base_url(), &[seed::PLAN_SMOKE, "--trend", "2"]).await;
    let trend: Value = serde_json::from_str(&printed).expect("JSON");

    assert_eq!((code, &trend["tests"]), (Some(0), &json!([])));
    assert!(trend["unread"][0]["what"].as_str().is_some_and(|what| what.starts_with("tests of")), "{trend}");
}

/// Returns the text of a trend in a terminal.
fn text(trend: &Trend) -> String {
    let clock = &WallClock::stopped_at("2026-03-02T12:00:00Z".parse().expect("a time"));
    TrendText { trend, clock }.to_string()
}

#[test]
fn the_table_of_a_terminal_has_letters_with_colours_and_a_legend() {
    let trend: Trend = serde_json::from_value(json!({
        "test_plan_id": "plan", "name": "Nightly\u{1b}[2J",
        "executions": [
            {"test_plan_execution_id": "e1", "started_at": "2026-03-01T02:00:00+00:00"},
            {"test_plan_execution_id": "e2", "started_at": "2026-03-02T02:00:00+00:00", "build": {"id": "b2", "name": "1.4"}},
        ],
        "tests": [
            {"test": {"name": "Jump"}, "results": [{"verdict": "SUCCESS"}, {"verdict": "FAILED"}], "flaky": "changed 2 times"},
            {"test": {"name": "Swim far"}, "results": [null, {"verdict": "GAVE_UP"}]},
        ],
    }))
    .expect("a trend");

    let coloured = text(&trend);
    let plain = anstream::adapter::strip_str(&coloured).to_string();
    let expected = "\
Nightly [2J: 2 tests in the last 2 executions, 1 flaky

          1  2
Jump      S  F  flaky: changed 2 times
Swim far  .  U

S SUCCESS, F FAILED, U unknown verdict, . not included

 1  2026-03-01 02:00 UTC  e1
 2  2026-03-02 02:00 UTC  e2  1.4
";

    assert_eq!(plain, expected);
    assert!(coloured.contains("\u{1b}[32mS\u{1b}[0m  \u{1b}[31mF\u{1b}[0m"), "{coloured:?}");
    assert!(!coloured.contains("\u{1b}[2J"));
}

#[test]
fn a_sign_and_the_legend_say_which_results_came_after_a_retry() {
    let trend: Trend = serde_json::from_value(json!({
        "test_plan_id": "plan",
        "executions": [{"test_plan_execution_id": "e1"}, {"test_plan_execution_id": "e2"}],
        "tests": [
            {"test": {"name": "Jump"}, "results": [{"verdict": "SUCCESS", "earlier": ["ERROR"]}, {"verdict": "SUCCESS"}]},
            {"test": {"name": "Swim"}, "results": [null, {"verdict": "ERROR", "earlier": ["TIMEOUT", "ERROR"]}], "flaky": "x"},
        ],
    }))
    .expect("a trend");

    let plain = anstream::adapter::strip_str(&text(&trend)).to_string();
    let expected = "\
      1   2
Jump  S+  S
Swim  .   E+  flaky: x

S SUCCESS, E ERROR, . not included, + after a retry
";
    assert!(plain.contains(expected), "{plain}");
}
