//! Completion of command lines.

use std::collections::BTreeSet;

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    binary::{program, run_binary},
    service::Service,
    stub::Stub,
};

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
        assert!(output.status.success() && script.contains("TAS_COMPLETE"), "{shell}: {script}");
    }

    let output = run_binary(&["completions", "tcsh"], &[], &[]).await;
    assert_eq!(output.status.code(), Some(2));
}

/// The bash 3.2 of macOS reads nothing from `source <(...)`.
#[cfg(unix)]
#[tokio::test]
async fn the_line_for_bash_registers_the_completion() {
    let line = r#"eval "$(tas-mcp completions bash)""#;
    let help = run_binary(&["completions", "--help"], &[], &[]).await.stdout;
    assert!(String::from_utf8_lossy(&help).contains(line));
    assert!(include_str!("../../../docs/commands.md").contains(line));

    let line = line.replace("tas-mcp", concat!("'", env!("CARGO_BIN_EXE_tas-mcp"), "'"));
    let bash = program("bash", &["-c", &format!("{line}; complete -p tas-mcp")], &[]).output().await;
    assert!(bash.expect("a shell").status.success());
}

#[tokio::test]
async fn commands_and_flags_are_completed() {
    for (words, expected) in [
        (&["do"][..], "download"),
        (&["profile", ""], "use"),
        (&["call", "get_r"], "get_run_artifact"),
        (&["report", "--com"], "--compare-with"),
        (&["completions", "f"], "fish"),
    ] {
        assert!(values(&[], words).await.contains(&expected.to_owned()), "{words:?}");
    }
}

#[tokio::test]
async fn names_and_ids_are_read_from_the_service() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];

    for (words, expected) in [
        (&["run", "Pau"][..], "Pause and resume"),
        (&["run", &seed::TEST_FAILS[..8]], seed::TEST_FAILS),
        (&["run", "Rel"], "Release smoke"),
        (&["show", "Pau"], "Pause and resume"),
        (&["wait", "Rel"], "Release smoke"),
        (&["stop", &seed::EXECUTION_COMPLETED[..8]], seed::EXECUTION_COMPLETED),
        (&["report", "ezh"], seed::RUN_FAILED),
    ] {
        assert!(values(&variables, words).await.contains(&expected.to_owned()), "{words:?}");
    }

    // The sandbox has several runs of some tests.
    let offered = values(&variables, &["report", ""]).await;
    assert_eq!(offered.iter().collect::<BTreeSet<_>>().len(), offered.len(), "{offered:?}");

    let bash = [&variables[..], &[("TAS_COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", "2")]].concat();
    assert_eq!(values(&bash, &["run", "Pau"]).await, ["'Pause and resume'"]);
}

#[tokio::test]
async fn a_service_that_fails_or_does_not_answer_gives_no_candidates() {
    let failing = Stub::start(|_| async { (500, json!({})) }).await;
    let silent = Stub::start(|_| std::future::pending()).await;

    for service in [failing, silent] {
        let variables = [("TAS_BASE_URL", service.base_url()), ("TAS_API_KEY", "svc_key")];
        assert_eq!(values(&variables, &["run", "P"]).await, [""; 0]);
        assert!(!service.requests().is_empty());
    }
}
