//! Which account the commands use.

use std::fs;

use tas_mcp::sandbox::keys;

use crate::support::{binary::run_binary, service::Service};

/// Runs a command. Returns the exit code, standard output and standard error.
async fn run(service: &Service, arguments: &[&str], key: &str) -> (Option<i32>, String, String) {
    let base_url = service.base_url();
    let output = run_binary(arguments, &[("TAS_BASE_URL", &base_url), ("TAS_API_KEY", key)], &[]).await;
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");

    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn the_key_file_of_a_flag_overrides_the_key_of_a_variable() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("key");
    fs::write(&file, keys::ARENA).expect("it can be written");
    let file = file.display().to_string();

    let (code, printed, error) =
        run(&service, &["runs", "--json", "--api-key-file", &file], keys::DEMO).await;
    assert_eq!(code, Some(0), "{error}");
    assert!(printed.contains("\"arena\"") && !printed.contains("\"demo\""), "{printed}");

    let (code, printed, _) = run(&service, &["status", "--json", "--api-key-file", &file], keys::DEMO).await;
    assert_eq!(code, Some(0));
    assert!(printed.contains("\"key_source\":\"flag --api-key-file\""), "{printed}");
    assert!(!printed.contains(keys::ARENA) && !printed.contains(keys::DEMO), "{printed}");
}

#[tokio::test]
async fn an_unreadable_key_file_is_an_error_for_every_command() {
    let service = Service::start().await;
    for (command, expected) in [(&["runs"][..], 2), (&["status"], 1), (&["call", "list_tests"], 2)] {
        let arguments = [command, &["--api-key-file", "/nowhere/key"]].concat();
        let (code, printed, error) = run(&service, &arguments, keys::DEMO).await;

        assert_eq!(code, Some(expected), "{command:?}: {error}");
        let text = [printed, error].concat();
        assert!(text.contains("names a file that cannot be read"), "{command:?}: {text}");
    }
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn the_status_names_the_permissions_that_the_key_lacks() {
    let service = Service::start().await;
    let (code, printed, error) = run(&service, &["status", "--json"], keys::POWERLESS).await;

    assert_eq!(code, Some(0), "{error}");
    assert!(printed.contains("permission_denied") && printed.contains("project:read-runs"), "{printed}");
}
