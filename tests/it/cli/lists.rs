//! Lists of records for people and for programs.

use serde_json::Value;
use tas_mcp::sandbox::{keys, seed};

use crate::support::{binary::run_binary, service::Service, terminal::run_in_terminal};

/// Runs a list command in a pipe. Returns the printed JSON.
async fn records(service: &Service, arguments: &[&str]) -> Value {
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let output = run_binary(arguments, &variables, &[]).await;

    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
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
async fn a_field_of_no_record_is_valid_if_it_exists() {
    let service = Service::start().await;
    let empty = ["builds", "--tags", "no-such-tag", "--fields", "name,platform"];
    assert_eq!(records(&service, &empty).await["data"], serde_json::json!([]));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_table_fits_the_terminal_and_ids_stay_whole() {
    for columns in [40, 100] {
        let (code, text) = terminal_text(columns, &["devices"], &[]).await;
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains(seed::CONFIG_WINDOWS), "{text}");

        let longest = text.lines().map(|line| line.chars().count()).max().expect("lines");
        // At 40 columns each other column has its least width.
        assert!(longest <= usize::from(columns).max(36 + 4 * 2 + 4 * 13), "{columns}: {longest}\n{text}");
    }
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
        assert!(text.contains("Pause and resume") && text.contains("days ago"), "{text}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn selected_fields_are_the_columns() {
    let (_, text) =
        terminal_text(100, &["runs", "--failed", "--fields", "test.name,result", "--limit", "1"], &[]).await;
    assert_eq!(text.lines().next(), Some("test.name               result"), "{text}");
}
