//! Commands whose output cannot be written: the exit code still reports what happened to the tests.

use std::process::Stdio;

use tas_mcp::sandbox::{keys, seed};

use crate::support::{binary::binary, service::Service};

/// Output streams of a command.
#[derive(Clone, Copy, Debug)]
enum Streams {
    /// Nobody reads standard output.
    ClosedOutput,
    /// Nobody reads either stream.
    AllClosed,
    /// Standard output is a full device.
    FullOutput,
}

/// Runs the binary with these streams. Returns the exit code.
async fn exit_code(service: &Service, arguments: &[&str], streams: Streams) -> Option<i32> {
    let (base_url, knowledge_url) = (service.base_url(), service.knowledge_url());
    let variables = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_KNOWLEDGE_URL", knowledge_url.as_str()),
        ("TAS_API_KEY", keys::DEMO),
    ];
    let mut command = binary(arguments, &variables);
    if matches!(streams, Streams::FullOutput) {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the device");
        command.stdout(Stdio::from(full));
    }

    let mut child = command.spawn().expect("the binary starts");
    // The reading ends are closed before the command has a result.
    drop(child.stdout.take());
    if matches!(streams, Streams::AllClosed) {
        drop(child.stderr.take());
    }

    child.wait().await.expect("a status").code()
}

#[tokio::test]
async fn the_verdict_is_the_exit_code_whatever_becomes_of_the_output() {
    let service = Service::start().await;
    let failed = ["wait", seed::RUN_FAILED];
    let passed = ["wait", seed::RUN_PASSED];

    for streams in [Streams::ClosedOutput, Streams::AllClosed, Streams::FullOutput] {
        assert_eq!(exit_code(&service, &failed, streams).await, Some(10), "{streams:?}");
    }
    assert_eq!(exit_code(&service, &passed, Streams::ClosedOutput).await, Some(0));
    let forgiven = [&failed[..], &["--fail-on", "never"]].concat();
    for (words, streams, expected) in [
        (&passed[..], Streams::FullOutput, 1),
        (&forgiven, Streams::ClosedOutput, 0),
        (&forgiven, Streams::FullOutput, 1),
    ] {
        assert_eq!(exit_code(&service, words, streams).await, Some(expected), "{words:?} {streams:?}");
    }
}

#[tokio::test]
async fn a_download_that_fails_is_not_a_success_if_the_output_is_closed() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let to = directory.path().to_str().expect("UTF-8");
    service.fault(serde_json::json!({"operation": "get_run_artifact", "status": 404, "times": 100})).await;

    let download = ["download", seed::RUN_FAILED, "--to", to];

    for streams in [Streams::ClosedOutput, Streams::FullOutput] {
        assert_eq!(exit_code(&service, &download, streams).await, Some(1), "{streams:?}");
    }
}
