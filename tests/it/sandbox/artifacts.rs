//! Artifacts of players, as bytes (service.md 12).

use reqwest::{Response, StatusCode, header::HeaderMap};
use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use super::client::{Client, error};

const LOG: &str = "agent.log";

fn list(run: &str) -> String {
    format!("/runs/{run}-1/artifacts")
}

/// Requests a file of the first player of the failed run, with these headers.
async fn file(client: &Client, name: &str, headers: &[(&'static str, &str)]) -> Response {
    client.get_with(&format!("{}/{name}", list(seed::RUN_FAILED)), headers).await
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn listed_files_match_the_served_files() {
    for (key, run) in [(keys::DEMO, seed::RUN_FAILED), (keys::ARENA, seed::ARENA_RUN_FAILED)] {
        let client = Client::demo().await.key(key);
        let listing = client.read(&list(run)).await;

        assert_eq!((&listing["runId"], &listing["count"]), (&json!(format!("{run}-1")), &json!(5)));
        for one in listing["artifacts"].as_array().unwrap() {
            let url = one["url"].as_str().unwrap();
            let response = client.get_with(url.split_at(url.find("/runs/").unwrap()).1, &[]).await;
            if one["filename"] == "recording.mp4" {
                assert_eq!(response.status(), StatusCode::FOUND);
                continue;
            }

            let etag = one["etag"].as_str().unwrap();

            assert_eq!((response.status(), text(response.headers(), "etag")), (StatusCode::OK, etag));
            assert_eq!(text(response.headers(), "content-length"), one["size"].to_string());
            assert_eq!(response.bytes().await.unwrap().len(), one["size"]);
        }
    }
}

#[tokio::test]
async fn a_requested_range_is_served_and_one_outside_is_not_satisfiable() {
    let client = Client::demo().await;
    let complete = file(&client, LOG, &[]).await.bytes().await.unwrap();
    let size = complete.len();

    for (range, start, end) in [("bytes=10-", 10, size), ("bytes=-7", size - 7, size), ("bytes=0-0", 0, 1)] {
        let part = file(&client, LOG, &[("range", range)]).await;
        let expected = format!("bytes {start}-{}/{size}", end - 1);
        assert_eq!(
            (part.status(), text(part.headers(), "content-range")),
            (StatusCode::PARTIAL_CONTENT, &*expected)
        );
        assert_eq!(part.bytes().await.unwrap(), complete[start..end], "{range}");
    }

    let refused = file(&client, LOG, &[("range", &format!("bytes={size}-"))]).await;

    assert_eq!(refused.status(), StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(text(refused.headers(), "content-range"), format!("bytes */{size}"));
}

#[tokio::test]
async fn a_range_of_another_version_gets_the_whole_file() {
    let client = Client::demo().await;
    let complete = file(&client, LOG, &[]).await;
    let etag = text(complete.headers(), "etag").to_owned();
    let complete = complete.bytes().await.unwrap();

    for (tag, status, length) in [
        (etag.clone(), StatusCode::PARTIAL_CONTENT, complete.len() - 10),
        ("\"other\"".to_owned(), StatusCode::OK, complete.len()),
    ] {
        let answer = file(&client, LOG, &[("if-range", &tag), ("range", "bytes=10-")]).await;
        assert_eq!((answer.status(), answer.bytes().await.unwrap().len()), (status, length), "{tag}");
    }
}

#[tokio::test]
async fn a_large_file_is_served_from_storage_without_a_key() {
    let client = Client::demo().await;
    let answer = file(&client, "recording.mp4", &[]).await;

    assert_eq!(answer.status(), StatusCode::FOUND);

    let location = text(answer.headers(), "location").to_owned();
    let path = location.split_at(location.find("/storage/artifacts/").unwrap()).1;
    let client = client.without_key();
    let complete = client.get_with(path, &[]).await;

    assert_eq!(text(complete.headers(), "content-type"), "video/mp4");

    let length = complete.content_length().unwrap();
    let complete = complete.bytes().await.unwrap();

    assert!(complete.len() >= 300_000 && complete.len() as u64 == length);

    let part = client.get_with(path, &[("range", "bytes=70001-270002")]).await;

    assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
    assert_eq!(part.bytes().await.unwrap(), complete[70_001..=270_002]);
}

#[tokio::test]
async fn unknown_artifacts_are_not_found() {
    let client = Client::demo().await;
    let unknown = format!("/runs/{}-2/artifacts", seed::RUN_FAILED);
    assert_eq!(client.get(&unknown).await, error(404, "run not found"));

    for name in ["nothing", "deliverables", "agent.log/x"] {
        let path = format!("{}/{name}", list(seed::RUN_FAILED));
        assert_eq!(client.get(&path).await, error(404, "artifact not found"), "{name}");
    }
}
