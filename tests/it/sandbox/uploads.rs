//! Rules of uploads (service.md 10).

use serde_json::{Value, json};
use tas_mcp::sandbox::{Options, keys};

use super::client::{Answer, Client, error};
use crate::support::service::still_sandbox;

/// Content type of parts (service.md 10.6).
const BYTES: &str = "application/octet-stream";

/// Starts a sandbox with parts of 4 bytes.
async fn client() -> Client {
    Client::with(Options { part_size: 4, ..still_sandbox() }, None).await
}

fn build(more: &Value) -> Value {
    let mut build = json!({
        "project_id": "demo", "name": "n", "file_name": "f.apk", "file_size": 10, "platform": "android",
        "multipart": true,
    });
    build.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    build
}

async fn begin(client: &Client, more: &Value) -> Value {
    let answer = client.post("/project/demo/builds/upload", build(more)).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

/// Uploads a part and returns its `ETag` unchanged.
async fn put(client: &Client, upload: &Value, number: usize, bytes: &'static [u8]) -> String {
    let query = format!(
        "upload_id={}&object_key={}&part_numbers={number}",
        upload["upload_id"].as_str().unwrap(),
        upload["object_key"].as_str().unwrap()
    );
    let parts = client.read(&format!("/project/demo/builds/upload/parts?{query}")).await;
    let url = parts["upload_urls"][0]["url"].as_str().unwrap().to_owned();
    let answer =
        crate::support::plain_client().build().unwrap().put(url).header("content-type", BYTES).body(bytes);

    let answer = answer.send().await.unwrap();

    answer.headers()["etag"].to_str().unwrap().to_owned()
}

async fn complete(client: &Client, upload: &Value, etags: &[&str]) -> Answer {
    let parts = (1..).zip(etags).map(|(number, etag): (u64, _)| json!({"part_number": number, "etag": etag}));
    let mut body = json!({"parts": parts.collect::<Vec<_>>()});
    for name in ["build_id", "upload_id", "object_key"] {
        body[name] = upload[name].clone();
    }
    client.post("/builds/upload/complete", body).await
}

#[tokio::test]
async fn the_body_names_the_project_of_the_path() {
    let client = client().await;
    let wrong = error(400, "invalid request: project_id: must be the project of the path");

    for path in ["/project/demo/builds/upload", "/builds/upload"] {
        assert_eq!(client.post(path, build(&json!({"project_id": "arena"}))).await, wrong);
        assert_eq!(client.post(path, build(&json!({"project_id": 3}))).await.status, 400);
        let mut without = build(&json!({}));
        without.as_object_mut().unwrap().shift_remove("project_id");
        assert_eq!(client.post(path, without).await, error(400, "invalid request: project_id: Required"));
        assert_eq!(client.post(path, build(&json!({}))).await.status, 200);
    }
}

#[tokio::test]
async fn every_part_is_checked() {
    let client = client().await;
    let upload = begin(&client, &json!({})).await;

    assert_eq!(upload["total_parts"], 3);

    let one = put(&client, &upload, 1, b"abcd").await;
    let two = put(&client, &upload, 2, b"efgh").await;

    assert_eq!(
        complete(&client, &upload, &[&one, &two]).await,
        error(400, "2 parts are named, the upload has 3")
    );

    let missing = error(400, "part 3 has not been uploaded");

    assert_eq!(complete(&client, &upload, &[&one, &two, &two]).await, missing);

    let three = put(&client, &upload, 3, b"ij").await;
    let wrong = error(400, "part 2: the etag is not that of what was uploaded");

    assert_eq!(complete(&client, &upload, &[&one, &one, &three]).await, wrong);
    assert_eq!(complete(&client, &upload, &[&one, &two, &three, &three]).await.status, 400);
    assert_eq!(complete(&client, &upload, &[&one, &two, &three]).await.status, 200);
    assert_eq!(complete(&client, &upload, &[&one, &two, &three]).await.status, 404);
}

#[tokio::test]
async fn a_part_of_another_size_is_refused() {
    let client = client().await;
    let cases: [([&'static [u8]; 3], &str); 4] = [
        ([b"abc", b"efgh", b"ijk"], "part 1 has 3 bytes instead of 4"),
        ([b"abcd", b"efghi", b"j"], "part 2 has 5 bytes instead of 4"),
        ([b"abcd", b"efgh", b"i"], "part 3 has 1 bytes instead of 2"),
        ([b"abcd", b"efgh", b"ijkl"], "part 3 has 4 bytes instead of 2"),
    ];

    for (parts, problem) in cases {
        let upload = begin(&client, &json!({})).await;
        let mut etags = Vec::new();
        for (number, bytes) in (1..).zip(parts) {
            etags.push(put(&client, &upload, number, bytes).await);
        }
        let etags: Vec<_> = etags.iter().map(String::as_str).collect();
        assert_eq!(complete(&client, &upload, &etags).await, error(400, problem));
    }
}

#[tokio::test]
async fn single_part_and_multipart_uploads_are_completed_in_their_own_form() {
    let client = client().await;
    let parts = begin(&client, &json!({})).await;
    let answer = client.post("/builds/upload/complete", json!({"build_id": parts["build_id"]})).await;

    assert_eq!(answer, error(400, "upload_id, object_key and parts are required: the upload is multipart"));

    let single = begin(&client, &json!({"multipart": false})).await;

    assert_eq!(complete(&client, &with_upload_id(&single), &["x"]).await.status, 404);

    let answer = client.post("/builds/upload/complete", json!({"build_id": single["build_id"]})).await;

    assert_eq!(answer, error(400, "the file has not been uploaded"));

    let url = single["upload_url"].as_str().unwrap();
    let http = crate::support::plain_client().build().unwrap();
    http.put(url).header("content-type", BYTES).body("abc").send().await.unwrap();

    let answer = client.post("/builds/upload/complete", json!({"build_id": single["build_id"]})).await;

    assert_eq!(answer, error(400, "the file has 3 bytes instead of 10"));
}

fn with_upload_id(upload: &Value) -> Value {
    let mut upload = upload.clone();
    upload["upload_id"] = json!("upl_any");
    upload
}

#[tokio::test]
async fn an_upload_belongs_to_one_project() {
    let client = client().await.key(keys::ORGANIZATION);
    let upload = begin(&client, &json!({})).await;
    let path = |project: &str| {
        format!(
            "/project/{project}/builds/upload?build_id={}&object_key={}&upload_id={}",
            upload["build_id"].as_str().unwrap(),
            upload["object_key"].as_str().unwrap(),
            upload["upload_id"].as_str().unwrap()
        )
    };

    assert_eq!(client.delete(&path("arena")).await.status, 404);
    assert_eq!(client.delete(&path("nowhere")).await.status, 403);
    assert_eq!(client.delete(&path("demo")).await, Answer { status: 200, body: json!({"success": true}) });
}

#[tokio::test]
async fn part_numbers_must_exist_in_the_upload() {
    let client = client().await;
    let upload = begin(&client, &json!({})).await;

    for (numbers, status) in [
        ("1", 200),
        ("3,1,3", 200),
        ("4", 400),
        ("0", 400),
        ("-1", 400),
        ("one", 400),
        ("", 400),
        ("99999999999999999999", 400),
    ] {
        let path = format!(
            "/project/demo/builds/upload/parts?upload_id={}&object_key={}&part_numbers={numbers}",
            upload["upload_id"].as_str().unwrap(),
            upload["object_key"].as_str().unwrap()
        );
        assert_eq!(client.get(&path).await.status, status, "{numbers}");
    }
}

#[tokio::test]
async fn part_addresses_need_no_key() {
    let client = client().await;
    let upload = begin(&client, &json!({})).await;
    let without_key = client.without_key();
    put(&without_key, &upload, 1, b"abcd").await;

    assert_eq!(without_key.post("/builds/upload", build(&json!({}))).await, error(401, "API key required"));
}
