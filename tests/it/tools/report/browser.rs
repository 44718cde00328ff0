//! `tas-mcp report --open`, and the messages about written files.
#![cfg(target_os = "linux")]

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use tas_mcp::sandbox::{keys, seed};

use crate::support::{binary::run_binary, service::Service};

/// Runs the command with programs of `directory` only, which is the directory of temporary files too. Returns the exit
/// code and standard error.
async fn report(service: &Service, directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let base_url = service.base_url();
    let directory = directory.to_str().expect("UTF-8");
    let variables = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_API_KEY", keys::DEMO),
        ("PATH", directory),
        ("TMPDIR", directory),
    ];
    let output = run_binary(&[&["report"], arguments].concat(), &variables, &[]).await;

    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}

/// Adds a launcher that copies the page that it should open, and then exits with `code`.
fn add_launcher(directory: &Path, code: i32) {
    let launcher = directory.join("xdg-open");
    let script = format!("#!/bin/sh\n/bin/cp \"$1\" {}/opened\nexit {code}\n", directory.display());
    fs::write(&launcher, script).expect("a script");
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).expect("a program");
}

/// Returns the path that a message names as written.
fn written(error: &str) -> &Path {
    let line = error.lines().find_map(|line| line.strip_prefix("written: "));
    Path::new(line.expect("a path"))
}

#[tokio::test]
async fn the_page_is_written_to_a_temporary_file_and_opened() {
    let (service, directory) = (Service::start().await, tempfile::tempdir().expect("a directory"));
    add_launcher(directory.path(), 0);

    let (code, error) = report(&service, directory.path(), &[seed::RUN_FAILED, "--open"]).await;
    let path = written(&error);
    let page = fs::read_to_string(path).expect("the page");

    assert_eq!((code, error.lines().count()), (Some(0), 2), "{error}");
    assert!(error.ends_with("`tas-mcp login --knowledge-url URL` stores it\n"), "{error}");
    assert!(page.ends_with("</html>\n"));
    assert_eq!(fs::read_to_string(directory.path().join("opened")).expect("the opened page"), page);
    // The page contains results, which other users of the machine must not read.
    assert_eq!(fs::metadata(path).expect("the page").permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_named_page_is_opened_and_its_path_is_printed() {
    let (service, directory) = (Service::start().await, tempfile::tempdir().expect("a directory"));
    add_launcher(directory.path(), 0);
    let file = directory.path().join("run.html");
    let path = file.to_str().expect("UTF-8");

    let (code, error) =
        report(&service, directory.path(), &[seed::RUN_FAILED, "--html", path, "--open"]).await;

    assert_eq!((code, written(&error)), (Some(0), file.as_path()));
    assert!(directory.path().join("opened").exists());
}

#[tokio::test]
async fn without_a_browser_the_path_is_printed() {
    let service = Service::start().await;
    for has_launcher in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        if has_launcher {
            add_launcher(directory.path(), 3);
        }

        let (code, error) = report(&service, directory.path(), &[seed::RUN_FAILED, "--open"]).await;
        let path = written(&error).display().to_string();

        assert_eq!(code, Some(0));
        assert!(
            error.contains("no browser could be started") && error.matches(&path).count() == 2,
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_page_on_standard_output_cannot_be_opened() {
    let (service, directory) = (Service::start().await, tempfile::tempdir().expect("a directory"));
    let (code, error) =
        report(&service, directory.path(), &[seed::RUN_FAILED, "--html", "-", "--open"]).await;

    assert_eq!(code, Some(2));
    assert!(error.contains("needs a file"), "{error}");
    assert_eq!(service.requests().await, [""; 0]);
}
