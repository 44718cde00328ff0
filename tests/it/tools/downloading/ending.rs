//! Downloads that end early: at the time limit, by cancellation, or on a full disk.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tas_mcp::{
    sandbox::{keys, seed},
    tools::context::{CallOptions, ProgressSink},
};
use tokio::process::Command;

use super::{DirectDownload, NAMES, TOOL, all_of, fixture, names_below};
use crate::support::{binary::binary, service::Service};

#[tokio::test]
async fn after_the_wait_limit_the_same_call_continues() {
    let mut download = DirectDownload::open(fixture()).await;
    download.options.wait_limit = Some(Duration::from_secs(1));
    let slow = json!({"delay_ms": 1_500, "times": 4});
    download.fault("get_run_artifact", slow).await;

    let paused = download.run(all_of(seed::RUN_FAILED)).await.expect("a report");

    // The files that have begun are finished.
    assert_eq!((paused.status, paused.file_count, paused.remaining), ("downloading", 4, Some(1)));
    assert!(paused.hint.is_some_and(|hint| hint.to_string().contains("make the same call again")));
    assert!(paused.progress.is_some_and(|progress| progress.contains("iB of ")));
    assert_eq!(names_below(&download.out()).len(), 4);

    let before = download.file_requests().await.len();
    download.options.wait_limit = None;
    let done = download.run(all_of(seed::RUN_FAILED)).await.expect("a report");

    assert_eq!((done.status, done.file_count), ("downloaded", NAMES.len()));
    assert!(download.file_requests().await.len() <= before + 2, "only one file is requested");
    assert_eq!(names_below(&download.out()), NAMES);
}

#[tokio::test]
async fn a_cancelled_download_leaves_no_file() {
    let mut session = fixture().open().await;
    let slow = json!({"operation": "get_run_artifact", "delay_ms": 600_000, "times": 4});
    session.service.fault(slow).await;

    let id =
        session.host.start("tools/call", json!({"name": TOOL, "arguments": all_of(seed::RUN_FAILED)})).await;
    while session.service.requests().await.iter().filter(|line| line.contains("/artifacts/")).count() < 4 {
        tokio::task::yield_now().await;
    }

    session
        .host
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))
        .await;
    // The server removes its temporary files after the cancellation.
    while names_below(session.root()) != [""; 0] {
        tokio::task::yield_now().await;
    }

    let report = session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    assert_eq!(report["file_count"], NAMES.len());
}

#[tokio::test]
async fn at_most_four_files_are_downloaded_in_parallel() {
    let mut session = fixture().open().await;
    let slow = json!({"operation": "get_run_artifact", "delay_ms": 600_000, "times": 100});
    session.service.fault(slow).await;
    session.host.start("tools/call", json!({"name": TOOL, "arguments": all_of(seed::RUN_TWO_PLAYERS)})).await;

    let requests =
        async || session.service.requests().await.iter().filter(|line| line.contains("/artifacts/")).count();
    while requests().await < 4 {
        tokio::task::yield_now().await;
    }

    // A fifth request would arrive during these checks.
    for _ in 0..50 {
        assert_eq!(requests().await, 4);
    }
}

/// A limit of the size of files stands for a full disk: the system refuses to write in the same way.
#[cfg(unix)]
#[tokio::test]
async fn a_disk_that_takes_no_more_bytes_ends_the_call_and_leaves_no_file() {
    let (service, directory) = (Service::start().await, tempfile::tempdir().expect("a directory"));
    let (base_url, knowledge_url) = (service.base_url(), service.knowledge_url());
    let variables = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_KNOWLEDGE_URL", knowledge_url.as_str()),
        ("TAS_API_KEY", keys::DEMO),
    ];
    let plain = binary(&["download", seed::RUN_FAILED, "--pattern", "*.mp4", "--json"], &variables);
    let mut limited = Command::new("sh");
    // The limit is in blocks of 512 bytes. The signal would end the process.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""]);
    limited.arg(plain.as_std().get_program()).args(plain.as_std().get_args());
    for (name, value) in plain.as_std().get_envs() {
        if let Some(value) = value {
            limited.env(name, value);
        }
    }

    let output = limited.current_dir(directory.path()).output().await.expect("an output");
    let error: Value = serde_json::from_slice(&output.stderr).expect("JSON");
    let error = &error["error"];

    assert_eq!((&error["code"], output.status.code()), (&json!("file_error"), Some(1)), "{error}");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("cannot be written")), "{error}");
    assert_eq!(error["details"]["failed"][0]["file_ref"], "artifact:recording.mp4");
    assert_eq!(names_below(directory.path()), [""; 0]);
}

/// Records the progress of a download.
#[derive(Debug, Default)]
struct ByteProgress(std::sync::Mutex<Vec<(u64, u64)>>);

impl ProgressSink for ByteProgress {
    fn report(&self, done: u64, total: u64, _: &str) {
        self.0.lock().expect("no test panics here").push((done, total));
    }
}

#[tokio::test]
async fn progress_increases_to_the_total() {
    let mut download = DirectDownload::open(fixture()).await;
    let log = Arc::new(ByteProgress::default());
    download.options = CallOptions { progress: Arc::<ByteProgress>::clone(&log), ..CallOptions::silent() };

    let report = download.run(all_of(seed::RUN_FAILED)).await.expect("a report");
    let entries = log.0.lock().expect("no test panics here");

    assert_eq!(entries.last(), Some(&(report.total_bytes, report.total_bytes)));
    assert!(entries.is_sorted_by_key(|(done, _)| *done), "{entries:?}");
}
