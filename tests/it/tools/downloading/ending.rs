//! Downloads that end before they are done: out of time, cancelled, or without room on the disk.

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
        caller::{CallerContext, ProgressSink},
        download::{Disk, DownloadOptions, DownloadRequest},
    },
};

use super::{DownloadFixture, NAMES, TOOL, all_of, files_below, names_below, open};

fn whole_run() -> DownloadRequest {
    DownloadRequest { run_id: seed::RUN_FAILED.to_owned(), ..DownloadRequest::default() }
}

#[tokio::test]
async fn after_the_wait_limit_the_same_call_continues() {
    let mut fixture = DownloadFixture::new().await;
    fixture.fault("get_file", json!({"cut": 100_000})).await;
    fixture.fault("get_file", json!({"reset": true, "times": 100})).await;

    let half = fixture.run(whole_run()).await.expect("a report");

    assert_eq!((half.status, half.file_count), ("incomplete", 3));

    fixture.audience.wait_limit = Some(Duration::ZERO);
    let late = serde_json::to_value(fixture.run(whole_run()).await.expect("a report")).expect("JSON");

    assert_eq!(late["status"], "downloading");

    let known =
        late["file_count"].as_u64().expect("a number") + late["remaining"].as_u64().expect("a number");

    assert_eq!(known, 4);
    assert!(late["hint"].as_str().expect("a hint").contains("make the same call again"), "{late}");
    assert!(late["progress"].as_str().expect("a text").contains(" MiB, "), "{late}");
    assert!(!fixture.out().join("recording.mp4").exists());

    fixture.audience.wait_limit = None;
    fixture.service.control("requests").await;

    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
    client
        .delete(format!("{}/_sandbox/faults", fixture.service.knowledge_url()))
        .send()
        .await
        .expect("an answer");

    let before = fixture.fetches().await.len();
    let done = fixture.run(whole_run()).await.expect("a report");

    assert_eq!((done.status, done.file_count), ("downloaded", 4));
    assert_eq!(fixture.fetches().await.split_off(before), ["knowledge 302", "storage 206"]);
    assert!(files_below(&fixture.out())["recording.mp4"] == fixture.served("recording.mp4").await);
    assert_eq!(names_below(&fixture.out()), NAMES);
}

#[tokio::test]
async fn a_cancelled_download_leaves_no_file_under_its_name() {
    let (service, root, mut host) = open().await;
    let slow = json!({"operation": "get_run_artifact", "delay_ms": 600_000, "times": 4});
    service.fault(slow).await;

    let id = host.start("tools/call", json!({"name": TOOL, "arguments": all_of(seed::RUN_FAILED)})).await;
    while service.requests().await.iter().filter(|line| line.contains("/artifacts/")).count() < 4 {
        tokio::task::yield_now().await;
    }

    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))
        .await;
    while names_below(root.path()) != [""; 0] {
        tokio::task::yield_now().await;
    }

    let report = host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    assert_eq!(report["file_count"], 4);
}

#[tokio::test]
async fn at_most_four_files_are_downloaded_in_parallel() {
    let (service, _root, mut host) = open().await;
    let slow = json!({"operation": "get_run_artifact", "delay_ms": 600_000, "times": 100});
    service.fault(slow).await;
    host.start("tools/call", json!({"name": TOOL, "arguments": all_of(seed::RUN_TWO_PLAYERS)})).await;

    let asked = async || service.requests().await.iter().filter(|line| line.contains("/artifacts/")).count();
    while asked().await < 4 {
        tokio::task::yield_now().await;
    }

    for _ in 0..50 {
        assert_eq!(asked().await, 4);
    }
}

/// A disk that has room for so many bytes, and then fails in this way.
#[derive(Debug)]
struct Small {
    room: AtomicUsize,
    error: i32,
}

impl Disk for Small {
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

    for (error, said) in
        [(ENOSPC, "cannot be written: the disk is full"), (EACCES, "cannot be written: Permission denied")]
    {
        let mut fixture = DownloadFixture::new().await;
        // The video is written in pieces of 256 KiB.
        let small = Small { room: AtomicUsize::new(290_000), error };
        fixture.options.disk = Arc::new(small);
        let request = DownloadRequest { patterns: Some(vec!["*.mp4".to_owned()]), ..whole_run() };
        let failure = fixture.run(request.clone()).await.expect_err("no room");
        assert_eq!(failure.code, Code::FileError);
        assert!(failure.message.starts_with(&format!("`recording.mp4` {said}")), "{failure}");
        let details = Value::Object(*failure.details.clone());
        assert_eq!((&details["saved_count"], &details["remaining"]), (&json!(0), &json!(["recording.mp4"])));
        let left = files_below(&fixture.out());
        assert_eq!(left.keys().collect::<Vec<_>>(), [".recording.mp4.part", ".recording.mp4.part.tag"]);
        // What a failed write has left is taken away again.
        let whole = fixture.served("recording.mp4").await;
        assert!(left[".recording.mp4.part"] == whole[..256 * 1024]);
        fixture.options.disk = DownloadOptions::default().disk;
        let before = fixture.fetches().await.len();
        let report = fixture.run(request).await.expect("room");
        assert_eq!(report.status, "downloaded");
        assert_eq!(fixture.fetches().await.split_off(before), ["knowledge 302", "storage 206"]);
        assert!(files_below(&fixture.out())["recording.mp4"] == whole);
    }
}

/// A disk that takes everything and keeps nothing.
#[derive(Debug)]
struct Forgetful;

impl Disk for Forgetful {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        io::Write::write_all(file, bytes)
    }

    fn sync(&self, _: &File) -> io::Result<()> {
        Err(io::Error::other("the cable is out"))
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_synced_does_not_get_its_name() {
    let mut fixture = DownloadFixture::new().await;
    fixture.options.disk = Arc::new(Forgetful);
    let failure = fixture.save("agent.log").await.expect_err("no file");
    assert_eq!(failure.code, Code::FileError);
    assert!(failure.message.ends_with("cannot be written: the cable is out"), "{failure}");
    assert_eq!(names_below(&fixture.out()), [""; 0]);
}

/// What is told of a download.
#[derive(Debug, Default)]
struct Told(std::sync::Mutex<Vec<(u64, u64)>>);

impl ProgressSink for Told {
    fn report(&self, done: u64, total: u64, _: &str) {
        self.0.lock().expect("no test panics here").push((done, total));
    }
}

#[tokio::test]
async fn progress_increases_to_the_total() {
    let mut fixture = DownloadFixture::new().await;
    let told = Arc::new(Told::default());
    fixture.audience = CallerContext { progress: Arc::<Told>::clone(&told), ..CallerContext::silent() };

    let report = fixture.run(whole_run()).await.expect("a report");
    let told = told.0.lock().expect("no test panics here");

    assert_eq!(told.last(), Some(&(report.total_bytes, report.total_bytes)));
    assert!(told.is_sorted_by_key(|(done, _)| *done), "{told:?}");
}
