//! Output files whose path is a link or a file that is already open.

use std::{fs, os::unix::fs::symlink, path::Path, process::Stdio};

use serde_json::Value;
use tas_mcp::sandbox::{keys, seed};

use crate::support::{binary::binary, service::Service};

/// Runs the binary in this directory, with its standard output in the file `output`. Returns the exit code and
/// standard error.
async fn run(service: &Service, directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    run_with(service, directory, arguments, Stdio::null()).await
}

/// As [`run`], with this file as standard input.
async fn run_with(
    service: &Service,
    directory: &Path,
    arguments: &[&str],
    input: Stdio,
) -> (Option<i32>, String) {
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let file = fs::File::create(directory.join("output")).expect("a file");
    let mut command = binary(arguments, &variables);

    command.current_dir(directory).stdin(input).stdout(Stdio::from(file));
    let child = command.spawn().expect("the binary starts");
    let output = child.wait_with_output().await.expect("an end");

    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}

#[tokio::test]
async fn the_target_of_a_link_is_replaced_and_the_link_is_kept() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);

    fs::create_dir(at("kept")).expect("a directory");
    fs::write(at("kept/old.html"), "an earlier page").expect("written");

    for (link, target) in [("page", "second"), ("second", "kept/old.html"), ("new", "kept/new.html")] {
        symlink(target, at(link)).expect("a link");
    }

    for (link, target) in [("page", "kept/old.html"), ("new", "kept/new.html")] {
        let (code, errors) =
            run(&service, directory.path(), &["report", seed::RUN_FAILED, "--html", link]).await;
        assert!(code == Some(0) && errors.starts_with(&format!("written: {link}\n")), "{errors}");
        assert!(at(link).symlink_metadata().expect("a link").is_symlink(), "{link}");
        assert!(fs::read_to_string(at(target)).expect("a page").ends_with("</html>\n"), "{target}");
    }

    assert!(at("second").symlink_metadata().expect("a link").is_symlink());

    symlink("round", at("round")).expect("a link");
    let before = service.requests().await.len();
    let (code, errors) =
        run(&service, directory.path(), &["report", seed::RUN_FAILED, "--html", "round"]).await;

    assert!(code == Some(2) && errors.contains("`--html round` cannot be written"), "{errors}");
    assert_eq!(service.requests().await.len(), before);
}

/// Uses names in `/proc` and a link like `/dev/stdout`, so that a failure of the test does not replace the link of the
/// machine.
#[tokio::test]
async fn standard_output_in_a_file_is_appended_to_and_not_replaced() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let link = directory.path().join("stdout");

    symlink("/proc/self/fd/1", &link).expect("a link");
    for name in ["stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let arguments = ["wait", seed::RUN_PASSED, "--json", "--junit", name];
        let (code, errors) = run(&service, directory.path(), &arguments).await;
        assert_eq!(code, Some(0), "{name}: {errors}");
        let output = fs::read_to_string(directory.path().join("output")).expect("the output");
        let (verdicts, xml) = output.split_once('\n').expect("two documents");
        let verdicts: Value = serde_json::from_str(verdicts).expect("JSON");
        assert_eq!(verdicts["all_passed"], true, "{name}");
        assert!(xml.starts_with("<?xml") && xml.trim_end().ends_with("</testsuites>"), "{name}: {xml}");
    }

    assert!(link.symlink_metadata().expect("the link").is_symlink());
}

/// Descriptor 0 is `/dev/full`, which fails every write like a full disk.
#[tokio::test]
async fn the_verdicts_are_printed_if_the_file_cannot_be_written() {
    const FULL: &str = "/dev/fd/0";

    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let commands: [(&[&str], i32, &str, &str); 4] = [
        (&["wait", seed::RUN_PASSED, "--json", "--junit", FULL], 1, "/verdicts/SUCCESS", "1"),
        (&["wait", seed::RUN_FAILED, "--json", "--junit", FULL], 10, "/verdicts/FAILED", "1"),
        (&["report", seed::RUN_FAILED, "--json", "--html", FULL], 1, "/target_id", seed::RUN_FAILED),
        (&["report", seed::JOB_FLAKY, "--json", "--html", FULL], 1, "/target_id", seed::JOB_FLAKY),
    ];

    for (arguments, expected, pointer, value) in commands {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let (code, errors) = run_with(&service, directory.path(), arguments, Stdio::from(full)).await;
        let output = fs::read_to_string(directory.path().join("output")).expect("the output");
        let printed: Value = serde_json::from_str(&output).expect("JSON");
        let printed_value = printed.pointer(pointer).map(|value| value.to_string().replace('"', ""));
        assert_eq!(printed_value.as_deref(), Some(value), "{arguments:?}: {printed}");
        assert!(errors.contains(&format!("{FULL}` cannot be written")), "{errors}");
        assert_eq!(code, Some(expected), "{arguments:?}");
    }
}
