//! Files that break off go on where they broke, if they are still the same.

use std::{fs, io::Write, time::Duration};

use serde_json::{Value, json};
use tas_mcp::{
    failure::{Code, Failure},
    sandbox::{keys, seed},
    tools::download::DownloadRequest,
};

use super::{DownloadFixture, files_below, names_below};

const LOG: &str = "agent.log";
const VIDEO: &str = "recording.mp4";
const HOST: &str = "get_run_artifact";
const STORAGE: &str = "get_file";

/// As many requests as are made without getting a byte.
const ALL_ATTEMPTS: u32 = 4;

impl DownloadFixture {
    /// Saves a file, which has to be as it is served, and nothing else; the requests for it.
    async fn whole(&self, name: &str) -> Vec<String> {
        let before = self.fetches().await.len();
        let report = self.save(name).await.expect("a report");

        assert_eq!((report.status, report.file_count), ("downloaded", 1));

        let requests = self.fetches().await.split_off(before);
        let saved = files_below(&self.out());

        assert_eq!(saved.keys().collect::<Vec<_>>(), [name]);
        assert!(saved[name] == self.served(name).await);
        requests
    }

    /// Leaves the first 1,000 bytes of the log.
    async fn half(&self) {
        self.fault(HOST, json!({"cut": 1_000})).await;
        // The first pause is that after the break.
        self.fault(HOST, json!({"reset": true, "times": ALL_ATTEMPTS - 1})).await;

        let failure = self.save(LOG).await.expect_err("no file");

        assert_eq!(
            (failure.code, &failure.details["bytes_saved"]),
            (Code::ServiceUnavailable, &json!(1_000))
        );
        assert_eq!(names_below(&self.out()), [".agent.log.part", ".agent.log.part.tag"]);
    }

    async fn failing(&self, name: &str) -> Failure {
        let failure = self.save(name).await.expect_err("no file");
        assert_eq!(names_below(&self.out()), [""; 0], "{failure:?}");
        failure
    }
}

#[tokio::test]
async fn a_download_continues_after_a_broken_connection() {
    for (operation, name, expected) in [
        (HOST, LOG, &["knowledge 200", "knowledge 206"][..]),
        (STORAGE, VIDEO, &["knowledge 302", "storage 200", "knowledge 302", "storage 206"][..]),
    ] {
        let fixture = DownloadFixture::new().await;
        fixture.fault(operation, json!({"cut": 10_000})).await;
        assert_eq!(fixture.whole(name).await, expected);
    }
}

/// The other project writes its `ETag`s without quotes.
#[tokio::test]
async fn an_etag_without_quotes_continues_a_file_too() {
    let mut fixture = DownloadFixture::new().await;
    fixture.key = keys::ARENA;
    fixture.fault(HOST, json!({"cut": 1_000})).await;

    let patterns = Some(vec![LOG.to_owned()]);
    let request =
        DownloadRequest { run_id: seed::ARENA_RUN_FAILED.to_owned(), patterns, ..DownloadRequest::default() };
    let report = fixture.run(request).await.expect("a report");

    assert_eq!(fixture.fetches().await, ["knowledge 200", "knowledge 206"]);

    let player = &report.files[0].run_id;
    let address = format!("{}/runs/{player}/artifacts/{LOG}", fixture.service.knowledge_url());
    let served = fixture.service.fetch(&address, keys::ARENA).await;

    assert!(report.files.len() == 1 && files_below(&fixture.out())[&report.files[0].path] == served);
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_first_byte_starts_again() {
    let fixture = DownloadFixture::new().await;
    fixture.fault(STORAGE, json!({"reset": true})).await;
    fixture.fault(STORAGE, json!({"cut": 0})).await;
    let tried = ["knowledge 302", "storage null", "knowledge 302", "storage 200"];
    assert_eq!(fixture.whole(VIDEO).await, [&tried[..], &["knowledge 302", "storage 200"]].concat());
}

#[tokio::test]
async fn attempts_continue_while_bytes_arrive() {
    let fixture = DownloadFixture::new().await;
    fixture.fault(STORAGE, json!({"cut": 20_000, "times": 12})).await;
    let requests = fixture.whole(VIDEO).await;
    assert_eq!(requests.iter().filter(|one| *one == "storage 206").count(), 12);
}

#[tokio::test]
async fn bytes_of_a_failed_download_are_not_downloaded_again() {
    let fixture = DownloadFixture::new().await;
    fixture.half().await;
    assert_eq!(fixture.whole(LOG).await, ["knowledge 206"]);
}

#[tokio::test]
async fn a_failed_download_without_bytes_leaves_nothing() {
    let fixture = DownloadFixture::new().await;
    fixture.fault(HOST, json!({"reset": true, "times": ALL_ATTEMPTS})).await;
    assert_eq!(fixture.failing(LOG).await.code, Code::ServiceUnavailable);
    assert_eq!(fixture.fetches().await.len(), ALL_ATTEMPTS as usize);
    assert_eq!(fixture.whole(LOG).await, ["knowledge 200"]);
}

#[tokio::test]
async fn a_changed_file_is_downloaded_from_the_start() {
    let fixture = DownloadFixture::new().await;
    fixture.half().await;

    let (part, tag) = (fixture.out().join(".agent.log.part"), fixture.out().join(".agent.log.part.tag"));
    fs::write(part, vec![b'x'; 1_000]).expect("a file");

    let known: Value = serde_json::from_slice(&fs::read(&tag).expect("a file")).expect("JSON");
    fs::write(tag, json!({"etag": "\"older\"", "size": known["size"]}).to_string()).expect("a file");

    assert_eq!(fixture.whole(LOG).await, ["knowledge 200"]);
}

#[tokio::test]
async fn a_part_of_another_version_is_not_accepted() {
    let fixture = DownloadFixture::new().await;
    fixture.half().await;
    fixture.fault(HOST, json!({"headers": {"etag": "\"other\""}})).await;
    assert_eq!(fixture.whole(LOG).await, ["knowledge 206", "knowledge 200"]);
}

#[tokio::test]
async fn a_partial_file_of_another_size_is_not_continued() {
    let fixture = DownloadFixture::new().await;
    fixture.half().await;

    let tag = fixture.out().join(".agent.log.part.tag");
    let mut known: Value = serde_json::from_slice(&fs::read(&tag).expect("a file")).expect("JSON");
    known["size"] = json!(known["size"].as_u64().expect("a size") + 1);
    fs::write(tag, known.to_string()).expect("a file");

    assert_eq!(fixture.whole(LOG).await, ["knowledge 200"]);
}

#[tokio::test]
async fn without_a_strong_etag_nothing_is_continued() {
    let fixture = DownloadFixture::new().await;
    fixture.fault(HOST, json!({"cut": 1_000, "headers": {"etag": "W/\"weak\""}})).await;

    assert_eq!(fixture.whole(LOG).await, ["knowledge 200", "knowledge 200"]);
    for garbage in ["", "{", "[]", "{\"etag\": null}"] {
        let fixture = DownloadFixture::new().await;
        fixture.half().await;
        fs::write(fixture.out().join(".agent.log.part.tag"), garbage).expect("a file");
        assert_eq!(fixture.whole(LOG).await, ["knowledge 200"], "{garbage}");
    }
}

#[tokio::test]
async fn a_partial_file_of_full_length_is_downloaded_again() {
    for more in [0, 1] {
        let fixture = DownloadFixture::new().await;
        fixture.half().await;
        let length = fixture.served(LOG).await.len() + more;
        fs::write(fixture.out().join(".agent.log.part"), vec![b'x'; length]).expect("a file");
        assert_eq!(fixture.whole(LOG).await, ["knowledge 200"]);
    }
}

#[tokio::test]
async fn a_file_of_another_size_than_listed_is_not_saved() {
    for more in [-1, 1] {
        let fixture = DownloadFixture::new().await;
        let gateway = fixture.served(LOG).await.len();
        let mut run = run(&fixture).await;
        let files = run["players"][0]["artifacts"].as_array_mut().expect("files");
        let log = files.iter_mut().find(|file| file["filename"] == LOG).expect("a log");
        let listed = log["size"].as_i64().expect("a size") + more;

        log["size"] = json!(listed);
        fixture.fault("get_run", json!({"body": run})).await;

        let failure = fixture.failing(LOG).await;

        assert_eq!(failure.code, Code::BadResponse);

        let expected = format!("it is listed with {listed} bytes, and has {gateway}");

        assert!(failure.message.ends_with(&expected), "{failure}");
        assert_eq!(fixture.fetches().await.len(), 2, "the first is of this test");
    }
}

/// The failed run, as the service shows it.
async fn run(fixture: &DownloadFixture) -> Value {
    let address = format!("{}/runs/{}", fixture.service.base_url(), seed::RUN_FAILED);
    let body = fixture.service.fetch(&address, keys::DEMO).await;
    serde_json::from_slice(&body).expect("JSON")
}

#[tokio::test]
async fn more_bytes_than_listed_are_an_error() {
    let fixture = DownloadFixture::new().await;
    // Without a stated length.
    fixture.fault(HOST, json!({"bytes": 3_000_000})).await;
    let failure = fixture.failing(LOG).await;
    assert_eq!(failure.code, Code::BadResponse);
    assert!(failure.message.contains("sends more than the expected"), "{failure}");
}

#[tokio::test]
async fn fewer_bytes_than_listed_are_an_error() {
    let fixture = DownloadFixture::new().await;
    fixture.fault(HOST, json!({"bytes": 10})).await;

    assert_eq!(fixture.whole(LOG).await, ["knowledge 200", "knowledge 200"]);

    let fixture = DownloadFixture::new().await;
    fixture.fault(HOST, json!({"bytes": 10, "times": 100})).await;

    let failure = fixture.save(LOG).await.expect_err("no file");

    assert!(failure.message.contains("ended after 10 of"), "{failure}");
    assert!(!fixture.out().join(LOG).exists());
}

#[tokio::test]
async fn a_file_deleted_at_the_service_fails_alone() {
    let fixture = DownloadFixture::new().await;
    fixture.fault(STORAGE, json!({"cut": 1_000})).await;
    fixture.fault(STORAGE, json!({"status": 404, "after": false})).await;

    let request = DownloadRequest { run_id: seed::RUN_FAILED.to_owned(), ..DownloadRequest::default() };
    let report = fixture.run(request).await.expect("a report");

    assert_eq!((report.status, report.file_count, report.failed.len()), ("incomplete", 3, 1));
    assert_eq!(
        (report.failed[0].code, report.failed[0].file_ref.as_str()),
        (Code::NotFound, "artifact:recording.mp4")
    );
    assert_eq!(names_below(&fixture.out()), [LOG, "deliverables/report.json", "screenshots/end.png"]);
}

#[tokio::test]
async fn an_expired_address_is_replaced() {
    let expired = json!({"status": 400, "body": "<Error><Code>ExpiredToken</Code></Error>"});
    for fault in [json!({"status": 401}), json!({"status": 403}), json!({"status": 410}), expired] {
        let fixture = DownloadFixture::new().await;
        fixture.fault(STORAGE, fault.clone()).await;
        let refused = format!("storage {}", fault["status"]);
        let tried = ["knowledge 302", &refused, "knowledge 302", "storage 200"];
        assert_eq!(fixture.whole(VIDEO).await, tried);
    }

    let fixture = DownloadFixture::new().await;
    fixture.fault(STORAGE, json!({"status": 400})).await;

    assert_eq!(fixture.failing(VIDEO).await.code, Code::Rejected);

    let fixture = DownloadFixture::new().await;
    fixture.fault(STORAGE, json!({"status": 403, "times": 100})).await;

    let failure = fixture.failing(VIDEO).await;

    assert_eq!((failure.code, failure.status), (Code::Rejected, Some(403)));
}

#[tokio::test]
async fn a_busy_host_is_asked_again() {
    let fixture = DownloadFixture::new().await;
    for status in [429, 500, 503] {
        fixture.fault(HOST, json!({"status": status, "headers": {"retry-after": "0"}})).await;
    }
    let tried = ["knowledge 429", "knowledge 500", "knowledge 503", "knowledge 200"];
    assert_eq!(fixture.whole(LOG).await, tried);
}

#[tokio::test]
async fn retry_after_sets_the_length_of_a_pause() {
    let fixture = DownloadFixture::new().await;
    let seconds = |seconds: &str| json!({"status": 503, "headers": {"retry-after": seconds}});
    fixture.fault(HOST, seconds("70")).await;
    assert_eq!(fixture.whole(LOG).await, ["knowledge 503", "knowledge 200"]);
    assert_eq!(fixture.clock.pauses(), [Duration::from_secs(70)]);
}

#[tokio::test]
async fn a_pause_beyond_the_wait_limit_is_an_error() {
    for (patience, asked) in [(Some(Duration::from_secs(45)), 46), (None, 3_601)] {
        let mut fixture = DownloadFixture::new().await;
        fixture.audience.wait_limit = patience;

        let fault = json!({"status": 503, "headers": {"retry-after": asked.to_string()}});
        fixture.fault(HOST, fault).await;

        let failure = fixture.failing(LOG).await;

        assert_eq!(
            (failure.code, &failure.details["retry_after_s"]),
            (Code::ServiceUnavailable, &json!(asked))
        );

        let said = format!("the service asks to wait {asked} s: make the same call again after that");

        assert_eq!((failure.hint, fixture.clock.pauses()), (Some(said), vec![]));
    }
}

/// Otherwise bytes that come again and again would count as progress, without an end.
#[tokio::test]
async fn repeated_bytes_are_not_progress() {
    let fixture = DownloadFixture::new().await;
    for _ in 0..10 {
        for cut in [1_000, 2_000] {
            fixture.fault(HOST, json!({"cut": cut, "headers": {"etag": "W/\"weak\""}})).await;
        }
    }

    let failure = fixture.failing(LOG).await;

    assert!(!failure.details.contains_key("bytes_saved"), "{failure:?}");
    // Two that came further than all before, and three more.
    assert_eq!(fixture.fetches().await.len(), 5);
}

#[tokio::test]
async fn a_part_at_another_offset_is_not_accepted() {
    let other = json!({
        "status": 206, "body": "abcde", "headers": {"content-range": "bytes 5-9/10"}, "times": 1,
    });
    let (fixture, size) = {
        let fixture = DownloadFixture::new().await;
        let size = fixture.served(LOG).await.len();
        (fixture, size)
    };
    let mut other = other;

    other["headers"]["content-range"] = json!(format!("bytes 5-9/{size}"));
    fixture.fault(HOST, other.clone()).await;

    assert_eq!(fixture.whole(LOG).await, ["knowledge 206", "knowledge 200"]);

    fs::remove_dir_all(fixture.out()).expect("a directory");
    other["times"] = json!(2);
    fixture.fault(HOST, other).await;

    let failure = fixture.failing(LOG).await;

    assert!(failure.message.contains("other parts than requested"), "{failure}");
}

#[tokio::test]
async fn an_unsatisfiable_range_starts_the_download_again() {
    let fixture = DownloadFixture::new().await;
    fixture.half().await;
    fixture.fault(HOST, json!({"status": 416, "body": ""})).await;
    assert_eq!(fixture.whole(LOG).await, ["knowledge 416", "knowledge 200"]);
}

#[tokio::test]
async fn two_calls_do_not_write_to_one_file() {
    let fixture = DownloadFixture::new().await;
    fs::create_dir(fixture.out()).expect("a directory");

    let mut part = fs::File::create(fixture.out().join(".agent.log.part")).expect("a file");
    part.lock().expect("a lock");
    part.write_all(b"theirs").expect("room");

    let failure = fixture.save(LOG).await.expect_err("no file");

    assert_eq!(failure.code, Code::FileError);
    assert!(failure.message.ends_with("is being downloaded by another call"), "{failure}");
    assert_eq!(fs::read(fixture.out().join(".agent.log.part")).expect("a file"), b"theirs");

    drop(part);

    assert_eq!(fixture.whole(LOG).await, ["knowledge 200"]);
}
