//! Files that break off go on where they broke, if they are still the same.

use std::{fs, io::Write, time::Duration};

use serde_json::{Value, json};
use tas_mcp::{
    failure::{Code, Failure},
    sandbox::{keys, seed},
    tools::download::DownloadRequest,
};

use super::{Direct, files_below, names_below};

const LOG: &str = "agent.log";
const VIDEO: &str = "recording.mp4";
const HOST: &str = "get_run_artifact";
const STORAGE: &str = "get_file";

/// As many requests as are made without getting a byte.
const ALL_ATTEMPTS: u32 = 4;

impl Direct {
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
async fn a_file_goes_on_where_its_connection_broke() {
    for (operation, name, expected) in [
        (HOST, LOG, &["knowledge 200", "knowledge 206"][..]),
        (STORAGE, VIDEO, &["knowledge 302", "storage 200", "knowledge 302", "storage 206"][..]),
    ] {
        let direct = Direct::new().await;
        direct.fault(operation, json!({"cut": 10_000})).await;
        assert_eq!(direct.whole(name).await, expected);
    }
}

/// The other project writes its `ETag`s without quotes.
#[tokio::test]
async fn an_etag_without_quotes_continues_a_file_too() {
    let mut direct = Direct::new().await;
    direct.key = keys::ARENA;
    direct.fault(HOST, json!({"cut": 1_000})).await;

    let patterns = Some(vec![LOG.to_owned()]);
    let order =
        DownloadRequest { run_id: seed::ARENA_RUN_FAILED.to_owned(), patterns, ..DownloadRequest::default() };
    let report = direct.run(order).await.expect("a report");

    assert_eq!(direct.fetches().await, ["knowledge 200", "knowledge 206"]);

    let player = &report.files[0].run_id;
    let address = format!("{}/runs/{player}/artifacts/{LOG}", direct.service.knowledge_url());
    let served = direct.service.fetch(&address, keys::ARENA).await;

    assert!(report.files.len() == 1 && files_below(&direct.out())[&report.files[0].path] == served);
}

#[tokio::test]
async fn a_file_that_breaks_before_its_first_byte_begins_again() {
    let direct = Direct::new().await;
    direct.fault(STORAGE, json!({"reset": true})).await;
    direct.fault(STORAGE, json!({"cut": 0})).await;
    let tried = ["knowledge 302", "storage null", "knowledge 302", "storage 200"];
    assert_eq!(direct.whole(VIDEO).await, [&tried[..], &["knowledge 302", "storage 200"]].concat());
}

#[tokio::test]
async fn it_goes_on_as_long_as_bytes_come() {
    let direct = Direct::new().await;
    direct.fault(STORAGE, json!({"cut": 20_000, "times": 12})).await;
    let requests = direct.whole(VIDEO).await;
    assert_eq!(requests.iter().filter(|one| *one == "storage 206").count(), 12);
}

#[tokio::test]
async fn what_came_before_the_end_of_all_attempts_is_not_fetched_again() {
    let direct = Direct::new().await;
    direct.half().await;
    assert_eq!(direct.whole(LOG).await, ["knowledge 206"]);
}

#[tokio::test]
async fn without_a_byte_nothing_is_left() {
    let direct = Direct::new().await;
    direct.fault(HOST, json!({"reset": true, "times": ALL_ATTEMPTS})).await;
    assert_eq!(direct.failing(LOG).await.code, Code::ServiceUnavailable);
    assert_eq!(direct.fetches().await.len(), ALL_ATTEMPTS as usize);
    assert_eq!(direct.whole(LOG).await, ["knowledge 200"]);
}

#[tokio::test]
async fn a_file_that_has_changed_comes_whole() {
    let direct = Direct::new().await;
    direct.half().await;

    let (part, tag) = (direct.out().join(".agent.log.part"), direct.out().join(".agent.log.part.tag"));
    fs::write(part, vec![b'x'; 1_000]).expect("a file");

    let known: Value = serde_json::from_slice(&fs::read(&tag).expect("a file")).expect("JSON");
    fs::write(tag, json!({"etag": "\"older\"", "size": known["size"]}).to_string()).expect("a file");

    assert_eq!(direct.whole(LOG).await, ["knowledge 200"]);
}

#[tokio::test]
async fn a_part_of_another_file_is_not_taken_from_a_host_that_ignores_if_range() {
    let direct = Direct::new().await;
    direct.half().await;
    direct.fault(HOST, json!({"headers": {"etag": "\"other\""}})).await;
    assert_eq!(direct.whole(LOG).await, ["knowledge 206", "knowledge 200"]);
}

#[tokio::test]
async fn what_is_left_of_a_file_of_another_size_is_not_used() {
    let direct = Direct::new().await;
    direct.half().await;

    let tag = direct.out().join(".agent.log.part.tag");
    let mut known: Value = serde_json::from_slice(&fs::read(&tag).expect("a file")).expect("JSON");
    known["size"] = json!(known["size"].as_u64().expect("a size") + 1);
    fs::write(tag, known.to_string()).expect("a file");

    assert_eq!(direct.whole(LOG).await, ["knowledge 200"]);
}

#[tokio::test]
async fn without_a_strong_tag_nothing_is_continued() {
    let direct = Direct::new().await;
    direct.fault(HOST, json!({"cut": 1_000, "headers": {"etag": "W/\"weak\""}})).await;

    assert_eq!(direct.whole(LOG).await, ["knowledge 200", "knowledge 200"]);
    for garbage in ["", "{", "[]", "{\"etag\": null}"] {
        let direct = Direct::new().await;
        direct.half().await;
        fs::write(direct.out().join(".agent.log.part.tag"), garbage).expect("a file");
        assert_eq!(direct.whole(LOG).await, ["knowledge 200"], "{garbage}");
    }
}

#[tokio::test]
async fn a_part_that_is_as_long_as_the_file_is_not_trusted() {
    for more in [0, 1] {
        let direct = Direct::new().await;
        direct.half().await;
        let length = direct.served(LOG).await.len() + more;
        fs::write(direct.out().join(".agent.log.part"), vec![b'x'; length]).expect("a file");
        assert_eq!(direct.whole(LOG).await, ["knowledge 200"]);
    }
}

#[tokio::test]
async fn a_file_of_another_size_than_listed_is_not_saved() {
    for more in [-1, 1] {
        let direct = Direct::new().await;
        let gateway = direct.served(LOG).await.len();
        let mut run = run(&direct).await;
        let files = run["players"][0]["artifacts"].as_array_mut().expect("files");
        let log = files.iter_mut().find(|file| file["filename"] == LOG).expect("a log");
        let listed = log["size"].as_i64().expect("a size") + more;

        log["size"] = json!(listed);
        direct.fault("get_run", json!({"body": run})).await;

        let failure = direct.failing(LOG).await;

        assert_eq!(failure.code, Code::BadResponse);

        let expected = format!("it is listed with {listed} bytes, and has {gateway}");

        assert!(failure.message.ends_with(&expected), "{failure}");
        assert_eq!(direct.fetches().await.len(), 2, "the first is of this test");
    }
}

/// The failed run, as the service shows it.
async fn run(direct: &Direct) -> Value {
    let address = format!("{}/runs/{}", direct.service.base_url(), seed::RUN_FAILED);
    let body = direct.service.fetch(&address, keys::DEMO).await;
    serde_json::from_slice(&body).expect("JSON")
}

#[tokio::test]
async fn more_bytes_than_listed_are_not_taken() {
    let direct = Direct::new().await;
    // Without a stated length.
    direct.fault(HOST, json!({"bytes": 3_000_000})).await;
    let failure = direct.failing(LOG).await;
    assert_eq!(failure.code, Code::BadResponse);
    assert!(failure.message.contains("sends more than the expected"), "{failure}");
}

#[tokio::test]
async fn fewer_bytes_than_listed_are_not_all() {
    let direct = Direct::new().await;
    direct.fault(HOST, json!({"bytes": 10})).await;

    assert_eq!(direct.whole(LOG).await, ["knowledge 200", "knowledge 200"]);

    let direct = Direct::new().await;
    direct.fault(HOST, json!({"bytes": 10, "times": 100})).await;

    let failure = direct.save(LOG).await.expect_err("no file");

    assert!(failure.message.contains("ended after 10 of"), "{failure}");
    assert!(!direct.out().join(LOG).exists());
}

#[tokio::test]
async fn a_file_that_is_gone_in_between_is_a_failure_of_its_own() {
    let direct = Direct::new().await;
    direct.fault(STORAGE, json!({"cut": 1_000})).await;
    direct.fault(STORAGE, json!({"status": 404, "after": false})).await;

    let order = DownloadRequest { run_id: seed::RUN_FAILED.to_owned(), ..DownloadRequest::default() };
    let report = direct.run(order).await.expect("a report");

    assert_eq!((report.status, report.file_count, report.failed.len()), ("incomplete", 3, 1));
    assert_eq!(
        (report.failed[0].code, report.failed[0].file_ref.as_str()),
        (Code::NotFound, "artifact:recording.mp4")
    );
    assert_eq!(names_below(&direct.out()), [LOG, "deliverables/report.json", "screenshots/end.png"]);
}

#[tokio::test]
async fn an_address_that_has_expired_is_asked_for_anew() {
    let expired = json!({"status": 400, "body": "<Error><Code>ExpiredToken</Code></Error>"});
    for fault in [json!({"status": 401}), json!({"status": 403}), json!({"status": 410}), expired] {
        let direct = Direct::new().await;
        direct.fault(STORAGE, fault.clone()).await;
        let refused = format!("storage {}", fault["status"]);
        let tried = ["knowledge 302", &refused, "knowledge 302", "storage 200"];
        assert_eq!(direct.whole(VIDEO).await, tried);
    }

    let direct = Direct::new().await;
    direct.fault(STORAGE, json!({"status": 400})).await;

    assert_eq!(direct.failing(VIDEO).await.code, Code::Rejected);

    let direct = Direct::new().await;
    direct.fault(STORAGE, json!({"status": 403, "times": 100})).await;

    let failure = direct.failing(VIDEO).await;

    assert_eq!((failure.code, failure.status), (Code::Rejected, Some(403)));
}

#[tokio::test]
async fn a_host_that_is_busy_is_asked_again_when_it_says() {
    let direct = Direct::new().await;
    for status in [429, 500, 503] {
        direct.fault(HOST, json!({"status": status, "headers": {"retry-after": "0"}})).await;
    }
    let tried = ["knowledge 429", "knowledge 500", "knowledge 503", "knowledge 200"];
    assert_eq!(direct.whole(LOG).await, tried);
}

#[tokio::test]
async fn a_pause_is_as_long_as_the_host_asks() {
    let direct = Direct::new().await;
    let seconds = |seconds: &str| json!({"status": 503, "headers": {"retry-after": seconds}});
    direct.fault(HOST, seconds("70")).await;
    assert_eq!(direct.whole(LOG).await, ["knowledge 503", "knowledge 200"]);
    assert_eq!(direct.clock.pauses(), [Duration::from_secs(70)]);
}

#[tokio::test]
async fn a_pause_that_is_longer_than_anybody_waits_is_told() {
    for (patience, asked) in [(Some(Duration::from_secs(45)), 46), (None, 3_601)] {
        let mut direct = Direct::new().await;
        direct.audience.wait_limit = patience;

        let fault = json!({"status": 503, "headers": {"retry-after": asked.to_string()}});
        direct.fault(HOST, fault).await;

        let failure = direct.failing(LOG).await;

        assert_eq!(
            (failure.code, &failure.details["retry_after_s"]),
            (Code::ServiceUnavailable, &json!(asked))
        );

        let said = format!("the service asks to wait {asked} s: make the same call again after that");

        assert_eq!((failure.hint, direct.clock.pauses()), (Some(said), vec![]));
    }
}

/// Otherwise bytes that come again and again would count as progress, without an end.
#[tokio::test]
async fn what_comes_once_more_is_no_progress() {
    let direct = Direct::new().await;
    for _ in 0..10 {
        for cut in [1_000, 2_000] {
            direct.fault(HOST, json!({"cut": cut, "headers": {"etag": "W/\"weak\""}})).await;
        }
    }

    let failure = direct.failing(LOG).await;

    assert!(!failure.details.contains_key("bytes_saved"), "{failure:?}");
    // Two that came further than all before, and three more.
    assert_eq!(direct.fetches().await.len(), 5);
}

#[tokio::test]
async fn another_part_than_asked_for_is_not_taken() {
    let other = json!({
        "status": 206, "body": "abcde", "headers": {"content-range": "bytes 5-9/10"}, "times": 1,
    });
    let (direct, size) = {
        let direct = Direct::new().await;
        let size = direct.served(LOG).await.len();
        (direct, size)
    };
    let mut other = other;

    other["headers"]["content-range"] = json!(format!("bytes 5-9/{size}"));
    direct.fault(HOST, other.clone()).await;

    assert_eq!(direct.whole(LOG).await, ["knowledge 206", "knowledge 200"]);

    fs::remove_dir_all(direct.out()).expect("a directory");
    other["times"] = json!(2);
    direct.fault(HOST, other).await;

    let failure = direct.failing(LOG).await;

    assert!(failure.message.contains("other parts than requested"), "{failure}");
}

#[tokio::test]
async fn a_range_that_the_host_does_not_have_begins_anew() {
    let direct = Direct::new().await;
    direct.half().await;
    direct.fault(HOST, json!({"status": 416, "body": ""})).await;
    assert_eq!(direct.whole(LOG).await, ["knowledge 416", "knowledge 200"]);
}

#[tokio::test]
async fn two_calls_do_not_write_to_one_file() {
    let direct = Direct::new().await;
    fs::create_dir(direct.out()).expect("a directory");

    let mut part = fs::File::create(direct.out().join(".agent.log.part")).expect("a file");
    part.lock().expect("a lock");
    part.write_all(b"theirs").expect("room");

    let failure = direct.save(LOG).await.expect_err("no file");

    assert_eq!(failure.code, Code::FileError);
    assert!(failure.message.ends_with("is being downloaded by another call"), "{failure}");
    assert_eq!(fs::read(direct.out().join(".agent.log.part")).expect("a file"), b"theirs");

    drop(part);

    assert_eq!(direct.whole(LOG).await, ["knowledge 200"]);
}
