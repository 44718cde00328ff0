//! A summary as text for a terminal.

use serde::Deserialize as _;
use serde_json::{Value, json};
use tas_mcp::{
    sandbox::{keys, seed},
    text::WallClock,
    tools::{report::SummaryText, summary::Summary},
};

use crate::support::{host::Host, service::Service};

/// Renders a summary as the command line prints it.
fn render(summary: &Value) -> String {
    let summary = &Summary::deserialize(summary).expect("a summary");
    let clock = &WallClock::stopped_at("2026-03-02T12:00:00Z".parse().expect("a time"));
    SummaryText { summary, clock }.to_string()
}

#[tokio::test]
async fn the_text_names_the_failed_step_and_its_bugs() {
    let service = Service::start().await;
    let mut host = Host::open(&service.settings(keys::DEMO, &[])).await;
    let arguments = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED});
    let summary = host.succeed("summarize_results", arguments).await;
    let rendered = render(&summary);
    let failure = &summary["failures"][0];
    let text = |pointer: &str| failure.pointer(pointer).and_then(Value::as_str).expect("a text");

    assert!(rendered.starts_with("Release smoke: 3 of 4 passed\n"), "{rendered}");
    for pointer in ["/test/name", "/step/goal", "/expected", "/observed", "/bugs/0/title", "/run_ids/0"] {
        assert!(rendered.contains(text(pointer)), "{pointer}: {rendered}");
    }

    assert!(rendered.contains("\n  Beat the Cinder Golem: TIMEOUT, then passed in "), "{rendered}");
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
  runs           r1, r2
  jobs           j1

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
            "count": 2, "run_ids": ["r1", "r2"], "job_ids": ["j1"],
            "bugs": [{"title": "Falls", "severity": "high"}],
        }],
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
