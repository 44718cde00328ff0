//! Waits that end before the runs do, and questions at the terminal.

use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    binary::{program, run_binary},
    service::Service,
    terminal::run_in_terminal,
};

/// Runs a command in a terminal with this service, and types each text after the text before it.
async fn run(service: &Service, arguments: &[&str], typed: &[(&str, &str)]) -> (Option<i32>, String) {
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO), ("TERM", "xterm")];
    run_in_terminal(120, arguments, &variables, typed).await
}

#[tokio::test]
async fn a_wait_that_takes_too_long_says_how_to_continue() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let start =
        ["run", "test", "Pause and resume", "--device", "Windows PC", "--wait", "--timeout-seconds", "1"];
    let output = run_binary(&start, &variables, &[]).await;

    let notes = String::from_utf8(output.stderr).expect("UTF-8");
    let advice: Vec<_> =
        notes.lines().filter_map(|line| line.strip_prefix("continue with: tas-mcp ")).collect();

    assert_eq!(output.status.code(), Some(11), "{notes}");
    // The advice is printed at the start and at the end.
    assert!(advice.len() == 2 && advice[0] == advice[1], "{notes}");

    let continued: Vec<_> = advice[0].split(' ').chain(["--timeout-seconds", "1"]).collect();
    let output = run_binary(&continued, &variables, &[]).await;
    assert_eq!(output.status.code(), Some(11));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_interrupted_wait_says_how_to_continue_and_stops_nothing() {
    let service = Service::start().await;
    // The terminal sends an interrupt for the typed Ctrl-C.
    let (code, text) = run(&service, &["wait", seed::JOB_RUNNING], &[("finished", "\u{3}")]).await;

    // The status of a process that an interrupt has ended.
    assert_eq!(code, Some(130), "{text}");
    let advice = format!("continue with: tas-mcp wait {}", seed::JOB_RUNNING);
    assert!(text.contains("the runs continue") && text.trim_end().ends_with(&advice), "{text}");
    assert_eq!(service.writes().await, [""; 0]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_terminated_wait_says_how_to_continue() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let script =
        format!("timeout --preserve-status 2 '{}' wait {}", env!("CARGO_BIN_EXE_tas-mcp"), seed::JOB_RUNNING);
    let output = program("sh", &["-c", &script], &variables).output().await.expect("a shell");

    let notes = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(143), "{notes}");
    assert_eq!(notes.matches("continue with: ").count(), 2, "{notes}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_device_that_is_not_named_is_asked_for() {
    let service = Service::start().await;
    let start = ["run", "test", "Pause and resume"];
    let (code, text) = run(&service, &start, &[("a name]:", "lab\n"), ("a name]:", "iphone\n")]).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1   Android phones ") && text.contains("2 devices have these words"), "{text}");
    assert!(text.contains("jobs: ") && text.contains("the service chose the build"), "{text}");

    // Only the devices on which the build runs are shown.
    let named = [&start[..], &["--build", "certification 2"]].concat();
    let (code, text) = run(&service, &named, &[("[1-1, or a name]:", "1\n")]).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("PlayStation 5") && !text.contains("Windows PC"), "{text}");

    let (code, text) = run(&service, &start, &[("a name]:", "\n")]).await;
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("error: not confirmed\nhint: nothing was sent"), "{text}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_devices_of_the_slots_of_a_plan_are_asked_for() {
    let service = Service::start().await;
    let start = ["run", "plan", "Cross-play party", "--device", "Windows PC", "--device", "2=android phones"];
    let (code, text) = run(&service, &start, &[("Device for slot 3, Console", "iphone\n")]).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("slot 2") && text.contains("jobs: "), "{text}");
}

#[tokio::test]
async fn a_start_says_which_device_or_build_is_missing_or_does_not_fit() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let test = ["run", "test", "Pause and resume"];
    let plan = ["run", "plan", "Cross-play party"];
    for (start, code, message) in [
        (
            &test[..],
            2,
            "`--device` is missing: where does the test run?\nhint: `tas-mcp devices` lists the devices",
        ),
        (
            &[&test[..], &["--device", "Windows PC", "--build", "nightly 412"]].concat(),
            2,
            "the build `Emberfall 1.4.0 nightly 412` is for android, and the device `Windows PC` runs windows; the newest builds that fit\n  Emberfall 1.4.0 nightly 413 (Windows): ",
        ),
        (
            &[&plan[..], &["--device", "Windows PC"]].concat(),
            1,
            "add `--device \"2=...\"` (Phone), `--device \"3=...\"` (Console)",
        ),
        (
            &[&plan[..], &["--device", "1=Windows PC", "--device", "Windows PC"]].concat(),
            2,
            "`--device` names the device twice",
        ),
        (&[&test[..], &["--build", "2=latest"]].concat(), 2, "`--build 2=...` needs `--device 2=...`"),
        (&["run", "test"], 2, "which test is to be started?"),
    ] {
        let output = run_binary(start, &variables, &[]).await;
        let error = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!((output.status.code(), error.contains(message)), (Some(code), true), "{start:?}: {error}");
    }

    let slots = [
        &plan[..],
        &[
            "--device",
            "Windows PC",
            "--device",
            "2=Android phones",
            "--build",
            "2=nightly 412",
            "--device",
            "3=iPhone 15",
            "--json",
        ],
    ]
    .concat();
    let output = run_binary(&slots, &variables, &[]).await;
    let started: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(started["slot_build_ids"]["2"], seed::BUILD_ANDROID_EARLIER, "{started}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_is_deleted_or_started_without_a_yes() {
    let service = Service::start().await;
    let delete = ["call", "delete_build", "--build-id", seed::BUILD_ANDROID];
    let start = ["run", "test", "Pause and resume", "--device", "Windows PC", "--instances", "3"];

    let call = ["call", "start_run", "--args", r#"{"instances": 3}"#];
    let export = ["export", seed::RUN_FAILED];
    let call_export = ["call", "export_tmsys_run", "--multiplayer-run-id", seed::RUN_FAILED];

    for (arguments, question) in [
        (&delete[..], "delete"),
        (&start[..], "This starts 3 runs"),
        (&call[..], "This starts 3 runs"),
        (&export[..], "This creates a new entry"),
        (&call_export[..], "This creates a new entry"),
    ] {
        let (code, text) = run(&service, arguments, &[("[y/N]", "n\n")]).await;
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(question) && text.contains("Continue? [y/N]"), "{text}");
        assert!(text.contains("error: not confirmed\nhint: nothing was sent"), "{text}");
    }
    assert_eq!(service.writes().await, [""; 0]);

    let (code, text) = run(&service, &start, &[("[y/N]", "y\n")]).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("jobs: ") && text.contains("continue with: tas-mcp wait "), "{text}");

    let (code, text) = run(&service, &[&export[..], &["--yes"]].concat(), &[]).await;
    assert_eq!(code, Some(0), "{text}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_start_on_some_devices_names_the_others() {
    let service = Service::start().await;
    let start = ["run", "test", "Pause and resume", "--device", "Android phones, lab B", "--yes"];
    let all_devices = [&start[..], &["--all-devices"]].concat();

    let (_, text) = run(&service, &all_devices, &[]).await;

    assert!(text.contains("not started on "), "{text}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_stop_names_the_tests_and_asks_at_a_terminal() {
    let service = Service::start().await;
    let stop = ["stop", seed::JOB_RUNNING];

    let (code, text) = run(&service, &stop, &[("[y/N]", "n\n")]).await;
    assert!(code == Some(2) && text.contains("This stops 1 job: "), "{code:?} {text}");
    assert_eq!(service.writes().await, [""; 0]);

    let (code, text) = run(&service, &stop, &[("[y/N]", "y\n")]).await;
    assert!(code == Some(0) && text.contains("stopped"), "{code:?} {text}");
    let (code, text) = run(&service, &["stop", seed::JOB_QUEUED, "--yes"], &[]).await;
    assert!(code == Some(0) && !text.contains("[y/N]"), "{code:?} {text}");
    assert_eq!(service.writes().await.len(), 2);
}

#[tokio::test]
async fn a_pipe_gets_the_jobs_of_a_start_and_the_text_of_a_report() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];

    let start = ["run", "test", "Pause and resume", "--device", "Windows PC"];
    let started = run_binary(&start, &variables, &[]).await;
    let report = run_binary(&["report", seed::RUN_FAILED], &variables, &[]).await;

    assert!(started.stdout.starts_with(b"jobs: ") && started.stdout.ends_with(b"\n"), "{started:?}");
    assert!(report.stdout.starts_with(b"Pause and resume: 0 of 1 passed\n"), "{report:?}");
    assert!(!report.stdout.contains(&0x1b), "no colours");
}
