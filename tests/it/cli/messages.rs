//! What a person reads after a command that cannot be carried out: the message, and the exit code.

use std::fs;

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{run, terminal::run_in_terminal};
use crate::support::{
    binary::{program, run_binary},
    service::Service,
};

#[tokio::test]
async fn a_refused_command_says_what_is_wrong_in_the_words_of_the_command_line() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let missing = format!("@{}", directory.path().join("missing.json").display());
    let not_a_file = format!("@{}", directory.path().display());
    let patch = |json| {
        ["call", "update_test", "--test-id", seed::TEST_PASSES, "--expected-version", "1", "--patch", json]
    };

    let cases: [(&[&str], i32, &str); 20] = [
        (&["call", "list_runs", "--page-size", "0"], 2, "`--page-size` must be from 1 to 100, got 0"),
        (&["call", "list_runs", "--page-siz", "1"], 2, "unexpected argument '--page-siz'"),
        (&["call", "get_rum"], 2, "did you mean `tas-mcp call get_run`?"),
        (&["call", "get_run"], 2, "`--run-id` is required"),
        (&["call", "start_run", "--name", "x"], 2, "`--name` requires `--instructions`"),
        (&["call", "list_runs", "--args", "{"], 2, "must be a JSON object: EOF while parsing"),
        (&["call", "list_runs", "--args", "[]"], 2, "must be a JSON object: it is another JSON value"),
        (&["call", "list_runs", "--args", &missing], 2, "cannot be read: No such file"),
        (&["call", "list_runs", "--args", &not_a_file], 2, "cannot be read: it is a directory"),
        (
            &patch("{name"),
            2,
            "`--patch` must be an object, but the text is not valid JSON: key must be a string",
        ),
        (&["call", "delete_test", "--test-id", seed::TEST_PASSES], 2, "then call again with `--yes`"),
        (&["runs", "--limit", "0"], 2, "invalid value '0' for '--limit <N>'"),
        (
            &["runs", "--fields", "test.nam"],
            2,
            "`--fields` names `test.nam`, which is not a field of the answer; the nearest is `name`",
        ),
        (
            &["runs", "--test", "Pause and re"],
            2,
            "no test has the name `Pause and re`; the nearest are\n  test Pause and resume (Menus",
        ),
        (
            &["run", "Nowhere at all"],
            2,
            "no plan or test has the name `Nowhere at all`\nhint: nothing was sent; see `tas-mcp plans` and `tas-mcp tests`",
        ),
        (&["wait", "nowhere"], 1, "no run, job or plan execution has the id `nowhere`"),
        (&["stop", "nowhere"], 1, "no run, job or plan execution has the id `nowhere`"),
        (&["export", "nowhere"], 1, "no run, job or plan execution has the id `nowhere`"),
        (&["download", "nowhere1"], 1, "nowhere1"),
        (&["frobnicate"], 2, "unrecognized subcommand 'frobnicate'"),
    ];
    for (arguments, code, message) in cases {
        let (found, printed, error) = run(&service, arguments).await;

        assert_eq!((found, printed.as_str()), (Some(code), ""), "{arguments:?}: {error}");
        assert!(error.contains(message), "{arguments:?}: {error}");
        let words = ["details.", "confirm: true", "`project_id`", "ask the person", "{\"error\""];
        assert!(!words.iter().any(|word| error.contains(word)), "{arguments:?}: {error}");
    }
}

#[tokio::test]
async fn several_violations_are_a_line_each() {
    let service = Service::start().await;
    let arguments = ["call", "list_runs", "--page-size", "0", "--state", "lost", "--newest", "99"];

    let (_, _, error) = run(&service, &arguments).await;

    let lines: Vec<_> = error.lines().filter(|line| line.starts_with("  `--")).collect();
    assert!(lines.len() >= 3, "{error}");
    assert!(error.ends_with("hint: nothing was sent\n"), "{error}");
}

#[tokio::test]
async fn arguments_are_read_from_a_file_with_any_line_ends() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("arguments.json");

    for text in ["{\r\n  \"page_size\": 1\r\n}\r\n", "\u{feff}{\"page_size\": 1}"] {
        fs::write(&path, text).expect("it can be written");
        let file = format!("@{}", path.display());
        let (code, printed, error) = run(&service, &["call", "list_runs", "--json", "--args", &file]).await;

        assert_eq!(code, Some(0), "{error}");
        let page: Value = serde_json::from_str(&printed).expect("JSON");
        assert_eq!(page["data"].as_array().map(Vec::len), Some(1));
    }
}

#[tokio::test]
async fn a_start_that_may_have_happened_has_an_exit_code_of_its_own() {
    let service = Service::start().await;
    service.fault(json!({"operation": "start_run", "status": 503})).await;
    let start = ["run", "Pause and resume", "--device", "Windows PC"];

    let (code, printed, error) = run(&service, &start).await;

    assert_eq!((code, printed.as_str()), (Some(4), ""), "{error}");
}

#[tokio::test]
async fn a_stop_of_which_a_part_fails_is_no_success() {
    let service = Service::start().await;
    let stopped =
        json!({"ok": false, "results": [{"job_id": seed::JOB_RUNNING, "ok": false, "message": "busy"}]});
    service.fault(json!({"operation": "stop_runs", "status": 207, "body": stopped})).await;

    let (code, printed, error) = run(&service, &["stop", seed::JOB_RUNNING, "--yes"]).await;

    assert_eq!(code, Some(1), "{error}");
    assert!(printed.contains("busy"), "{printed}");
}

#[tokio::test]
async fn a_reader_that_closes_the_output_is_no_failure() {
    let service = Service::start().await;
    let binary = env!("CARGO_BIN_EXE_tas-mcp");
    for command in ["runs", "devices", "status", "tools --json", "completions bash", "help settings"] {
        let script = format!("'{binary}' {command} | true; exit ${{PIPESTATUS[0]}}");
        let mut shell = program("bash", &["-c", &script], &[]);
        shell.env("TAS_BASE_URL", service.base_url()).env("TAS_API_KEY", keys::DEMO);
        let output = shell.output().await.expect("a shell");

        assert_eq!(output.status.code(), Some(0), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[tokio::test]
async fn a_failure_begins_with_what_the_user_did_and_names_the_host() {
    for (address, host) in [("localhost:1", "localhost:1"), ("tas.invalid", "tas.invalid")] {
        let variables = [("TAS_BASE_URL", address), ("TAS_API_KEY", keys::DEMO), ("TAS_TIMEOUT_S", "1")];
        let output = run_binary(&["runs"], &variables, &[]).await;
        let error = String::from_utf8(output.stderr).expect("UTF-8");

        assert_eq!(output.status.code(), Some(3), "{error}");
        assert!(error.contains(&format!("error: cannot list runs: no connection to {host}: ")), "{error}");
        assert!(!["list_runs", "dns", "tcp", "os error"].iter().any(|word| error.contains(word)), "{error}");
    }
}

#[tokio::test]
async fn a_failure_to_connect_names_the_command_and_not_its_first_request() {
    let directory = tempfile::tempdir().expect("a directory");
    let build = directory.path().join("game.apk");
    fs::write(&build, "PK").expect("written");
    let build = build.to_str().expect("UTF-8");
    let variables = [("TAS_BASE_URL", "localhost:1"), ("TAS_API_KEY", keys::DEMO), ("TAS_TIMEOUT_S", "1")];
    let commands: [(&[&str], &str); 7] = [
        (&["upload", build], "upload a build"),
        (&["upload", build, "--dry-run"], "upload a build"),
        (&["stop", "latest"], "stop the runs of jobs"),
        (&["report", "latest"], "summarize results"),
        (&["show", "latest"], "describe a record"),
        (&["wait", "latest"], "wait for runs to finish"),
        (&["call", "list_bugs"], "list reviewed bugs"),
    ];

    for (command, action) in commands {
        let output = run_binary(command, &variables, &[]).await;
        let error = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(
            error.contains(&format!("error: cannot {action}: no connection to localhost:1: ")),
            "{error}"
        );
    }

    let variables = [&variables[..], &[("HOME", directory.path().to_str().expect("UTF-8"))]].concat();
    let (code, screen) = run_in_terminal(200, &["upload", build], &variables, &[]).await;
    let last = screen.trim_end_matches("\u{1b}[2K").trim_end().lines().last().unwrap_or_default();
    assert_eq!(code, Some(3), "{screen}");
    assert!(last.contains("hint: check that the service is up"), "no progress remains below: {screen}");
}

#[tokio::test]
async fn a_missing_setting_and_a_wrong_one_have_different_advice() {
    let key = ("TAS_API_KEY", keys::DEMO);
    let cases: [(&[(&str, &str)], &str); 2] = [
        (&[key], "hint: run `tas-mcp login`"),
        (&[key, ("TAS_BASE_URL", "https://tas.invalid"), ("TAS_TIMEOUT_S", "x")], "hint: correct the value"),
    ];

    for (variables, advice) in cases {
        let output = run_binary(&["runs"], variables, &[]).await;
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(advice), "{error}");
    }
}

#[tokio::test]
async fn an_incomplete_address_is_completed_with_a_note() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let short = base_url.trim_start_matches("http://").trim_end_matches("/api/v1");
    let variables = [("TAS_BASE_URL", short), ("TAS_API_KEY", keys::DEMO)];
    let output = run_binary(&["runs"], &variables, &[]).await;

    assert!(output.status.success());
    let note = format!("note: the address `{short}` is read as {base_url}\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), note);

    let output = run_binary(&["runs", "--json"], &variables, &[]).await;
    assert_eq!((output.status.success(), output.stderr), (true, Vec::new()));
}

#[tokio::test]
async fn the_project_has_one_flag() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::ORGANIZATION)];

    let output = run_binary(&["runs"], &variables, &[]).await;
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(error.contains("`--project`") && !error.contains("project-id"), "{error}");

    for flag in ["--project", "--project-id"] {
        let output = run_binary(&["runs", flag, "arena", "--json"], &variables, &[]).await;
        assert!(
            output.status.success() && String::from_utf8_lossy(&output.stdout).contains("arena"),
            "{flag}"
        );
    }
}

#[tokio::test]
async fn without_the_knowledge_host_a_download_names_the_command_that_stores_its_address() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let to = directory.path().to_string_lossy();
    let (code, _, error) = run(&service, &["download", seed::RUN_FAILED, "--to", &to]).await;

    assert!(code != Some(0) && error.contains("`tas-mcp login --knowledge-url URL`"), "{error}");
}
