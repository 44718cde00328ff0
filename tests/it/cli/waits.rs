//! Waits that end before the runs do, and questions at the terminal.

use tas_mcp::sandbox::{keys, seed};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

use super::{run, run_with, terminal::run_in_terminal};
use crate::support::{binary::binary, service::Service};

/// Runs a command in a terminal with this service, and types each text after the text before it.
async fn typing(service: &Service, arguments: &[&str], typed: &[(&str, &str)]) -> (Option<i32>, String) {
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO), ("TERM", "xterm")];
    run_in_terminal(120, arguments, &variables, typed).await
}

#[tokio::test]
async fn a_wait_that_takes_too_long_says_how_to_continue() {
    let service = Service::start().await;
    let start = ["run", "Pause and resume", "--device", "Windows PC", "--wait", "--timeout-seconds", "1"];
    let (code, _, notes) = run(&service, &start).await;
    let advice: Vec<_> =
        notes.lines().filter_map(|line| line.strip_prefix("continue with: tas-mcp ")).collect();

    assert_eq!(code, Some(11), "{notes}");
    // The advice is printed at the start and at the end.
    assert!(advice.len() == 2 && advice[0] == advice[1], "{notes}");

    let continued: Vec<_> = advice[0].split(' ').chain(["--timeout-seconds", "1"]).collect();
    assert_eq!(run(&service, &continued).await.0, Some(11));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_interrupted_wait_says_how_to_continue_and_stops_nothing() {
    let service = Service::start().await;
    // The terminal sends an interrupt for the typed Ctrl-C.
    let (code, text) = typing(&service, &["wait", seed::JOB_RUNNING], &[("finished", "\u{3}")]).await;

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
    let mut child = binary(&["wait", seed::JOB_RUNNING], &variables).spawn().expect("the binary starts");
    let mut errors = BufReader::new(child.stderr.take().expect("an output"));
    let mut notes = String::new();
    while !notes.contains("continue with: ") {
        assert!(errors.read_line(&mut notes).await.expect("UTF-8") > 0, "{notes}");
    }
    // Signals are handled before the status is read.
    let before = service.requests().await.len();
    while service.requests().await.len() == before {
        tokio::task::yield_now().await;
    }

    let id = child.id().expect("it runs").to_string();
    let sent = tokio::process::Command::new("kill").args(["-TERM", &id]).status().await;
    assert!(sent.expect("kill is there").success());
    errors.read_to_string(&mut notes).await.expect("UTF-8");

    assert_eq!(child.wait().await.expect("an end").code(), Some(143), "{notes}");
    assert_eq!(notes.matches("continue with: ").count(), 2, "{notes}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_device_that_is_not_named_is_asked_for() {
    let service = Service::start().await;
    let start = ["run", "Pause and resume"];
    let (code, text) = typing(&service, &start, &[("a name]:", "lab\n"), ("a name]:", "iphone\n")]).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1   Android phones ") && text.contains("2 devices have these words"), "{text}");
    assert!(
        text.contains("started Pause and resume") && text.contains("the service chose the build"),
        "{text}"
    );

    // Only the devices on which the build runs are shown.
    let named = [&start[..], &["--build", "certification 2"]].concat();
    let (code, text) = typing(&service, &named, &[("[1-1, or a name]:", "1\n")]).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("PlayStation 5") && !text.contains("Windows PC"), "{text}");

    let (code, text) = typing(&service, &start, &[("a name]:", "\n")]).await;
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("error: not confirmed\nhint: nothing was sent"), "{text}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_devices_of_the_slots_of_a_plan_are_asked_for() {
    let service = Service::start().await;
    let start = ["run", "Cross-play party", "--device", "Windows PC", "--device", "2=android phones"];
    let (code, text) = typing(&service, &start, &[("Device for slot 3, Console", "iphone\n")]).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(
        !text.contains("slot 2") && text.contains("started Cross-play party on Windows PC: 2 jobs"),
        "{text}"
    );
}

#[tokio::test]
async fn a_start_says_which_device_or_build_is_missing_or_does_not_fit() {
    let service = Service::start().await;
    let test = ["run", "Pause and resume"];
    let plan = ["run", "Cross-play party"];
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
        (&["run", "--device", "Windows PC"], 2, "which test or plan is to be started?"),
        (&[&plan[..], &["--retries", "2"]].concat(), 2, "are for a test, and this is a plan"),
    ] {
        let (found, _, error) = run(&service, start).await;
        assert_eq!((found, error.contains(message)), (Some(code), true), "{start:?}: {error}");
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
    let (_, started, _) = run(&service, &slots).await;
    let started: serde_json::Value = serde_json::from_str(&started).expect("JSON");
    assert_eq!(started["slot_build_ids"]["2"], seed::BUILD_ANDROID_EARLIER, "{started}");
}

/// Commands that ask, and what they say.
const ASKING: [(&[&str], &str); 6] = [
    (
        &["call", "delete_build", "--build-id", seed::BUILD_ANDROID],
        "his deletes the build `Emberfall 1.4.0 nightly 413` (android, 700.00 MiB) and its file permanently",
    ),
    (&["stop", seed::JOB_RUNNING], "his stops 1 job: `Beat the Cinder Golem`"),
    (
        &["run", "Pause and resume", "--device", "Windows PC", "--instances", "3"],
        "his starts 3 runs of the test `Pause and resume` on `Windows PC`",
    ),
    (
        &["run", seed::PLAN_SMOKE, "--device", "Android phones", "--all-devices"],
        "his starts one run of each test of the plan `Release smoke` (4 tests) on every device of `Android phones`",
    ),
    (&["export", seed::RUN_FAILED], "his creates a new entry for `Pause and resume`"),
    (
        &["call", "export_tmsys_run", "--multiplayer-run-id", seed::RUN_FAILED],
        "his creates a new entry for `Pause and resume`",
    ),
];

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_stops_deletes_or_multiplies_is_named_and_needs_a_yes() {
    let service = Service::start().await;
    for (command, question) in ASKING {
        let (code, text) = typing(&service, command, &[("[y/N]", "n\n")]).await;
        let text = text.replace("\n  ", " ");
        assert!(code == Some(2) && text.contains(question) && text.contains("Continue? [y/N]"), "{text}");
        assert!(text.contains("error: not confirmed\nhint: nothing was sent"), "{text}");
    }
    assert_eq!(service.writes().await, [""; 0]);

    let (stop, _) = ASKING[1];
    let (code, text) = typing(&service, stop, &[("[y/N]", "y\n")]).await;
    assert!(code == Some(0) && text.contains("Beat the Cinder Golem  stopped"), "{code:?} {text}");
    let (start, _) = ASKING[2];
    let (code, text) = typing(&service, start, &[("[y/N]", "y\n")]).await;
    assert!(code == Some(0) && text.contains("started Pause and resume on Windows PC: 3 jobs"), "{text}");
    assert!(text.contains("continue with: tas-mcp wait "), "{text}");
}

#[tokio::test]
async fn where_nobody_can_be_asked_a_flag_or_the_settings_must_agree() {
    for (command, question) in ASKING {
        let service = Service::start().await;
        let (code, _, error) = run(&service, command).await;
        assert_eq!(code, Some(2), "{command:?}: {error}");
        assert!(error.contains(&format!("error: t{question}")) && error.contains("`--yes`"), "{error}");
        assert_eq!(service.writes().await, [""; 0], "{command:?}");

        let (code, ..) = run_with(&service, command, &[("TAS_CONFIRM", "never")]).await;
        assert_eq!(code, Some(0), "{command:?}");
        assert_eq!(
            run(&service, &[command, &["--yes", "--dry-run"]].concat()).await.0,
            Some(0),
            "{command:?}"
        );
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_start_on_some_devices_names_the_others() {
    let service = Service::start().await;
    let start = ["run", "Pause and resume", "--device", "Android phones, lab B", "--yes"];
    let all_devices = [&start[..], &["--all-devices"]].concat();

    let (_, text) = typing(&service, &all_devices, &[]).await;

    assert!(text.contains("not started on "), "{text}");
}

#[tokio::test]
async fn a_pipe_gets_what_was_started_and_the_text_of_a_report() {
    let service = Service::start().await;

    let (_, started, _) = run(&service, &["run", "Pause and resume", "--device", "Windows PC"]).await;
    assert!(started.starts_with("started Pause and resume on Windows PC: job "), "{started}");
    let (_, report, _) = run(&service, &["report", seed::RUN_FAILED]).await;
    assert!(
        report.starts_with("Pause and resume: 0 of 1 passed\n") && !report.contains('\u{1b}'),
        "{report}"
    );
}
