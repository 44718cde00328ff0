//! Completion of command lines. `.ci/completions` tests the scripts in real shells.

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use crate::support::{binary::run_binary, service::Service, stub::Stub};

/// Returns the candidates for the last of these words, with their descriptions.
async fn candidates(variables: &[(&str, &str)], words: &[&str]) -> Vec<String> {
    let arguments = [&["--", "tas-mcp"], words].concat();
    let variables = [&[("TAS_COMPLETE", "fish")], variables].concat();
    let output = run_binary(&arguments, &variables, &[]).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");

    assert!(output.status.success() && output.stderr.is_empty(), "{words:?}");
    text.lines().map(str::to_owned).collect()
}

/// Returns the candidates without their descriptions.
async fn values(variables: &[(&str, &str)], words: &[&str]) -> Vec<String> {
    let candidates = candidates(variables, words).await;
    candidates.iter().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn every_shell_has_a_script_that_asks_for_candidates() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run_binary(&["completions", shell], &[], &[]).await;
        let script = String::from_utf8(output.stdout).expect("UTF-8");
        let is_asking = script.contains("TAS_COMPLETE") && script.contains(shell);
        assert!(output.status.success() && is_asking, "{shell}: {script}");
    }

    let output = run_binary(&["completions", "tcsh"], &[], &[]).await;
    assert_eq!(output.status.code(), Some(2));
}

#[tokio::test]
async fn commands_flags_and_choices_are_completed() {
    for (words, expected) in [
        (&["do"][..], &["download"][..]),
        (&["run", ""], &["test", "plan", "help"]),
        (&["call", "get_r"], &["get_run", "get_run_artifact"]),
        (&["report", "--com"], &["--compare-with"]),
        (&["report", "--base"], &["--base-url"]),
        (&["--confirm", ""], &["ask", "never"]),
        (&["--toolsets", "lean,-ru"], &[]),
        (&["call", "list_bugs", "--severity", "h"], &["high"]),
        (&["call", "list_bugs", "--severity=h"], &["--severity=high"]),
        (&["upload", "a.apk", "--platform", "ios"], &["ios-native", "ios-simulator"]),
        (&["upload", "a.apk", "--multipart", ""], &["true", "false"]),
        (&["download", "minion", "--platform", "l"], &["linux-x86_64"]),
        (&["upload", "Cargo.t"], &["Cargo.toml"]),
        (&["unknown", "x"], &[]),
    ] {
        assert_eq!(values(&[], words).await, expected, "{words:?}");
    }
}

#[tokio::test]
async fn a_flag_is_offered_only_after_a_dash() {
    let (all, flags) = (values(&[], &[""]).await, values(&[], &["--"]).await);

    assert!(all.contains(&"report".to_owned()) && all.iter().all(|value| !value.starts_with('-')), "{all:?}");
    assert!(flags.contains(&"--help".to_owned()), "{flags:?}");
}

#[tokio::test]
async fn names_and_ids_are_read_from_the_service() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];

    for (words, expected) in [
        (&["run", "test", "Pau"][..], "Pause and resume\t".to_owned() + seed::TEST_FAILS),
        (&["run", "plan", "Rel"], "Release smoke\t".to_owned() + seed::PLAN_SMOKE),
        (&["run", "test", seed::TEST_FAILS], seed::TEST_FAILS.to_owned() + "\tPause and resume"),
        (&["run", "test", "--device", "bb2a"], seed::CONFIG_WINDOWS.to_owned() + "\tWindows PC"),
        (
            &["run", "test", "--build=5f5c"],
            format!("--build={}\tEmberfall 1.4.0 nightly 413", seed::BUILD_ANDROID),
        ),
        (
            &["call", "get_bug", "--bug-id", "bug_7"],
            seed::BUG_ACTIVE.to_owned() + "\tPause button does not react",
        ),
    ] {
        assert_eq!(candidates(&variables, words).await, [expected], "{words:?}");
    }
}

#[tokio::test]
async fn a_result_is_offered_with_its_verdict_and_its_age() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];

    for (words, value, meaning) in [
        (&["report", "Pau"][..], "Pause and resume", "FAILED, "),
        (&["stop", "Rel"], "Release smoke", "in_progress, "),
        (&["report", "ezh"], seed::RUN_FAILED, "Pause and resume, FAILED, "),
        (&["report", "4ea2"], seed::EXECUTION_COMPLETED, "Release smoke, completed, "),
        (&["download", "run", "ezh"], seed::RUN_FAILED, "Pause and resume, FAILED, "),
        (&["wait", "--job-id", "3763"], seed::JOB_FLAKY, "Beat the Cinder Golem, SUCCESS, "),
    ] {
        let found = candidates(&variables, words).await;
        let [only] = found.as_slice() else { panic!("{words:?}: {found:?}") };
        assert!(only.starts_with(&format!("{value}\t{meaning}")) && !only.ends_with(", "), "{only}");
    }
}

#[tokio::test]
async fn the_settings_of_the_command_line_select_the_service() {
    assert_eq!(values(&[], &["--sandbox", "run", "test", "Pau"]).await, ["Pause and resume"]);
    assert_eq!(values(&[], &["run", "test", "--sandbox", "Pau"]).await, ["Pause and resume"]);
    assert_eq!(values(&[], &["run", "test", "Pau"]).await, [""; 0]);
}

#[tokio::test]
async fn a_service_that_fails_or_does_not_answer_gives_no_candidates() {
    let failing = Stub::start(|_| async { (500, json!({})) }).await;
    let silent = Stub::start(|_| std::future::pending()).await;

    for service in [failing, silent] {
        let variables = [("TAS_BASE_URL", service.base_url()), ("TAS_API_KEY", "svc_key")];
        assert_eq!(values(&variables, &["run", "test", "P"]).await, [""; 0]);
        assert!(!service.requests().is_empty());
    }
}

#[tokio::test]
async fn at_most_100_candidates_are_offered() {
    let tests: Vec<_> =
        (0..150).map(|id| json!({"id": id.to_string(), "name": format!("Test {id}")})).collect();
    let page = json!({"data": tests, "pagination": {"page": 0, "page_size": 100, "total_pages": 1, "total_count": 150}});
    let service = Stub::start(move |_| std::future::ready((200, page.clone()))).await;

    let variables = [("TAS_BASE_URL", service.base_url()), ("TAS_API_KEY", "svc_key")];
    assert_eq!(values(&variables, &["run", "test", "Test"]).await.len(), 100);
}
