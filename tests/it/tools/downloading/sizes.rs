//! Files whose size is another one than listed, or is not stated at all.

use serde_json::{Value, json};
use tas_mcp::{
    failure::Code,
    sandbox::{keys, seed},
};

use super::{DirectDownload, fixture, names_below};

const LOG: &str = "agent.log";

/// The operation that serves a file or redirects to the storage host.
const ARTIFACT: &str = "get_run_artifact";

#[tokio::test]
async fn a_file_of_another_size_than_listed_is_not_saved() {
    for more in [-1, 1] {
        let download = DirectDownload::open(fixture()).await;
        let served = download.served(LOG).await.len();
        let mut run = failed_run(&download).await;
        let files = run["players"][0]["artifacts"].as_array_mut().expect("files");
        let log = files.iter_mut().find(|file| file["filename"] == LOG).expect("a log");
        let listed = log["size"].as_i64().expect("a size") + more;

        log["size"] = json!(listed);
        download.fault("get_run", json!({"body": run})).await;

        let failure = download.save_must_fail(LOG).await;

        assert_eq!(failure.code, Code::BadResponse);

        let expected = format!("the service lists {listed} bytes, but the file has {served}");

        assert!(failure.message.ends_with(&expected), "{failure}");
        assert_eq!(download.file_requests().await.len(), 2, "the first request is that of this test");
    }
}

/// Returns the record of the failed run.
async fn failed_run(download: &DirectDownload) -> Value {
    let address = format!("{}/runs/{}", download.session.service.base_url(), seed::RUN_FAILED);
    let body = download.session.service.fetch(&address, keys::DEMO).await;
    serde_json::from_slice(&body).expect("JSON")
}

#[tokio::test]
async fn more_bytes_than_listed_are_an_error() {
    let download = DirectDownload::open(fixture()).await;
    // The answer has no content-length.
    download.fault(ARTIFACT, json!({"bytes": 3_000_000})).await;
    let failure = download.save_must_fail(LOG).await;
    assert_eq!(failure.code, Code::BadResponse);
    assert!(failure.message.contains("sends more than the expected"), "{failure}");
}

/// An endless answer must not fill the disk.
#[tokio::test]
async fn a_file_of_unknown_size_is_saved_up_to_a_limit() {
    for (max_unsized_bytes, is_saved) in [(3_000_000, true), (2_999_999, false)] {
        let mut download = DirectDownload::open(fixture()).await;
        download.max_unsized_bytes = max_unsized_bytes;
        let mut run = failed_run(&download).await;
        for file in run["players"][0]["artifacts"].as_array_mut().expect("files") {
            file.as_object_mut().expect("an object").remove("size");
        }
        download.fault("get_run", json!({"body": run})).await;
        // The answer has no content-length either.
        download.fault(ARTIFACT, json!({"bytes": 3_000_000})).await;

        let outcome = download.save(LOG).await;

        assert_eq!(outcome.is_ok(), is_saved, "{outcome:?}");
        let names = if is_saved { vec![LOG.to_owned()] } else { vec![] };
        assert_eq!(names_below(&download.out()), names, "nothing else stays");
    }
}

#[tokio::test]
async fn fewer_bytes_than_listed_are_an_error() {
    let download = DirectDownload::open(fixture()).await;
    download.fault(ARTIFACT, json!({"bytes": 10})).await;

    assert_eq!(download.save_complete(LOG).await, ["knowledge 200", "knowledge 200"]);

    let download = DirectDownload::open(fixture()).await;
    download.fault(ARTIFACT, json!({"bytes": 10, "times": 100})).await;

    let failure = download.save(LOG).await.expect_err("no file");

    assert!(failure.message.contains("ended after 10 of"), "{failure}");
    assert!(!download.out().join(LOG).exists());
}
