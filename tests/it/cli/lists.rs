//! Lists of records for people and for programs.

use serde_json::Value;
use tas_mcp::sandbox::{keys, seed};

use super::{run, terminal::run_in_terminal};
use crate::support::service::Service;

/// Runs a list command in a pipe. Returns the printed JSON.
async fn records(service: &Service, arguments: &[&str]) -> Value {
    let (code, printed, error) = run(service, &[arguments, &["--json"]].concat()).await;
    assert_eq!(code, Some(0), "{arguments:?}: {error}");
    serde_json::from_str(&printed).expect("JSON")
}

/// Runs a list command in a terminal. Returns the exit code and the text.
async fn terminal_text(
    columns: u16,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (Option<i32>, String) {
    let service = Service::start().await;
    let base_url = service.base_url();
    let own = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO), ("TERM", "xterm")];
    run_in_terminal(columns, arguments, &[&own, variables].concat(), &[]).await
}

#[tokio::test]
async fn the_newest_records_come_first() {
    let service = Service::start().await;
    for (command, time) in
        [("runs", "created_at"), ("jobs", "created_at"), ("builds", "created_at"), ("bugs", "created_at")]
    {
        let list = records(&service, &[command]).await;
        let times: Vec<_> =
            list["data"].as_array().expect("records").iter().map(|one| one[time].as_str()).collect();
        assert!(times.len() > 3 && times.is_sorted_by(|one, other| one >= other), "{command}: {times:?}");
    }

    let tests = records(&service, &["tests"]).await;
    let names: Vec<_> =
        tests["data"].as_array().expect("records").iter().map(|one| one["name"].as_str()).collect();
    assert!(names.len() > 3 && names.is_sorted(), "{names:?}");
}

#[tokio::test]
async fn flags_select_records() {
    let service = Service::start().await;
    let failed = records(&service, &["runs", "--failed", "--limit", "3"]).await;
    let results: Vec<_> =
        failed["data"].as_array().expect("records").iter().map(|run| &run["result"]).collect();
    assert!(
        results.len() == 3 && results.iter().all(|result| result.is_string() && **result != "SUCCESS"),
        "{results:?}"
    );
    assert!(failed["total_count"].as_u64().is_some_and(|count| count > 3));

    let of_test = records(&service, &["runs", "--test", "pause and resume"]).await;
    let names: Vec<_> =
        of_test["data"].as_array().expect("records").iter().map(|run| &run["test"]["name"]).collect();
    assert!(!names.is_empty() && names.iter().all(|name| **name == "Pause and resume"), "{names:?}");

    let windows = records(&service, &["builds", "--platform", "windows", "--fields", "platform"]).await;
    assert_eq!(windows["data"], serde_json::json!([{"platform": "windows"}]));
}

#[tokio::test]
async fn a_filter_that_no_record_has_is_named() {
    let service = Service::start().await;
    for (flag, value, expected) in [
        ("--build", "nowhere", "none is of a build `nowhere`"),
        // The beginning of an id has at least four characters.
        ("--build", "001", "none is of a build `001`"),
        ("--device", "nowhere", "none is on a device `nowhere`"),
    ] {
        let (code, _, note) = run(&service, &["runs", flag, value]).await;
        assert_eq!(code, Some(0), "{note}");
        assert!(note.contains(expected), "{note}");
    }
    let (_, _, note) = run(&service, &["runs", "--verdict", "failed", "--since", "1m"]).await;
    assert!(!note.contains("none is"), "{note}");

    let (code, _, error) = run(&service, &["runs", "--verdict", "FAIL"]).await;
    assert!(code == Some(2) && error.contains("[possible values: SUCCESS, PASSED, FAILED, "), "{error}");
}

#[tokio::test]
async fn a_field_of_no_record_is_valid_if_it_exists() {
    let service = Service::start().await;
    let empty = ["builds", "--tags", "no-such-tag", "--fields", "name,platform"];
    assert_eq!(records(&service, &empty).await["data"], serde_json::json!([]));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_row_never_wraps_at_80_columns_and_the_ends_of_names_tell_rows_apart() {
    for list in ["runs", "jobs", "executions", "plans", "tests", "builds", "devices", "bugs"] {
        let (code, text) = terminal_text(80, &[list], &[("NO_COLOR", "1")]).await;
        assert_eq!(code, Some(0), "{text}");
        let longest = text.lines().map(|line| line.chars().count()).max().expect("lines");
        assert!(longest <= 80, "{list}: {longest}\n{text}");
    }

    let (_, text) = terminal_text(80, &["runs"], &[("NO_COLOR", "1")]).await;
    assert!(text.contains("y 413") && text.contains("y 412") && text.contains("x03031tr"), "{text}");
    let (_, text) = terminal_text(80, &["devices"], &[("NO_COLOR", "1")]).await;
    let (beginning, _) = seed::CONFIG_WINDOWS.split_once('-').expect("a UUID");
    assert!(text.contains(beginning) && !text.contains(seed::CONFIG_WINDOWS), "{text}");
}

#[tokio::test]
async fn what_failed_last_night_is_one_command() {
    let service = Service::start().await;
    let all = records(&service, &["runs", "--limit", "100"]).await;
    let runs = all["data"].as_array().expect("runs");
    let middle = runs[runs.len() / 2]["created_at"].as_str().expect("a time");

    let since = records(&service, &["runs", "--since", middle]).await;
    let until = records(&service, &["runs", "--until", middle]).await;
    let count = |list: &Value| list["total_count"].as_u64().expect("a count");
    assert!(count(&since) > 3 && count(&until) > 3, "{since} {until}");
    assert_eq!(count(&since) + count(&until), runs.len() as u64);

    for (filter, field, expected) in [
        (&["--build", "nightly 412"][..], "/build/name", "Emberfall 1.4.0 nightly 412"),
        (&["--build", "0016157b"], "/build/name", "Emberfall 1.4.0 nightly 412"),
        (&["--device", "lab pc"], "/players/0/platform/config/device/name", "Lab PC 4"),
        // Runs name no device config, but its platform.
        (&["--device", "Windows PC"], "/players/0/platform/kind", "windows-native"),
        (&["--device", seed::CONFIG_WINDOWS], "/players/0/platform/kind", "windows-native"),
        (&["--verdict", "timeout"], "/result", "TIMEOUT"),
        (&["--verdict", "passed"], "/result", "SUCCESS"),
    ] {
        let list = records(&service, &[&["runs", "--limit", "100"], filter].concat()).await;
        let found = list["data"].as_array().expect("runs");
        assert!(!found.is_empty() && found.len() < runs.len(), "{filter:?}: {list}");
        assert!(found.iter().all(|run| run.pointer(field) == Some(&expected.into())), "{filter:?}: {list}");
    }

    let of_plan = records(&service, &["runs", "--plan", "Release smoke", "--limit", "100"]).await;
    let tests = |list: &Value| {
        list["data"]
            .as_array()
            .expect("runs")
            .iter()
            .map(|run| run["test"]["name"].to_string())
            .collect::<Vec<_>>()
    };
    assert!(
        tests(&of_plan).len() > 4 && !tests(&of_plan).iter().any(|test| test.contains("Co-op")),
        "{of_plan}"
    );
    let with_bugs = records(&service, &["runs", "--bugs", "--limit", "100"]).await;
    assert!(count(&with_bugs) > 0 && count(&with_bugs) < runs.len() as u64, "{with_bugs}");
}

#[tokio::test]
async fn jobs_executions_tests_and_builds_have_the_filters_that_fit_them() {
    let service = Service::start().await;
    let jobs = records(&service, &["jobs", "--plan", "Release smoke", "--build", "nightly 412"]).await;
    let executions: Vec<_> =
        jobs["data"].as_array().expect("jobs").iter().map(|job| &job["test_plan_execution_id"]).collect();
    assert!(executions.len() == 4 && executions.iter().all(|id| **id == seed::EXECUTION_COMPLETED), "{jobs}");

    let failed = records(&service, &["jobs", "--failed", "--limit", "100"]).await;
    let passed = |job: &Value| {
        job["runs"].as_array().is_some_and(|runs| runs.iter().any(|run| run["result"] == "SUCCESS"))
    };
    assert!(
        failed["data"].as_array().is_some_and(|jobs| jobs.len() > 2 && !jobs.iter().any(passed)),
        "{failed}"
    );

    let executions = records(&service, &["executions", "--failed", "--build", "412"]).await;
    assert_eq!(executions["data"][0]["id"], seed::EXECUTION_COMPLETED);
    let failed = records(&service, &["executions", "--failed"]).await;
    let statuses = failed["data"].as_array().expect("executions").iter().map(|one| &one["status"]);
    assert!(statuses.clone().count() > 0 && statuses.clone().all(|one| *one == "completed"), "{failed}");
    let tests = records(&service, &["tests", "--search", "RESUME pause"]).await;
    assert_eq!((&tests["total_count"], &tests["data"][0]["name"]), (&1.into(), &"Pause and resume".into()));

    let (code, _, error) = run(&service, &["tests", "--since", "24h"]).await;
    assert_eq!(
        (code, error.as_str()),
        (Some(2), "error: `--since` does not apply to tests\nhint: `--search` can be used\n")
    );
}

#[tokio::test]
async fn a_pipe_gets_rows_and_every_format_has_the_same_records() {
    let service = Service::start().await;
    let limited = |more: &[&'static str]| [&["runs", "--limit", "2"], more].concat();
    let (_, rows, notes) = run(&service, &limited(&[])).await;
    let json = records(&service, &limited(&[])).await;

    let first = &json["data"][0];
    let cells: Vec<_> = rows.lines().next().expect("a row").split('\t').collect();
    assert_eq!(rows.lines().count(), 2, "{rows}");
    assert_eq!(
        (cells[1], cells[7]),
        (first["test"]["name"].as_str().unwrap(), first["multiplayer_run_id"].as_str().unwrap())
    );
    assert_eq!(cells[6], first["created_at"]);
    assert!(notes.contains("2 of ") && notes.contains("records; more: --limit"), "{notes}");

    let (_, csv, _) = run(&service, &limited(&["--csv"])).await;
    assert!(csv.starts_with("verdict,test,build,device,took,bugs,age,id,"), "{csv}");
    let (_, marked, _) = run(&service, &limited(&["--csv=excel"])).await;
    assert!(marked.starts_with("\u{feff}verdict,test,"), "{marked}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_list_that_is_watched_is_drawn_again() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_API_KEY", keys::DEMO),
        ("TERM", "xterm"),
        ("NO_COLOR", "1"),
    ];
    // The list is drawn a second time before the watch is ended.
    let drawn = "\u{1b}[H\u{1b}[Jverdict  test";
    let typed = [(drawn, ""), (drawn, "\u{3}")];
    let (_, text) = run_in_terminal(80, &["runs", "--watch", "--limit", "2"], &variables, &typed).await;
    assert!(text.matches("verdict  test").count() >= 2, "{text}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_record_without_the_fields_of_the_columns_is_a_row() {
    let service = Service::start().await;
    let page = serde_json::json!({"data": [{"multiplayer_run_id": "r1"}], "pagination": {"page": 0, "page_size": 20, "total_count": 1, "total_pages": 1}});
    service.fault(serde_json::json!({"operation": "list_runs", "status": 200, "body": page})).await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO), ("TERM", "dumb")];
    let (_, text) = run_in_terminal(80, &["call", "list_runs"], &variables, &[]).await;
    assert!(text.contains("id\nr1\n"), "{text}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn verdicts_have_colours_where_the_terminal_shows_them() {
    for (variables, has_colours) in [
        (&[][..], true),
        (&[("NO_COLOR", "1")], false),
        (&[("TERM", "dumb")], false),
        (&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false),
        (&[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")], true),
        (&[("TERM", "dumb"), ("CI", "1")], true),
    ] {
        let (code, text) = terminal_text(120, &["runs", "--failed"], variables).await;

        assert_eq!(
            (code, text.contains("\u{1b}[31mFAILED")),
            (Some(0), has_colours),
            "{variables:?}: {text}"
        );
        assert!(text.contains("Pause and resume") && text.contains("x03031trjx0"), "{text}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn selected_fields_are_the_columns() {
    let (_, text) =
        terminal_text(100, &["runs", "--failed", "--fields", "test.name,result", "--limit", "1"], &[]).await;
    assert_eq!(text.lines().next(), Some("test.name               result"), "{text}");
}
