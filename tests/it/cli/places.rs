//! Files that flags name, where the name is a link or something that is open already.

use std::{fs, os::unix::fs::symlink, path::Path, process::Stdio};

use serde_json::Value;
use tas_mcp::sandbox::{keys, seed};

use crate::support::{binary::binary, service::Service};

/// Runs the binary in this directory with its standard output in `output`; exit code and standard error.
async fn run(service: &Service, directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    run_with(service, directory, arguments, Stdio::null()).await
}

/// The same with this as descriptor 0.
async fn run_with(
    service: &Service,
    directory: &Path,
    arguments: &[&str],
    input: Stdio,
) -> (Option<i32>, String) {
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let output = fs::File::create(directory.join("output")).expect("a file");
    let mut command = binary(arguments, &variables);

    command.current_dir(directory).stdin(input).stdout(Stdio::from(output));
    let child = command.spawn().expect("the binary starts");
    let ended = child.wait_with_output().await.expect("an end");

    (ended.status.code(), String::from_utf8(ended.stderr).expect("UTF-8"))
}

#[tokio::test]
async fn the_target_of_a_link_is_replaced_and_the_link_stays() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);

    fs::create_dir(at("kept")).expect("a directory");
    fs::write(at("kept/old.html"), "an earlier page").expect("written");

    for (link, target) in [("page", "second"), ("second", "kept/old.html"), ("new", "kept/new.html")] {
        symlink(target, at(link)).expect("a link");
    }

    for (link, target) in [("page", "kept/old.html"), ("new", "kept/new.html")] {
        let (code, said) =
            run(&service, directory.path(), &["report", seed::RUN_FAILED, "--html", link]).await;
        assert_eq!((code, said.as_str()), (Some(0), ""));
        assert!(at(link).symlink_metadata().expect("a link").is_symlink(), "{link}");
        assert!(fs::read_to_string(at(target)).expect("a page").ends_with("</html>\n"), "{target}");
    }

    assert!(at("second").symlink_metadata().expect("a link").is_symlink());

    symlink("round", at("round")).expect("a link");
    let before = service.requests().await.len();
    let (code, said) =
        run(&service, directory.path(), &["report", seed::RUN_FAILED, "--html", "round"]).await;

    assert!(code == Some(2) && said.contains("file_error"), "{said}");
    assert_eq!(service.requests().await.len(), before);
}

/// Names in `/proc` alone, and a link as `/dev/stdout` is one: the link of the machine is not put at stake.
#[tokio::test]
async fn standard_output_in_a_file_gets_everything_and_is_not_replaced() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let link = directory.path().join("stdout");

    symlink("/proc/self/fd/1", &link).expect("a link");
    for name in ["stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let arguments = ["wait", "--run-id", seed::RUN_PASSED, "--junit", name];
        let (code, said) = run(&service, directory.path(), &arguments).await;
        assert_eq!(code, Some(0), "{name}: {said}");
        let output = fs::read_to_string(directory.path().join("output")).expect("the output");
        let (verdicts, xml) = output.split_once('\n').expect("two documents");
        let verdicts: Value = serde_json::from_str(verdicts).expect("JSON");
        assert_eq!(verdicts["all_passed"], true, "{name}");
        assert!(xml.starts_with("<?xml") && xml.trim_end().ends_with("</testsuites>"), "{name}: {xml}");
    }

    assert!(link.symlink_metadata().expect("the link").is_symlink());
}

/// What is open as descriptor 0 takes nothing, like a disk that is full.
#[tokio::test]
async fn a_file_that_takes_nothing_loses_no_verdict() {
    const FULL: &str = "/dev/fd/0";

    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let commands: [(&[&str], i32, &str, &str); 4] = [
        (&["wait", "--run-id", seed::RUN_PASSED, "--junit", FULL], 1, "/verdicts/SUCCESS", "1"),
        (&["wait", "--run-id", seed::RUN_FAILED, "--junit", FULL], 10, "/verdicts/FAILED", "1"),
        (&["report", seed::RUN_FAILED, "--html", FULL], 1, "/target_id", seed::RUN_FAILED),
        (&["report", seed::JOB_FLAKY, "--html", FULL], 1, "/target_id", seed::JOB_FLAKY),
    ];

    for (arguments, expected, pointer, value) in commands {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let (code, said) = run_with(&service, directory.path(), arguments, Stdio::from(full)).await;
        let output = fs::read_to_string(directory.path().join("output")).expect("the output");
        let printed: Value = serde_json::from_str(&output).expect("JSON");
        let shown = printed.pointer(pointer).map(|shown| shown.to_string().replace('"', ""));
        assert_eq!(shown.as_deref(), Some(value), "{arguments:?}: {printed}");
        assert!(said.contains(r#""code":"file_error""#) && said.contains(FULL), "{said}");
        assert_eq!(code, Some(expected), "{arguments:?}");
    }
}
