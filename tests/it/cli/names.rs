//! Names in place of ids.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::support::{binary::binary, service::Service};

/// Runs a command with this service. Returns the exit code, the printed JSON and standard error.
async fn run(service: &Service, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let knowledge = [("TAS_KNOWLEDGE_URL", &*service.knowledge_url())];
    let (code, printed, errors) = super::run_with(service, arguments, &knowledge).await;
    (code, serde_json::from_str(&printed).unwrap_or_default(), errors)
}

/// Does the same with `--json`.
async fn run_json(service: &Service, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let flag: &[&str] = if arguments.contains(&"--json") { &[] } else { &["--json"] };
    run(service, &[arguments, flag].concat()).await
}

#[tokio::test]
async fn a_test_is_started_by_the_names_of_test_device_and_build() {
    let service = Service::start().await;
    let named = ["run", "pause and RESUME", "--device", "windows pc", "--build", "nightly 413"];

    let (code, started, notes) = run_json(&service, &named).await;

    assert_eq!(code, Some(0), "{notes}");
    assert!(notes.contains("build: Emberfall 1.4.0 nightly 413 (Windows) ("), "{notes}");
    let job = started["job_ids"][0].as_str().expect("a job");
    let (_, job, _) = run_json(&service, &["call", "get_job", "--job-id", job]).await;
    assert_eq!((&job["test_name"], &job["platform"]), (&"Pause and resume".into(), &"windows".into()));
}

#[tokio::test]
async fn a_start_without_a_build_names_the_build_that_the_service_chose() {
    let service = Service::start().await;
    let (code, started, notes) =
        run_json(&service, &["run", "Pause and resume", "--device", "Windows PC"]).await;

    let build = started["build_id"].as_str().expect("a build");
    assert_eq!(code, Some(0), "{notes}");
    assert!(notes.contains("the service chose the build Emberfall 1.4.0"), "{notes}");
    assert!(notes.contains(&format!("({build})")), "{notes}");
}

#[tokio::test]
async fn several_builds_with_the_words_are_listed_and_nothing_is_started() {
    let service = Service::start().await;
    let (code, _, error) =
        run(&service, &["run", "Pause and resume", "--device", "Steam Deck", "--build", "nightly"]).await;

    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("none of the 4 builds that are meant runs on linux"), "{error}");

    let start = ["run", "Pause and resume", "--device", "Android phones", "--build", "nightly"];
    let (code, _, error) = run(&service, &start).await;
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("`nightly` names 2 records"), "{error}");
    assert_eq!(error.matches("\n  build Emberfall 1.4.0 nightly").count(), 2, "{error}");
    assert_eq!(service.writes().await, [""; 0]);
}

#[tokio::test]
async fn a_wait_follows_the_latest_start_even_if_it_is_queued() {
    let service = Service::start().await;
    let jobs = ["jobs", "--test", "Pause and resume", "--limit", "1", "--json"];
    let (_, newest, _) = run_json(&service, &jobs).await;
    let job = newest["data"][0]["job_id"].as_str().expect("a job");
    assert_eq!(newest["data"][0]["status"], "QUEUED");

    for (name, target) in [
        ("pause AND resume", job),
        ("Cross-play party", seed::EXECUTION_QUEUED),
        ("Release smoke", seed::EXECUTION_IN_PROGRESS),
        (seed::RUN_RUNNING, seed::RUN_RUNNING),
    ] {
        let (_, waited, error) = run_json(&service, &["wait", name, "--timeout-seconds", "1"]).await;
        assert_eq!(waited["target_id"], target, "{name}: {error}");
    }

    let (_, waited, error) = run_json(&service, &["wait", "latest", "--timeout-seconds", "1"]).await;
    assert_eq!(waited["target_id"], seed::EXECUTION_QUEUED, "{error}");
}

#[tokio::test]
async fn several_ids_are_ids_of_jobs_and_need_no_look_up() {
    let service = Service::start().await;
    let (code, waited, error) = run_json(&service, &["wait", seed::JOB_PASSED, seed::JOB_FAILED]).await;

    assert_eq!((code, &waited["total"]), (Some(10), &2.into()), "{error}");
    let requests = service.requests().await;
    // The table names the build.
    let is_needed = |request: &String| request.contains("/jobs/") || request.contains("/builds/");
    assert!(requests.iter().all(is_needed), "{requests:?}");
}

#[tokio::test]
async fn a_deletion_takes_only_the_whole_name_of_a_build() {
    let service = Service::start().await;
    let delete = |name| ["call", "delete_build", "--yes", "--build-id", name];

    for name in ["nightly 412", "latest"] {
        let (code, _, error) = run(&service, &delete(name)).await;
        assert_eq!(code, Some(2), "{name}: {error}");
    }
    assert_eq!(service.writes().await, [""; 0]);

    let (code, _, error) = run(&service, &delete("emberfall 1.4.0 nightly 412")).await;
    assert_eq!(code, Some(0), "{error}");
}

#[tokio::test]
async fn the_jobs_of_a_start_are_printed_before_the_build_is_read() {
    let service = Service::start().await;
    // The answer comes only after the release.
    service.fault(json!({"operation": "get_build", "delay_ms": 600_000})).await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let start = ["run", "Pause and resume", "--device", "Windows PC", "--json"];

    let mut child = binary(&start, &variables).spawn().expect("the binary starts");
    let mut lines = BufReader::new(child.stdout.take().expect("an output")).lines();
    let started = lines.next_line().await.expect("UTF-8").expect("a line");
    assert!(started.contains("job_ids"), "{started}");

    // The request for the build may not have arrived yet.
    while !service.requests().await.iter().any(|request| request.starts_with("GET /builds/")) {
        service.release().await;
        tokio::task::yield_now().await;
    }
    let output = child.wait_with_output().await.expect("an end");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn a_build_whose_name_cannot_be_read_is_named_by_its_id() {
    let service = Service::start().await;
    service.fault(json!({"operation": "get_build", "status": 404})).await;

    let start = ["run", "Pause and resume", "--device", "Windows PC"];
    let (code, started, notes) = run_json(&service, &start).await;

    let build = started["build_id"].as_str().expect("a build");
    assert_eq!(code, Some(0), "{notes}");
    assert!(notes.contains(&format!("the service chose the build ({build})")), "{notes}");
}

#[tokio::test]
async fn every_tool_takes_names_where_it_takes_ids_of_named_records() {
    let service = Service::start().await;
    for (arguments, field, expected) in [
        (&["call", "get_test", "--test-id", "pause and resume"][..], "/id", seed::TEST_FAILS),
        (&["call", "get_test_plan", "--test-plan-id", "Release smoke"], "/id", seed::PLAN_SMOKE),
        (&["call", "get_bug", "--bug-id", "Pause button does not react"], "/id", seed::BUG_ACTIVE),
        (&["call", "get_build", "--build-id", "nightly 412"], "/id", seed::BUILD_ANDROID_EARLIER),
        (&["call", "list_tests", "--folder-id", "Menus"], "/data/0/folder_id", seed::FOLDER_MENUS),
        (&["call", "get_run", "--run-id", "latest"], "/multiplayer_run_id", seed::RUN_RUNNING),
        (&["call", "get_run", "--run-id", "Pause and resume"], "/multiplayer_run_id", "x03031trjx0"),
        (
            &["call", "get_test_plan_execution", "--test-plan-execution-id", "Release smoke"],
            "/id",
            seed::EXECUTION_IN_PROGRESS,
        ),
        (
            &["runs", "--multiplayer-test-id", "Pause and resume", "--json"],
            "/data/0/test/id",
            seed::TEST_FAILS,
        ),
        (&["executions", "--plan", "Release smoke", "--json"], "/data/0/test_plan_id", seed::PLAN_SMOKE),
    ] {
        let (code, printed, error) = run_json(&service, arguments).await;
        assert_eq!(
            (code, printed.pointer(field)),
            (Some(0), Some(&expected.into())),
            "{arguments:?}: {error}"
        );
    }
}

#[tokio::test]
async fn the_devices_of_slots_are_named() {
    let service = Service::start().await;
    let slots = r#"{"2": {"deployment_config_id": "android PHONES", "build_id": "1.4.0 nightly 412"}, "3": {"deployment_config_id": "iPhone 15"}}"#;
    let start = [
        "call",
        "start_test_plan_run",
        "--test-plan-id",
        "Cross-play party",
        "--deployment-config-id",
        "Windows PC",
        "--slot-deployment-configs",
        slots,
    ];

    let (code, started, error) = run_json(&service, &start).await;

    assert_eq!(code, Some(0), "{error}");
    assert_eq!(started["slot_build_ids"]["2"], seed::BUILD_ANDROID_EARLIER, "{started}");
}

#[tokio::test]
async fn a_report_is_named_by_its_test_its_plan_or_latest() {
    let service = Service::start().await;
    for (name, target) in
        [("Pause and resume", "x03031trjx0"), ("release SMOKE", seed::EXECUTION_IN_PROGRESS)]
    {
        let (code, report, error) = run_json(&service, &["report", name]).await;
        assert_eq!((code, &report["target_id"]), (Some(0), &target.into()), "{name}: {error}");
    }
}

#[tokio::test]
async fn a_stop_finds_the_jobs_of_what_is_named() {
    let service = Service::start().await;
    for name in ["latest", "Release smoke", "Pause and resume"] {
        let (code, stopped, error) = run_json(&service, &["stop", name, "--yes"]).await;
        assert!(stopped["stopped_count"].as_u64().is_some_and(|count| count > 0), "{name}: {error}");
        assert_eq!(code, Some(0), "{name}: {error}");
    }

    let (code, _, error) = run(&service, &["stop", seed::EXECUTION_COMPLETED]).await;
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("nothing of this is queued or running"), "{error}");
}

#[tokio::test]
async fn an_execution_is_exported_once() {
    let service = Service::start().await;
    let export = ["export", seed::EXECUTION_COMPLETED];
    let (code, first, error) = run_json(&service, &export).await;
    assert_eq!((code, &first["already_exported"]), (Some(0), &false.into()), "{error}");

    let (_, second, _) = run_json(&service, &export).await;
    assert_eq!(second["already_exported"], true);

    let another = [&export[..], &["--new"]].concat();
    let (code, _, error) = run(&service, &another).await;
    assert!(code == Some(2) && error.contains("creates a new entry for `Release smoke`"), "{error}");
    let (_, another, _) = run_json(&service, &[&another[..], &["--yes"]].concat()).await;
    assert_eq!(another["already_exported"], false);
}

#[tokio::test]
async fn the_files_of_the_latest_run_of_a_test_are_downloaded() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let to = directory.path().join("files").display().to_string();

    let (code, report, error) = run_json(&service, &["download", "Pause and resume", "--to", &to]).await;

    assert_eq!(code, Some(0), "{error}");
    assert!(report["files"].as_array().is_some_and(|files| !files.is_empty()), "{report}");
}

#[tokio::test]
async fn the_beginning_of_an_id_is_accepted_where_an_id_is() {
    let service = Service::start().await;
    let beginning = |id: &'static str| &id[..8];
    for (arguments, field, expected) in [
        (&["report", beginning(seed::JOB_FAILED)][..], "/target_id", seed::JOB_FAILED),
        (&["report", beginning(seed::EXECUTION_COMPLETED)], "/target_id", seed::EXECUTION_COMPLETED),
        (&["report", "x03031t"], "/target_id", "x03031trjx0"),
        (&["call", "get_test_plan", "--test-plan-id", beginning(seed::PLAN_SMOKE)], "/id", seed::PLAN_SMOKE),
        (&["call", "get_build", "--build-id", beginning(seed::BUILD_ANDROID)], "/id", seed::BUILD_ANDROID),
        (&["call", "get_job", "--job-id", beginning(seed::JOB_FAILED)], "/job_id", seed::JOB_FAILED),
        (&["show", beginning(seed::CONFIG_WINDOWS), "--json"], "/id", seed::CONFIG_WINDOWS),
    ] {
        let (code, printed, error) = run_json(&service, arguments).await;
        assert_eq!(
            (code, printed.pointer(field)),
            (Some(0), Some(&expected.into())),
            "{arguments:?}: {error}"
        );
    }
}

#[tokio::test]
async fn the_latest_is_the_newest_start_and_says_which_it_is() {
    let service = Service::start().await;
    let (_, started, error) =
        run_json(&service, &["run", "Buy an item in the shop", "--device", "Windows PC"]).await;
    let job = started["job_ids"][0].as_str().expect(&error);
    let (_, waited, notes) = run_json(&service, &["wait", "latest", "--timeout-seconds", "1"]).await;
    assert_eq!((&waited["target_id"], &waited["target_type"]), (&job.into(), &"job".into()), "{notes}");
    assert!(notes.contains(&format!("latest: job {job}, Buy an item in the shop, ")), "{notes}");

    let (_, started, error) =
        run_json(&service, &["run", "Release smoke", "--device", "Android phones"]).await;
    let execution = started["test_plan_execution_id"].as_str().expect(&error);
    for command in [&["wait", "latest", "--timeout-seconds", "1"][..], &["report", "latest"]] {
        let (_, result, notes) = run_json(&service, command).await;
        assert_eq!(result["target_id"], execution, "{command:?}: {notes}");
        assert!(notes.contains(&format!("latest: plan execution {execution}, Release smoke")), "{notes}");
    }
}
