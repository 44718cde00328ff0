//! Uploading a build step by step, as callers of the tools and the storage host see it (service.md 10).

use reqwest::{Response, header};
use serde_json::{Value, json};
use tas_mcp::sandbox::Options;

use crate::support::{
    fixture::Fixture,
    host::Host,
    service::{Service, still_sandbox},
};

mod answers;
mod deleting;
mod ending;
mod expiry;
mod flows;
mod quota;
mod rules;
mod secrecy;

/// Bytes of a part in these tests.
const PART: usize = 1_000;

/// A sandbox with small parts, so that a short file has several of them.
fn fixture() -> Fixture {
    Fixture::new().all_tools().sandbox(Options { part_size: PART as u64, ..still_sandbox() })
}

/// Bytes of a file. Their period of 251 is no divisor of the part size, so that exchanged parts are detected.
fn file(size: usize) -> Vec<u8> {
    (0..size).map(|index| u8::try_from(index * 7 % 251).expect("less than 256")).collect()
}

/// The arguments that begin a multipart upload.
fn build(size: usize) -> Value {
    json!({
        "name": "nightly 414", "file_name": "emberfall 414.apk", "file_size": size, "platform": "android",
        "multipart": true,
    })
}

/// These arguments and some more.
fn with(mut arguments: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("not an object") };
    arguments.as_object_mut().expect("an object").extend(more);
    arguments
}

/// Arguments that identify a multipart upload to the other tools.
fn upload_ids(upload: &Value) -> Value {
    json!({
        "build_id": upload["build_id"], "upload_id": upload["upload_id"], "object_key": upload["object_key"],
    })
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// The URLs of these parts.
async fn part_urls(host: &mut Host, upload: &Value, numbers: &[usize]) -> Vec<String> {
    let arguments = json!({
        "upload_id": upload["upload_id"], "object_key": upload["object_key"], "part_numbers": numbers,
    });
    let answer = host.succeed("get_build_upload_parts", arguments).await;
    let urls = answer["upload_urls"].as_array().expect("a list");
    let part_numbers: Vec<_> = urls.iter().map(|url| url["part_number"].as_u64()).collect();

    assert_eq!(part_numbers, numbers.iter().map(|number| Some(*number as u64)).collect::<Vec<_>>());
    urls.iter().map(|url| text(&url["url"]).to_owned()).collect()
}

/// PUTs bytes with the content type that the service requires (service.md 10.6).
async fn put(url: &str, bytes: &[u8]) -> reqwest::Result<Response> {
    let client = crate::support::plain_client().build().expect("a client");
    let request = client.put(url).header(header::CONTENT_TYPE, "application/octet-stream");
    request.body(bytes.to_vec()).send().await
}

/// PUTs bytes that the storage host accepts. Returns the `ETag` as it was sent.
async fn put_accepted(url: &str, bytes: &[u8]) -> String {
    let answer = put(url, bytes).await.expect("an answer");
    assert_eq!(answer.status(), 200);
    answer.headers()[header::ETAG].to_str().expect("a text").to_owned()
}

/// PUTs bytes that the storage host refuses. Returns the status and the code of the refusal.
async fn put_refused(url: &str, bytes: &[u8]) -> (u16, String) {
    refusal(put(url, bytes).await.expect("an answer")).await
}

/// The status and the code of a refusal by the storage host.
async fn refusal(answer: Response) -> (u16, String) {
    assert_eq!(answer.headers()[header::CONTENT_TYPE], "application/xml");
    let status = answer.status().as_u16();
    let body = answer.text().await.expect("a body");
    let code = body.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    (status, code.expect("a code").0.to_owned())
}

/// PUTs every part of a file. Returns the list of parts that the completion requires.
async fn put_parts(host: &mut Host, upload: &Value, file: &[u8]) -> Vec<Value> {
    let numbers: Vec<_> = (1..=file.chunks(PART).count()).collect();
    let urls = part_urls(host, upload, &numbers).await;
    let mut parts = Vec::new();

    for ((number, url), bytes) in numbers.iter().zip(&urls).zip(file.chunks(PART)) {
        let etag = put_accepted(url, bytes).await;
        parts.push(json!({"part_number": number, "etag": etag.trim_matches('"')}));
    }

    parts
}

/// Uploads a file in parts. Returns the id of the build.
async fn upload_build(host: &mut Host, file: &[u8]) -> String {
    let upload = host.succeed("initiate_build_upload", build(file.len())).await;
    let parts = put_parts(host, &upload, file).await;
    let completion = with(upload_ids(&upload), json!({"parts": parts}));
    let done = host.succeed("complete_build_upload", completion).await;
    assert_eq!(done, json!({"build_id": upload["build_id"]}));
    text(&upload["build_id"]).to_owned()
}

/// The number of uploads in progress, and the number of files in which the sandbox keeps bytes.
async fn uploads_and_files(service: &Service) -> (usize, u64) {
    let shown = service.control("uploads").await;
    (shown["data"].as_array().expect("a list").len(), shown["files"].as_u64().expect("a number"))
}
