//! A command that prints the API key.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use crate::support::{
    host::Host,
    service::{Service, settings, settings_with},
};

/// Returns a command that records its runs in `file` and then runs `script`.
fn command(file: &Path, script: &str) -> String {
    format!("sh -c 'echo run >> \"{}\"; {script}'", file.display())
}

/// Returns how often the command of `file` ran.
fn runs(file: &Path) -> usize {
    fs::read_to_string(file).unwrap_or_default().lines().count()
}

#[tokio::test]
async fn the_command_runs_once_for_many_calls_and_not_before_the_first() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("runs");
    let (base_url, command) = (service.base_url(), command(&file, &format!("echo {}", keys::DEMO)));
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY_COMMAND", command.as_str())];
    let mut host = Host::open(&settings(&variables)).await;
    assert_eq!(runs(&file), 0);

    for _ in 0..3 {
        host.succeed("list_tests", json!({})).await;
    }

    assert_eq!(runs(&file), 1);
    assert_eq!(service.requests().await, ["GET /tests 200"; 3]);
}

#[tokio::test]
async fn a_failed_command_is_reported_without_what_it_printed() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("runs");
    let failing = command(&file, "echo planted-secret; echo planted-secret >&2; exit 7");
    for (command, expected) in [
        (failing.as_str(), "fails with exit code 7"),
        ("/nowhere/planted-secret", "names a program that does not exist"),
        ("echo planted-secret planted-secret", "prints a text that has characters that no key has"),
        ("true", "prints nothing"),
        ("printf 'planted\\nsecret'", "prints more than one line"),
        ("yes planted-secret", "prints more than 4096 bytes"),
    ] {
        let variables =
            [("TAS_BASE_URL", "https://service.example/api/v1"), ("TAS_API_KEY_COMMAND", command)];
        let mut host = Host::open(&settings(&variables)).await;

        for _ in 0..2 {
            let error: Value = host.fail("list_tests", json!({})).await;
            let message = error["message"].as_str().expect("a message");
            let begins = format!("no API key: the command of TAS_API_KEY_COMMAND {expected}");
            assert!(error["code"] == "not_configured" && message.starts_with(&begins), "{error}");
            assert!(!error.to_string().contains("planted"), "{error}");
        }
    }

    assert_eq!(runs(&file), 1);
}

#[test]
fn the_command_is_used_after_the_key_and_its_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("key");
    fs::write(&file, keys::DEMO).expect("written");
    let file = file.to_str().expect("Unicode");
    let (key, file_variable) = (("TAS_API_KEY", keys::DEMO), ("TAS_API_KEY_FILE", file));
    let command = ("TAS_API_KEY_COMMAND", "pass show tas");

    for (flags, variables, expected) in [
        (&[][..], &[command, file_variable, key][..], "variable TAS_API_KEY"),
        (&[], &[command, file_variable], "variable TAS_API_KEY_FILE"),
        (&["--api-key-file", file], &[command, key], "flag --api-key-file"),
        (&[], &[command], "variable TAS_API_KEY_COMMAND"),
    ] {
        assert_eq!(settings_with(flags, variables).key_origin().as_deref(), Some(expected));
    }
}

#[test]
fn the_command_is_not_shown() {
    for command in ["echo svc_planted", "svc_planted", "pass 'svc_planted"] {
        let shown = settings(&[("TAS_API_KEY_COMMAND", command)]).shown_values();
        let values: Vec<_> = shown.iter().map(|value| value.value.as_str()).collect();
        assert_eq!(values, ["[set]"], "{command}");
    }
}
