//! A summary as text for a terminal, and as Markdown.

use std::fs;

use serde::Deserialize as _;
use serde_json::{Value, json};
use tas_mcp::{
    sandbox::seed,
    text::WallClock,
    tools::{report, summary::Summary},
};

use super::run;
use crate::support::service::Service;

/// Renders a summary as the command line prints it.
fn render(summary: &Value) -> String {
    let summary = Summary::deserialize(summary).expect("a summary");
    let clock = WallClock::stopped_at("2026-03-02T12:00:00Z".parse().expect("a time"));
    report::terminal_text(&summary, &clock)
}

#[test]
fn the_text_explains_a_missing_comparison() {
    let summary = json!({
        "target_type": "run", "target_id": "r1", "state": "completed", "all_passed": true, "finished": 1, "total": 1,
        "verdicts": {"SUCCESS": 1}, "comparison": {"note": "there is no earlier one"},
    });
    let expected = "\
r1: 1 of 1 passed
  verdicts       1 SUCCESS

Comparison
  note           there is no earlier one
";

    assert_eq!(render(&summary), expected);
}

const WHOLE_TEXT: &str = "\
Nightly: 1 of 4 passed, 1 not finished
  verdicts       2 FAILED, 1 SUCCESS
  started        2026-03-02 02:30 UTC (9 h ago)
  build          one (b1), b2

FAILED: Jump (2 times)
  player 1, step 2 Jump high
  bug            high: Falls
  devices        Pixel 8
  runs           r1, r2
  jobs           j1

Passed after a retry
  Dive: TIMEOUT, then passed in r8

Passed with bugs
  Hide in r9
  bug            low: Flickers (b9)

Slowest
  Run: 1m 01s

Compared with exec_1, 2026-03-01 02:30 UTC (33 h ago)
  note           the same plan
  new            Jump: SUCCESS, now FAILED in r1
  fixed          Swim: FAILED, now SUCCESS
  known          Run: ERROR
  without result Fly: was SUCCESS

Last 2 results: 2 tests, 1 changing, 1 flaky

            1  2
  Jump      S  F  flaky
  Swim far  F  F

  S SUCCESS, F FAILED

   1  2026-03-01 02:30Z  exec_1
   2  exec_2  1.4

Could not be read
  bugs of r2: service_unavailable

Left out: 7 failures; ask for less
";

fn whole_summary() -> Value {
    let test = |name: &str| json!({"name": name, "id": format!("id of {name}")});
    json!({
        "target_type": "test_plan_execution", "target_id": "exec_2", "name": "Nightly", "state": "running",
        "started_at": "2026-03-02T02:30:00+00:00", "all_passed": false, "finished": 3, "total": 4, "verdicts": {"FAILED": 2, "SUCCESS": 1},
        "builds": [{"id": "b1", "name": "one"}, {"id": "b2"}],
        "failures": [{
            "test": test("Jump"), "verdict": "FAILED", "step": {"number": 2, "goal": "Jump high", "player": 1},
            "count": 2, "run_ids": ["r1", "r2"], "job_ids": ["j1"], "devices": ["Pixel 8"],
            "bugs": [{"title": "Falls", "severity": "high"}],
        }],
        "passed_after_retry": [{"test": test("Dive"), "run_id": "r8", "earlier": ["TIMEOUT"]}],
        "passed_with_bugs": [{
            "test": test("Hide"), "run_id": "r9", "bugs": [{"id": "b9", "title": "Flickers", "severity": "low"}],
        }],
        "comparison": {
            "with": {"target_type": "test_plan_execution", "target_id": "exec_1", "started_at": "2026-03-01T02:30:00Z"},
            "note": "the same plan",
            "new": [{"test": test("Jump"), "verdict": "FAILED", "was": "SUCCESS", "run_id": "r1"}],
            "fixed": [{"test": test("Swim"), "verdict": "SUCCESS", "was": "FAILED"}],
            "known": [{"test": test("Run"), "verdict": "ERROR"}],
            "not_run": [{"test": test("Fly"), "was": "SUCCESS"}],
        },
        "slowest": [{"test": test("Run"), "duration_ms": 61_000}],
        "history": {
            "letters": {"S": "SUCCESS", "F": "FAILED"}, "changing": 1,
            "results": [{"id": "exec_1", "started_at": "2026-03-01 02:30Z"}, {"id": "exec_2", "build": "1.4"}],
            "tests": [{"name": "Jump", "results": "SF", "label": "flaky"}, {"name": "Swim far", "results": "FF"}],
        },
        "unread": [{"what": "bugs of r2", "why": "service_unavailable"}],
        "left_out": {"failures": 7, "how": "ask for less"},
    })
}

#[test]
fn the_text_contains_every_part_of_a_summary() {
    assert_eq!(render(&whole_summary()), WHOLE_TEXT);
}

/// Runs `tas-mcp report`. Returns the exit code, standard output and standard error.
async fn report(service: &Service, arguments: &[&str]) -> (Option<i32>, String, String) {
    let knowledge_url = service.knowledge_url();
    run(service, &[&["report"], arguments].concat(), &[("TAS_KNOWLEDGE_URL", knowledge_url.as_str())]).await
}

#[tokio::test]
async fn the_markdown_of_an_execution_has_failures_first_and_links_to_pictures() {
    let service = Service::start().await;
    let (code, text, errors) = report(&service, &[seed::EXECUTION_COMPLETED, "--markdown"]).await;

    assert_eq!(code, Some(0), "{errors}");
    assert!(text.starts_with("## Release smoke: 3 of 4 passed\n"), "{text}");

    let places = ["### ❌ FAILED: Pause and resume", "### Passed after a retry", "### Runs"];
    let places = places.map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}")));

    assert!(places.is_sorted(), "{text}");

    let player = format!("{}-1", seed::RUN_FAILED);
    let address = format!("{}/runs/{player}/artifacts/screenshots/step-2.png", service.knowledge_url());

    assert!(text.contains(&format!("[player 1, step 2](<{address}>)")), "{text}");
    assert!(service.requests().await.iter().all(|line| !line.contains("step-2.png")));
}

#[tokio::test]
async fn a_run_and_a_history_are_markdown_too() {
    let service = Service::start().await;
    let (_, run, _) = report(&service, &[seed::RUN_FAILED, "--markdown"]).await;
    let (_, history, _) = report(&service, &[seed::PLAN_SMOKE, "--history", "2", "--markdown"]).await;

    assert!(run.starts_with("## Pause and resume: 0 of 1 passed\n") && run.contains("step 2"), "{run}");
    assert!(history.contains("### Last 2 results: 4 tests, "), "{history}");
    // The grid is a block of code, as a terminal shows it.
    let grid = history.split("~~~~").nth(1).expect("a grid");
    assert!(
        grid.contains("\n  Beat the Cinder Golem") && grid.contains("s SUCCESS after a retry"),
        "{history}"
    );
}

#[tokio::test]
async fn page_and_markdown_are_written_by_one_command() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let [page, markdown] = ["report.html", "report.md"].map(|name| directory.path().join(name));
    let paths = [&page, &markdown].map(|path| path.to_str().expect("UTF-8"));
    let arguments = [seed::EXECUTION_COMPLETED, "--html", paths[0], "--markdown", paths[1]];

    let (code, printed, errors) = report(&service, &arguments).await;

    assert_eq!((code, printed), (Some(0), String::new()), "{errors}");
    assert!(fs::read_to_string(page).expect("a page").ends_with("</html>\n"));
    assert!(fs::read_to_string(markdown).expect("a text").starts_with("## Release smoke"));

    let both = [seed::RUN_FAILED, "--html", "-", "--markdown"];
    let (code, _, errors) = report(&service, &both).await;

    assert!(code == Some(2) && errors.contains("name a file for one of them"), "{errors}");
}
