//! Downloads continue after a broken connection at the byte where they ended, if the file is still the same.

use std::{fs, time::Duration};

use serde_json::json;
use tas_mcp::{
    failure::{Code, Failure},
    sandbox::{keys, seed},
};

use super::{DirectDownload, all_of, files_below, fixture, names_below, with};

const LOG: &str = "agent.log";
const VIDEO: &str = "recording.mp4";
/// The operation that serves a file or redirects to the storage host.
const ARTIFACT: &str = "get_run_artifact";
/// The operation of the storage host.
const STORAGE: &str = "get_file";

/// Number of requests that are sent without receiving a byte.
const ALL_ATTEMPTS: u32 = 5;

impl DirectDownload {
    /// Saves a file, which must be complete and the only file. Returns the requests for it.
    pub(super) async fn save_complete(&self, name: &str) -> Vec<String> {
        let before = self.file_requests().await.len();
        let report = self.save(name).await.expect("a report");

        assert_eq!((report.status, report.file_count), ("downloaded", 1));

        let requests = self.file_requests().await.split_off(before);
        let saved = files_below(&self.out());

        assert_eq!(saved.keys().collect::<Vec<_>>(), [name]);
        assert!(saved[name] == self.served(name).await);
        requests
    }

    /// Saves a file, which must fail and leave no file.
    pub(super) async fn save_must_fail(&self, name: &str) -> Failure {
        let failure = self.save(name).await.expect_err("no file");
        assert_eq!(names_below(&self.out()), [""; 0], "{failure:?}");
        failure
    }
}

#[tokio::test]
async fn a_download_continues_after_a_broken_connection() {
    for (operation, name, expected) in [
        (ARTIFACT, LOG, &["knowledge 200", "knowledge 206"][..]),
        (STORAGE, VIDEO, &["knowledge 302", "storage 200", "knowledge 302", "storage 206"][..]),
    ] {
        let download = DirectDownload::open(fixture()).await;
        download.fault(operation, json!({"cut": 10_000})).await;
        assert_eq!(download.save_complete(name).await, expected);
    }
}

/// The other project writes its `ETag`s without quotes.
#[tokio::test]
async fn an_etag_without_quotes_continues_a_file_too() {
    let download = DirectDownload::open(fixture().key(keys::ARENA)).await;
    download.fault(ARTIFACT, json!({"cut": 1_000})).await;

    let arguments = with(seed::ARENA_RUN_FAILED, json!({"patterns": [LOG]}));
    let report = download.run(arguments).await.expect("a report");

    assert_eq!(download.file_requests().await, ["knowledge 200", "knowledge 206"]);

    let player = &report.files[0].run_id;
    let address = format!("{}/runs/{player}/artifacts/{LOG}", download.session.service.knowledge_url());
    let served = download.session.service.fetch(&address, keys::ARENA).await;

    assert!(report.files.len() == 1 && files_below(&download.out())[&report.files[0].path] == served);
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_first_byte_starts_again() {
    let download = DirectDownload::open(fixture()).await;
    download.fault(STORAGE, json!({"reset": true})).await;
    download.fault(STORAGE, json!({"cut": 0})).await;
    let requests = ["knowledge 302", "storage null", "knowledge 302", "storage 200"];
    assert_eq!(
        download.save_complete(VIDEO).await,
        [&requests[..], &["knowledge 302", "storage 200"]].concat()
    );
}

#[tokio::test]
async fn attempts_continue_while_bytes_arrive() {
    let download = DirectDownload::open(fixture()).await;
    download.fault(STORAGE, json!({"cut": 20_000, "times": 12})).await;
    let requests = download.save_complete(VIDEO).await;
    assert_eq!(requests.iter().filter(|one| *one == "storage 206").count(), 12);
}

#[tokio::test]
async fn a_failed_download_without_bytes_leaves_nothing() {
    let download = DirectDownload::open(fixture()).await;
    download.fault(ARTIFACT, json!({"reset": true, "times": ALL_ATTEMPTS})).await;
    assert_eq!(download.save_must_fail(LOG).await.code, Code::ServiceUnavailable);
    assert_eq!(download.file_requests().await.len(), ALL_ATTEMPTS as usize);
    assert_eq!(download.save_complete(LOG).await, ["knowledge 200"]);
}

#[tokio::test]
async fn bytes_of_another_version_are_not_continued() {
    let other = json!({"headers": {"etag": "\"other\""}});
    let weak = json!({"cut": 1_000, "headers": {"etag": "W/\"weak\""}});
    let unsatisfiable = json!({"status": 416, "body": ""});
    for (first, second, expected) in [
        (json!({"cut": 1_000}), Some(other), &["knowledge 200", "knowledge 206", "knowledge 200"][..]),
        (json!({"cut": 1_000}), Some(unsatisfiable), &["knowledge 200", "knowledge 416", "knowledge 200"]),
        (weak, None, &["knowledge 200", "knowledge 200"]),
    ] {
        let download = DirectDownload::open(fixture()).await;
        download.fault(ARTIFACT, first).await;
        if let Some(second) = second {
            download.fault(ARTIFACT, second).await;
        }
        assert_eq!(download.save_complete(LOG).await, expected);
    }
}

#[tokio::test]
async fn only_the_file_that_the_service_has_deleted_fails() {
    let download = DirectDownload::open(fixture()).await;
    download.fault(STORAGE, json!({"cut": 1_000})).await;
    download.fault(STORAGE, json!({"status": 404, "after": false})).await;

    let report = download.run(all_of(seed::RUN_FAILED)).await.expect("a report");

    assert_eq!((report.status, report.file_count, report.failed.len()), ("incomplete", 4, 1));
    assert_eq!(
        (report.failed[0].code, report.failed[0].file_ref.as_str()),
        (Code::NotFound, "artifact:recording.mp4")
    );
    assert_eq!(
        names_below(&download.out()),
        [LOG, "deliverables/report.json", "screenshots/end.png", "screenshots/step-2.png"]
    );
}

#[tokio::test]
async fn an_expired_address_is_replaced() {
    let expired = json!({"status": 400, "body": "<Error><Code>ExpiredToken</Code></Error>"});
    for fault in [json!({"status": 401}), json!({"status": 403}), json!({"status": 410}), expired] {
        let download = DirectDownload::open(fixture()).await;
        download.fault(STORAGE, fault.clone()).await;
        let refused = format!("storage {}", fault["status"]);
        let requests = ["knowledge 302", &refused, "knowledge 302", "storage 200"];
        assert_eq!(download.save_complete(VIDEO).await, requests);
    }

    let download = DirectDownload::open(fixture()).await;
    download.fault(STORAGE, json!({"status": 400})).await;

    assert_eq!(download.save_must_fail(VIDEO).await.code, Code::Rejected);

    let download = DirectDownload::open(fixture()).await;
    download.fault(STORAGE, json!({"status": 403, "times": 100})).await;

    let failure = download.save_must_fail(VIDEO).await;

    assert_eq!((failure.code, failure.status), (Code::Rejected, Some(403)));
}

#[tokio::test]
async fn a_request_to_a_busy_host_is_repeated() {
    let download = DirectDownload::open(fixture()).await;
    for status in [429, 500, 503] {
        download.fault(ARTIFACT, json!({"status": status, "headers": {"retry-after": "0"}})).await;
    }
    let requests = ["knowledge 429", "knowledge 500", "knowledge 503", "knowledge 200"];
    assert_eq!(download.save_complete(LOG).await, requests);
}

#[tokio::test]
async fn retry_after_sets_the_length_of_a_pause() {
    let download = DirectDownload::open(fixture()).await;
    let seconds = |seconds: &str| json!({"status": 503, "headers": {"retry-after": seconds}});
    download.fault(ARTIFACT, seconds("70")).await;
    assert_eq!(download.save_complete(LOG).await, ["knowledge 503", "knowledge 200"]);
    assert_eq!(download.session.clock.pauses(), [Duration::from_secs(70)]);
}

#[tokio::test]
async fn a_pause_beyond_the_wait_limit_is_an_error() {
    for (wait_limit, asked) in [(Some(Duration::from_secs(45)), 46), (None, 3_601)] {
        let mut download = DirectDownload::open(fixture()).await;
        download.options.wait_limit = wait_limit;

        let fault = json!({"status": 503, "headers": {"retry-after": asked.to_string()}});
        download.fault(ARTIFACT, fault).await;

        let failure = download.save_must_fail(LOG).await;

        assert_eq!(
            (failure.code, &failure.details["retry_after_s"]),
            (Code::ServiceUnavailable, &json!(asked))
        );

        let said = format!("the service asks to wait {asked} s: make the same call again after that");

        assert_eq!((failure.hint, download.session.clock.pauses()), (said.into(), vec![]));
    }
}

/// Otherwise a service that sends the same bytes again and again would keep the download running forever.
#[tokio::test]
async fn repeated_bytes_are_not_progress() {
    let download = DirectDownload::open(fixture()).await;
    for _ in 0..10 {
        for cut in [1_000, 2_000] {
            download.fault(ARTIFACT, json!({"cut": cut, "headers": {"etag": "W/\"weak\""}})).await;
        }
    }

    let failure = download.save_must_fail(LOG).await;

    assert_eq!(failure.code, Code::ServiceUnavailable);
    // Two requests that brought new bytes, and the attempts after the second one.
    assert_eq!(download.file_requests().await.len(), 1 + ALL_ATTEMPTS as usize);
}

#[tokio::test]
async fn a_part_at_another_offset_is_not_accepted() {
    let download = DirectDownload::open(fixture()).await;
    let size = download.served(LOG).await.len();
    let headers = json!({"content-range": format!("bytes 5-9/{size}")});
    let mut other = json!({"status": 206, "body": "abcde", "headers": headers, "times": 1});

    download.fault(ARTIFACT, other.clone()).await;

    assert_eq!(download.save_complete(LOG).await, ["knowledge 206", "knowledge 200"]);

    fs::remove_dir_all(download.out()).expect("a directory");
    other["times"] = json!(ALL_ATTEMPTS);
    download.fault(ARTIFACT, other).await;

    let failure = download.save_must_fail(LOG).await;

    assert!(failure.message.contains("other parts than requested"), "{failure}");
}
