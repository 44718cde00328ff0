//! What people read about one record, and about the files of a run.

use serde_json::Value;
use tas_mcp::sandbox::{keys, seed};

use super::terminal::run_in_terminal;
use crate::support::service::Service;

/// Runs a command with this service. Returns the exit code, standard output and standard error.
async fn run(service: &Service, arguments: &[&str]) -> (Option<i32>, String, String) {
    super::run_with(service, arguments, &[("TAS_KNOWLEDGE_URL", &*service.knowledge_url())]).await
}

/// Runs a command in a wide terminal with this service. Returns the exit code and what the terminal shows.
async fn run_on_terminal(service: &Service, arguments: &[&str]) -> (Option<i32>, String) {
    let (base_url, knowledge_url) = (service.base_url(), service.knowledge_url());
    let variables = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_KNOWLEDGE_URL", knowledge_url.as_str()),
        ("TAS_API_KEY", keys::DEMO),
        ("TERM", "dumb"),
    ];
    run_in_terminal(300, arguments, &variables, &[]).await
}

/// Names of records, what `show` begins with, and what it contains.
const SHOWN: [(&str, &str, &[&str]); 10] = [
    (
        "x03031trjx0",
        "run  Pause and resume  FAILED\n  id: x03031trjx0\n",
        &[
            "  build: Emberfall 1.4.0 nightly 413 (5f5cf9b5)",
            "  report: Three taps on the pause button had no effect",
            "\nbugs\n",
        ],
    ),
    (
        seed::JOB_FLAKY,
        "job  Beat the Cinder Golem  SUCCESS\n",
        &["  test plan: Release smoke (8329bf5f)", "\nresults\n"],
    ),
    ("57a17b45", "job  Pause and resume  FAILED\n", &["  platform: Pixel 8\n"]),
    (
        seed::EXECUTION_COMPLETED,
        "plan execution  Release smoke  FAILED\n",
        &["  test status: passed 3, failed 1\n", "Emberfall 1.4.0 nightly 412", "  duration  ", "  1m 07s  "],
    ),
    ("pause and RESUME", "test  Pause and resume\n", &["\nsteps\n", "expected: ", "\nresults\n"]),
    (
        "Cross-play party",
        "plan  Cross-play party\n",
        &["  slots: 1 PC, 2 Phone, 3 Console", "Co-op: light the beacon", "\nresults\n"],
    ),
    (
        seed::BUILD_ANDROID,
        "build  Emberfall 1.4.0 nightly 413  OK\n",
        &["  platform: android", "branch main", "\nresults\n"],
    ),
    ("Windows PC", "device  Windows PC\n", &["  platform: windows"]),
    (
        "Pause button does not react",
        "bug  Pause button does not react  active\n  id: bug_7h2k9\n",
        &["\nreproduction steps\n  Start level 1", "\noccurrences\n", "  Emberfall 1.4.0 nightly 412 ("],
    ),
    ("latest", "plan execution  ", &[]),
];

#[tokio::test]
async fn a_record_of_any_kind_is_shown_with_the_names_of_what_it_refers_to() {
    let service = Service::start().await;
    for (name, title, parts) in SHOWN {
        let (code, text, error) = run(&service, &["show", name]).await;
        assert_eq!(code, Some(0), "{name}: {error}");
        assert!(text.starts_with(title), "{name}: {text}");
        for part in parts {
            assert!(text.contains(part), "{name}: {part}: {text}");
        }
    }

    let (code, _, error) = run(&service, &["show", "Pause and resum"]).await;
    assert!(code == Some(2) && error.contains("the nearest are\n  test Pause and resume (Menus"), "{error}");
}

#[tokio::test]
async fn the_json_of_a_record_has_its_answer_as_it_came() {
    let service = Service::start().await;
    let (_, text, _) = run(&service, &["show", "Release smoke", "--json"]).await;
    let shown: Value = serde_json::from_str(&text).expect("JSON");
    let (_, text, _) =
        run(&service, &["call", "get_test_plan", "--json", "--test-plan-id", seed::PLAN_SMOKE]).await;
    let plan: Value = serde_json::from_str(&text).expect("JSON");

    assert_eq!((&shown["kind"], &shown["record"]), (&"test_plan".into(), &plan));
    let tests = shown["tests"].as_array().expect("a list");
    assert!(tests.iter().any(|test| test["name"] == "Pause and resume"), "{shown}");
}

#[tokio::test]
async fn what_cannot_be_read_of_a_record_is_named() {
    let service = Service::start().await;
    service.fault(serde_json::json!({"operation": "list_run_bugs", "status": 403})).await;
    let (code, text, error) = run(&service, &["show", seed::RUN_FAILED]).await;
    assert_eq!(code, Some(0), "{error}");
    assert!(text.contains(&format!("\nnot read: bugs {}: ", seed::RUN_FAILED)), "{text}");
}

#[tokio::test]
async fn the_other_records_of_a_name_are_listed() {
    let service = Service::start().await;
    let title = "Pause button does not react";
    let bugs = serde_json::json!([
        {"id": "bug_old", "title": title, "status": "archived"}, {"id": "bug_7h2k9", "title": title, "status": "active"},
    ]);
    let body = serde_json::json!({"data": bugs, "pagination": {"total_pages": 1}});
    service.fault(serde_json::json!({"operation": "list_bugs", "body": body})).await;
    let (code, text, error) = run(&service, &["show", title]).await;
    assert_eq!(code, Some(0), "{error}");
    assert!(text.starts_with(&format!("bug  {title}  active\n  id: bug_7h2k9\n")), "{text}");
    assert!(text.contains(&format!("\nsame name: bug {title} (archived): bug_old\n")), "{text}");
}

#[tokio::test]
async fn the_files_of_a_run_are_listed() {
    let service = Service::start().await;
    let (code, rows, error) = run(&service, &["files", "x03031trjx0"]).await;
    assert_eq!(code, Some(0), "{error}");
    assert!(rows.lines().any(|row| row.starts_with("1\tscreenshots/end.png\t")), "{rows}");

    let (code, of_beginning, error) = run(&service, &["files", "x0303"]).await;
    assert_eq!((code, &of_beginning), (Some(0), &rows), "{error}");
    let (code, _, error) = run(&service, &["files", "x03031trjx0", "--player", "5"]).await;
    assert!(code == Some(2) && error.contains("has no player 5\nhint: it has 1 player"), "{error}");

    let (_, rows, _) = run(&service, &["files", "x03031trjx0-1", "--pattern", "*.png"]).await;
    assert!(rows.lines().count() > 0 && rows.lines().all(|row| row.contains(".png\t")), "{rows}");
}

#[tokio::test]
async fn a_pattern_that_matches_nothing_is_an_error_with_the_files() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let to = directory.path().join("files").display().to_string();

    for arguments in [
        &["download", "x03031trjx0", "--pattern", "*.png", "--pattern", "*.zip", "--to", &to][..],
        &["files", "x03031trjx0", "--pattern", "*.zip"],
    ] {
        let (code, _, error) = run(&service, arguments).await;
        assert_eq!(code, Some(2), "{error}");
        assert!(
            error.contains("no file of the run matches `*.zip`; it has ")
                && error.contains("\n  screenshots/end.png\n"),
            "{error}"
        );
    }
    assert!(!directory.path().join("files").exists());
}

#[tokio::test]
async fn a_download_says_which_run_how_many_files_and_where() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let to = directory.path().join("files").display().to_string();
    let (code, notes) = run_on_terminal(&service, &["download", "x03031trjx0", "--to", &to]).await;

    assert_eq!(code, Some(0), "{notes}");
    assert!(notes.contains("run x03031trjx0: 5 files, ") && notes.contains(&format!("s: {to}")), "{notes}");
}

#[tokio::test]
async fn a_warning_of_an_export_names_the_test_and_the_case() {
    let service = Service::start().await;
    let (code, text) = run_on_terminal(&service, &["export", "x03031trjx0", "--yes"]).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("exported 1 test case of the run x03031trjx0\n"), "{text}");
    assert!(
        text.contains("warning: Pause and resume (run x03031trjx0): ") && text.contains("(case "),
        "{text}"
    );
}

#[tokio::test]
async fn a_pipe_gets_what_is_nested_in_an_answer_that_is_no_list() {
    let service = Service::start().await;
    let (_, printed, _) = run(&service, &["call", "get_run", "--run-id", seed::RUN_FAILED]).await;

    let run: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(run["players"][0]["steps"][1]["run_result"], "FAILED");
}

#[tokio::test]
async fn a_text_is_cut_at_lines_and_says_how_many_are_left_out() {
    let service = Service::start().await;
    for command in ["show", "report"] {
        let (_, whole, _) = run(&service, &[command, seed::RUN_FAILED]).await;
        let (_, short, _) = run(&service, &[command, seed::RUN_FAILED, "--max-chars", "200"]).await;
        let (kept, note) = short.trim_end().rsplit_once('\n').expect("lines");

        let missing = whole.lines().count() - kept.lines().count();
        assert!(whole.starts_with(kept) && kept.len() > 100 && kept.len() < 200, "{short}");
        assert_eq!(note, format!("... {missing} more lines are left out by --max-chars"));
    }
}
