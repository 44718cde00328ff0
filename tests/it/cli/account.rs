//! Which account the commands use.

use std::fs;

use tas_mcp::sandbox::keys;

use super::run;
use crate::support::service::Service;

#[tokio::test]
async fn the_key_file_of_a_flag_overrides_the_key_of_a_variable() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("key");
    fs::write(&file, keys::ARENA).expect("it can be written");
    let file = file.display().to_string();

    let (code, printed, error) = run(&service, &["runs", "--json", "--api-key-file", &file]).await;
    assert_eq!(code, Some(0), "{error}");
    assert!(printed.contains("\"arena\"") && !printed.contains("\"demo\""), "{printed}");

    let (code, printed, _) = run(&service, &["status", "--json", "--api-key-file", &file]).await;
    assert_eq!(code, Some(0));
    assert!(printed.contains("\"key_source\":\"flag --api-key-file\""), "{printed}");
    assert!(!printed.contains(keys::ARENA) && !printed.contains(keys::DEMO), "{printed}");
}

#[tokio::test]
async fn an_unreadable_key_file_is_an_error_for_every_command() {
    let service = Service::start().await;
    for (command, expected) in [(&["runs"][..], 2), (&["status"], 1), (&["call", "list_tests"], 2)] {
        let arguments = [command, &["--api-key-file", "/nowhere/key"]].concat();
        let (code, printed, error) = run(&service, &arguments).await;

        assert_eq!(code, Some(expected), "{command:?}: {error}");
        let text = [printed, error].concat();
        assert!(text.contains("names /nowhere/key, a file that cannot be read"), "{command:?}: {text}");
    }
    assert_eq!(service.requests().await, [""; 0]);
}
