//! `upload_build` of a server without local files: the caller sends the bytes to the storage host itself.

use reqwest::header;
use serde_json::{Value, json};
use tas_mcp::{
    sandbox::{Options, keys},
    settings::Settings,
};

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, json_of},
    service::{Service, still_sandbox},
};

mod failures;
mod tokens;

/// Bytes of a part in these tests.
const PART: usize = 1_000;

/// A key of the project `demo`.
const DEMO: [(&str, &str); 1] = [("x-api-key", keys::DEMO)];

/// Starts a service with small parts. Returns the settings of a server without a key, too.
async fn service(more: &[(&str, &str)]) -> (Service, Settings) {
    let options = Options { part_size: PART as u64, ..still_sandbox() };
    let service = Service::with(options).await;
    let variables = [&FREE_PORTS[..], &[("TAS_HTTP_RATE", "1000")], more].concat();
    let settings = service.settings("", &variables);
    (service, settings)
}

async fn start() -> (Service, HttpUnderTest) {
    let (service, settings) = service(&[]).await;
    let server = HttpUnderTest::start(&settings);
    (service, server)
}

/// Returns the bytes of a file. Their period is no divisor of the part size, so that exchanged parts are detected.
fn file(size: usize) -> Vec<u8> {
    (0..size).map(|index| u8::try_from(index * 7 % 251).expect("less than 256")).collect()
}

/// Makes a step that must succeed. Returns the reply.
async fn step(server: &HttpUnderTest, arguments: Value) -> Value {
    let result = server.call("/mcp", &DEMO, "upload_build", arguments).await;
    assert_eq!(result["isError"], false, "{result}");
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), result["structuredContent"]);
    result["structuredContent"].clone()
}

/// Makes a step that must fail. Returns the error.
async fn failure(server: &HttpUnderTest, arguments: Value) -> Value {
    failure_of(server, "/mcp", &DEMO, arguments).await
}

async fn failure_of(server: &HttpUnderTest, path: &str, headers: &[(&str, &str)], arguments: Value) -> Value {
    let result = server.call(path, headers, "upload_build", arguments).await;
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().expect("a text");
    serde_json::from_str::<Value>(text).expect("JSON")["error"].clone()
}

/// Starts the upload of a file of `size` bytes.
async fn begin(server: &HttpUnderTest, size: usize) -> Value {
    step(server, json!({"file_name": "game.apk", "file_size": size})).await
}

/// Sends the parts that a reply names to the storage host. Adds their `ETag`s to `parts`.
async fn send_parts(reply: &Value, file: &[u8], parts: &mut Vec<Value>) {
    let client = crate::support::plain_client().build().expect("a client");

    for part in reply["upload_urls"].as_array().expect("addresses") {
        let number = |name: &str| usize::try_from(part[name].as_u64().expect("a number")).expect("usize");
        let bytes = file[number("offset")..number("offset") + number("length")].to_vec();
        let request = client.put(part["url"].as_str().expect("an address")).body(bytes);
        let answer = request.header(header::CONTENT_TYPE, "application/octet-stream").send().await;
        let answer = answer.expect("an answer");

        assert_eq!(answer.status(), 200);
        let etag = answer.headers()[header::ETAG].to_str().expect("a text");
        parts.push(json!({"part_number": part["part_number"], "etag": etag}));
    }
}

/// Sends all parts of a file. Returns their `ETag`s.
async fn send_file(server: &HttpUnderTest, first: &Value, file: &[u8]) -> Vec<Value> {
    let (mut reply, mut parts) = (first.clone(), Vec::new());

    loop {
        send_parts(&reply, file, &mut parts).await;
        let Some(next) = reply["next_part"].as_u64() else { return parts };
        reply = step(server, json!({"upload_token": first["upload_token"], "from_part": next})).await;
    }
}

/// Returns the number of uploads in progress.
async fn uploads(service: &Service) -> usize {
    service.control("uploads").await["data"].as_array().expect("a list").len()
}

#[tokio::test]
async fn a_file_of_any_number_of_parts_becomes_a_build() {
    let (service, server) = start().await;

    for (size, requests) in [(1, 1), (1_000, 1), (2_500, 1), (10_000, 1), (11_500, 2), (18_001, 3)] {
        let file = file(size);
        let first = begin(&server, size).await;
        assert_eq!(first["status"], "uploading", "{first}");
        assert_eq!(first["total_parts"], size.div_ceil(PART), "{first}");
        let token = &first["upload_token"];

        let before = service.requests().await.len();
        let parts = send_file(&server, &first, &file).await;
        let seen = service.requests().await.split_off(before);
        let more = seen.iter().filter(|line| line.contains("/builds/upload/parts")).count();
        assert_eq!(more + 1, requests, "{size}: {seen:?}");

        let done = step(&server, json!({"upload_token": token, "parts": parts})).await;
        let expected = json!({
            "status": "uploaded", "build_id": first["build_id"], "project_id": "demo", "name": "game.apk",
            "file_name": "game.apk", "platform": "android", "size": size, "parts": size.div_ceil(PART),
        });
        assert_eq!(done, expected);
        let build = first["build_id"].as_str().expect("an id");
        assert_eq!(service.content(build).await, Some(file), "{size}");
    }
}

#[tokio::test]
async fn a_reply_names_the_bytes_of_each_part_and_what_follows() {
    let (_service, server) = start().await;
    let first = begin(&server, 2_500).await;
    let parts: Vec<_> = first["upload_urls"].as_array().expect("addresses").iter().collect();
    let fields = |part: &Value| ["part_number", "offset", "length"].map(|name| part[name].as_u64());

    let expected = [[1, 0, 1_000], [2, 1_000, 1_000], [3, 2_000, 500]];
    assert_eq!(
        parts.iter().map(|part| fields(part)).collect::<Vec<_>>(),
        expected.map(|part| part.map(Some))
    );
    assert!(first["next"].as_str().is_some_and(|text| text.contains("When all 3 parts")), "{first}");
    assert_eq!(first.get("next_part"), None);

    let again = step(&server, json!({"upload_token": first["upload_token"], "from_part": 3})).await;
    assert_eq!(again["upload_urls"].as_array().map(Vec::len), Some(1));
    assert_eq!(fields(&again["upload_urls"][0]), [3, 2_000, 500].map(Some));
}

#[tokio::test]
async fn an_upload_in_one_piece_becomes_a_build() {
    let (service, server) = start().await;
    let file = file(2_500);
    let start = json!({"file_name": "game.apk", "file_size": file.len(), "multipart": false});
    let first = step(&server, start).await;
    assert_eq!((&first["total_parts"], first.get("upload_id")), (&json!(1), None));

    let refused = failure(&server, json!({"upload_token": first["upload_token"], "from_part": 1})).await;
    assert!(refused["message"].as_str().expect("a message").contains("cannot be renewed"), "{refused}");

    let mut parts = Vec::new();
    send_parts(&first, &file, &mut parts).await;
    let done = step(&server, json!({"upload_token": first["upload_token"], "parts": parts})).await;
    assert_eq!((&done["status"], &done["parts"]), (&json!("uploaded"), &json!(1)));
    assert_eq!(service.content(first["build_id"].as_str().expect("an id")).await, Some(file));
}

#[tokio::test]
async fn the_arguments_of_the_build_reach_the_service() {
    let (_service, server) = start().await;
    let start = json!({
        "file_name": "game.zip", "file_size": "3", "name": "nightly", "platform": "xbox", "tags": ["a"],
        "description": "text", "details": {"app": {"version": "1.2"}}, "upload_timeout": 90,
    });
    let first = step(&server, start).await;
    let parts = send_file(&server, &first, b"abc").await;
    step(&server, json!({"upload_token": first["upload_token"], "parts": parts})).await;

    let build =
        server.call("/mcp", &DEMO, "get_build", json!({"build_id": first["build_id"]})).await["structuredContent"]
            .clone();
    for (name, expected) in [
        ("name", json!("nightly")),
        ("platform", json!("xbox")),
        ("tags", json!(["a"])),
        ("description", json!("text")),
    ] {
        assert_eq!(build[name], expected, "{build}");
    }
    assert_eq!(build["details"]["app"]["version"], "1.2");
    assert_eq!(build["details"]["upload"]["method"], "mcp");
}

#[tokio::test]
async fn only_the_main_api_gets_the_key() {
    let (service, server) = start().await;
    let first = begin(&server, 1_500).await;
    let parts = send_file(&server, &first, &file(1_500)).await;
    step(&server, json!({"upload_token": first["upload_token"], "parts": parts})).await;

    let log = service.control("requests").await;
    for request in log["data"].as_array().expect("a list") {
        let path = request["path"].as_str().expect("a path");
        let has_key = !path.contains("/upload/parts") && !path.contains("/storage/");
        assert_eq!(request["key"].is_string(), has_key, "{request}");
    }
}

#[tokio::test]
async fn a_reply_has_as_many_addresses_as_fit() {
    let (_service, settings) = service(&[("TAS_MAX_REPLY_CHARS", "4000")]).await;
    let server = HttpUnderTest::start(&settings);
    let first = begin(&server, 9_000).await;
    let count = first["upload_urls"].as_array().expect("addresses").len();

    assert!((1..8).contains(&count), "{first}");
    assert_eq!(first["next_part"], count + 1);
    assert!(first.to_string().chars().count() <= 4_000 && first.get("truncated").is_none(), "{first}");
}

#[tokio::test]
async fn the_tool_is_offered_without_required_arguments() {
    let (_service, server) = start().await;
    for path in ["/mcp", "/mcp/x/lean", "/mcp/x/builds", "/mcp/x/upload_build"] {
        let listed = json_of(server.modern(path, &[], "tools/list", json!({})).await).await;
        let tools = listed["result"]["tools"].as_array().expect("tools");
        let tool = tools.iter().find(|tool| tool["name"] == "upload_build").expect("the tool");
        let properties = tool["inputSchema"]["properties"].as_object().expect("properties");

        assert!(properties.contains_key("file_size") && !properties.contains_key("path"), "{path}: {tool}");
        assert_eq!(tool["inputSchema"].get("required"), None, "{path}");
    }

    let server_info = json_of(server.modern("/mcp", &[], "server/discover", json!({})).await).await;
    let instructions = server_info["result"]["instructions"].as_str().expect("instructions");
    assert!(instructions.contains("`upload_build` uploads a build"), "{instructions}");

    let listed = json_of(server.modern("/mcp/x/all/readonly", &[], "tools/list", json!({})).await).await;
    assert!(!listed.to_string().contains("upload_build"));
}
