//! Downloads that end early: at the time limit, by cancellation, or on a full disk.

use std::{
    fs::File,
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tas_mcp::{
    failure::Code,
    sandbox::seed,
    tools::{
        call_options::{CallOptions, ProgressSink},
        download::{Disk, DownloadOptions, DownloadRequest},
    },
};

use super::{DirectDownload, NAMES, TOOL, all_of, files_below, fixture, names_below};

fn request_for_all_files() -> DownloadRequest {
    DownloadRequest { run_id: seed::RUN_FAILED.to_owned(), ..DownloadRequest::default() }
}

#[tokio::test]
async fn after_the_wait_limit_the_same_call_continues() {
    let mut download = DirectDownload::open(fixture()).await;
    download.fault("get_file", json!({"cut": 100_000})).await;
    // All further attempts fail without a byte, so that the partial file stays.
    download.fault("get_file", json!({"reset": true, "times": 100})).await;

    let interrupted = download.run(request_for_all_files()).await.expect("a report");

    assert_eq!((interrupted.status, interrupted.file_count), ("incomplete", NAMES.len() - 1));

    download.call_options.wait_limit = Some(Duration::ZERO);
    let late =
        serde_json::to_value(download.run(request_for_all_files()).await.expect("a report")).expect("JSON");

    assert_eq!(late["status"], "downloading");

    let known =
        late["file_count"].as_u64().expect("a number") + late["remaining"].as_u64().expect("a number");

    assert_eq!(known, NAMES.len() as u64);
    assert!(late["hint"].as_str().expect("a hint").contains("make the same call again"), "{late}");
    assert!(late["progress"].as_str().expect("a text").contains(" KiB, "), "{late}");
    assert!(!download.out().join("recording.mp4").exists());

    download.call_options.wait_limit = None;
    download.session.service.heal().await;

    let before = download.file_requests().await.len();
    let done = download.run(request_for_all_files()).await.expect("a report");

    assert_eq!((done.status, done.file_count), ("downloaded", NAMES.len()));
    assert_eq!(download.file_requests().await.split_off(before), ["knowledge 302", "storage 206"]);
    assert!(files_below(&download.out())["recording.mp4"] == download.served("recording.mp4").await);
    assert_eq!(names_below(&download.out()), NAMES);
}

#[tokio::test]
async fn a_cancelled_download_leaves_no_file_under_its_name() {
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
    // The server removes empty partial files after the cancellation.
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

/// A disk that takes `room` bytes and then fails with `error`.
#[derive(Debug)]
struct LimitedDisk {
    room: AtomicUsize,
    error: i32,
}

impl Disk for LimitedDisk {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        let room = self.room.load(Relaxed).min(bytes.len());
        self.room.fetch_sub(room, Relaxed);
        io::Write::write_all(file, &bytes[..room])?;
        if room == bytes.len() { Ok(()) } else { Err(io::Error::from_raw_os_error(self.error)) }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_full_disk_ends_the_call_with_lists_of_saved_and_remaining_files() {
    const ENOSPC: i32 = 28;
    const EACCES: i32 = 13;

    let part = &[".recording.mp4.part", ".recording.mp4.part.tag"][..];
    for (error, problem, kept, continued) in [
        // What has filled the disk does not stay.
        (ENOSPC, "cannot be written: the disk is full", &[][..], "storage 200"),
        (EACCES, "cannot be written: Permission denied", part, "storage 206"),
    ] {
        let mut download = DirectDownload::open(fixture()).await;
        // The video is written in pieces of 256 KiB.
        download.options.disk = Arc::new(LimitedDisk { room: AtomicUsize::new(290_000), error });
        let request = DownloadRequest { patterns: Some(vec!["*.mp4".to_owned()]), ..request_for_all_files() };
        let failure = download.run(request.clone()).await.expect_err("no room");

        assert_eq!(failure.code, Code::FileError);
        assert!(failure.message.starts_with(&format!("`recording.mp4` {problem}")), "{failure}");

        let details = Value::Object(*failure.details.clone());

        assert_eq!((&details["saved_count"], &details["remaining"]), (&json!(0), &json!(["recording.mp4"])));

        let left = files_below(&download.out());

        assert_eq!(left.keys().collect::<Vec<_>>(), kept);

        // The bytes of the failed write are removed again.
        let served = download.served("recording.mp4").await;

        assert!(kept.is_empty() || left[".recording.mp4.part"] == served[..256 * 1024]);

        download.options.disk = DownloadOptions::default().disk;
        let before = download.file_requests().await.len();
        let report = download.run(request).await.expect("room");

        assert_eq!(report.status, "downloaded");
        assert_eq!(download.file_requests().await.split_off(before), ["knowledge 302", continued]);
        assert!(files_below(&download.out())["recording.mp4"] == served);
    }
}

/// A disk that takes all bytes but cannot be synced.
#[derive(Debug)]
struct UnsyncedDisk;

impl Disk for UnsyncedDisk {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        io::Write::write_all(file, bytes)
    }

    fn sync(&self, _: &File) -> io::Result<()> {
        Err(io::Error::other("input/output error"))
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_synced_does_not_get_its_name() {
    let mut download = DirectDownload::open(fixture()).await;
    download.options.disk = Arc::new(UnsyncedDisk);
    let failure = download.save("agent.log").await.expect_err("no file");
    assert_eq!(failure.code, Code::FileError);
    assert!(failure.message.ends_with("cannot be written: input/output error"), "{failure}");
    assert_eq!(names_below(&download.out()), [""; 0]);
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
    download.call_options =
        CallOptions { progress: Arc::<ByteProgress>::clone(&log), ..CallOptions::silent() };

    let report = download.run(request_for_all_files()).await.expect("a report");
    let entries = log.0.lock().expect("no test panics here");

    assert_eq!(entries.last(), Some(&(report.total_bytes, report.total_bytes)));
    assert!(entries.is_sorted_by_key(|(done, _)| *done), "{entries:?}");
}
