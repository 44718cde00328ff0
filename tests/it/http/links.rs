//! Links to files in results: presigned addresses from which clients fetch the files themselves.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    fixture::{Fixture, Session},
    host::reply_of,
    http_client::{FREE_PORTS, HttpUnderTest},
    service::Service,
    stub::Stub,
};

const ALL: (&str, &str) = ("TAS_TOOLSETS", "all");

/// A key of the project `demo`.
const DEMO: [(&str, &str); 1] = [("x-api-key", keys::DEMO)];

async fn start() -> (Service, HttpUnderTest) {
    let service = Service::start().await;
    let settings = service.settings("", &[&FREE_PORTS[..], &[ALL]].concat());
    let server = HttpUnderTest::start(&settings);
    (service, server)
}

fn player() -> String {
    format!("{}-1", seed::RUN_FAILED)
}

/// The calls whose results have links.
fn calls() -> [(&'static str, Value); 3] {
    [
        ("get_minion_download", json!({"platform": "linux-x86_64"})),
        ("get_run_artifact", json!({"run_id": player(), "filename": "recording.mp4"})),
        ("list_run_artifacts", json!({"run_id": player()})),
    ]
}

/// Returns the links of a result, which follow its text.
fn links(result: &Value) -> Vec<Value> {
    assert_eq!(result["isError"], false, "{result}");
    let content = result["content"].as_array().expect("content");
    assert_eq!(content[0]["type"], "text", "{result}");
    let links = content.iter().filter(|block| block["type"] == "resource_link");
    links.cloned().collect()
}

#[tokio::test]
async fn a_link_leads_to_the_file_without_a_key() {
    let (service, server) = start().await;
    for (tool, arguments) in calls() {
        let result = server.call("/mcp", &DEMO, tool, arguments).await;
        let links = links(&result);
        let [link] = &links[..] else { panic!("{tool}: {result}") };

        let bytes = service.fetch(link["uri"].as_str().expect("an address"), "").await;
        if tool == "get_minion_download" {
            assert_eq!(link["uri"], reply_of(&result)["download_url"]);
            assert_eq!(link["name"], "minion-2.8.1-linux-x86_64.zip");
            assert_eq!(link.get("size"), None);
        } else {
            assert_eq!(link["name"], "recording.mp4", "{tool}");
            assert_eq!(link["size"], bytes.len(), "{tool}");
        }
    }
}

#[tokio::test]
async fn a_link_says_what_the_file_is_and_the_hint_names_the_link() {
    let (_service, server) = start().await;
    let [_, (tool, arguments), _] = calls();
    let result = server.call("/mcp", &DEMO, tool, arguments).await;

    assert_eq!(links(&result)[0]["mimeType"], "video/mp4");
    let reply = reply_of(&result);
    let (hint, address) = (reply["hint"].as_str().expect("a hint"), links(&result)[0]["uri"].clone());
    assert!(hint.contains(address.as_str().expect("an address")), "{hint}");
    assert!(!result.to_string().contains("download_run_files"), "{result}");
}

#[tokio::test]
async fn a_file_that_needs_the_key_has_no_link() {
    let (_service, server) = start().await;
    let listed = server.call("/mcp", &DEMO, "list_run_artifacts", json!({"run_id": player()})).await;
    let reply = reply_of(&listed);
    let files = reply["artifacts"].as_array().expect("files");

    for file in files.iter().filter(|file| file["filename"] != "recording.mp4") {
        let arguments = json!({"run_id": player(), "filename": file["filename"]});
        let result = server.call("/mcp", &DEMO, "get_run_artifact", arguments).await;
        assert_eq!(links(&result), Vec::<Value>::new(), "{file}");
    }
}

#[tokio::test]
async fn the_addresses_of_listed_files_are_requested_only_for_links() {
    let (service, server) = start().await;
    let artifacts = |lines: &[String]| lines.iter().filter(|line| line.contains("/artifacts/")).count();

    let list = json!({"run_id": player(), "fields": "count"});
    assert_eq!(links(&server.call("/mcp", &DEMO, "list_run_artifacts", list).await), Vec::<Value>::new());
    assert_eq!(artifacts(&service.requests().await), 0);

    let [.., (tool, arguments)] = calls();
    let listed = server.call("/mcp", &DEMO, tool, arguments).await;
    let count = reply_of(&listed)["artifacts"].as_array().expect("files").len();
    assert_eq!(artifacts(&service.requests().await), count.min(10));
}

#[tokio::test]
async fn a_file_without_an_answer_has_no_link_and_the_list_is_returned() {
    let (service, server) = start().await;
    service.fault(json!({"operation": "get_run_artifact", "status": 500, "times": 100})).await;
    let [.., (tool, arguments)] = calls();

    let result = server.call("/mcp", &DEMO, tool, arguments).await;
    assert_eq!(links(&result), Vec::<Value>::new());
    assert!(reply_of(&result)["artifacts"].as_array().is_some_and(|files| files.len() > 1));
}

/// A service that lists files with presigned addresses of another host.
async fn presigned_list(count: usize, host: &'static str) -> Stub {
    let file = move |number: usize| {
        json!({
            "filename": format!("part-{number}.bin"), "size": number, "uploaded": "2026-01-01T00:00:00Z",
            "url": format!("{host}/{number}?signature={}", "s".repeat(300)), "etag": "e",
        })
    };
    let files: Vec<_> = (0..count).map(file).collect();
    Stub::start(move |_| {
        let answer = json!({"runId": "r-1", "count": files.len(), "artifacts": files});
        async move { (200, answer) }
    })
    .await
}

async fn list_of(stub: &Stub, max_chars: &str) -> (Value, String) {
    let knowledge = stub.base_url().trim_end_matches("/api/v1").to_owned();
    let own = [ALL, ("TAS_KNOWLEDGE_URL", knowledge.as_str()), ("TAS_MAX_REPLY_CHARS", max_chars)];
    let server = HttpUnderTest::start(&stub.settings("", &[&FREE_PORTS[..], &own].concat()));
    let result = server.call("/mcp/demo", &DEMO, "list_run_artifacts", json!({"run_id": "r-1"})).await;
    let content = result["content"].to_string();
    (result, content)
}

#[tokio::test]
async fn listed_addresses_of_another_host_are_links_of_the_largest_files() {
    let stub = presigned_list(12, "https://storage.example").await;
    let (result, _) = list_of(&stub, "20000").await;
    let names: Vec<_> = links(&result).iter().map(|link| link["name"].clone()).collect();

    let expected: Vec<_> = (2..12).rev().map(|number| json!(format!("part-{number}.bin"))).collect();
    assert_eq!(names, expected);
    assert!(stub.requests().iter().all(|line| !line.contains("part-")), "{:?}", stub.requests());
}

#[tokio::test]
async fn addresses_that_are_not_followed_are_no_links() {
    let stub = presigned_list(2, "http://storage.example").await;
    let (result, _) = list_of(&stub, "20000").await;
    assert_eq!(links(&result), Vec::<Value>::new());
}

#[tokio::test]
async fn links_count_towards_the_length_of_a_reply() {
    let stub = presigned_list(12, "https://storage.example").await;
    for (max_chars, expected) in [("7000", 1..10), ("20000", 10..11)] {
        let (result, content) = list_of(&stub, max_chars).await;
        let text = result["content"][0]["text"].as_str().expect("a text");
        let linked: usize = links(&result).iter().map(|link| link.to_string().chars().count()).sum();

        assert!(expected.contains(&links(&result).len()), "{max_chars}: {content}");
        let most: usize = max_chars.parse().expect("a number");
        assert!(text.chars().count() + linked <= most, "{max_chars}");
    }
}

#[tokio::test]
async fn results_on_standard_output_have_no_links() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    for (tool, arguments) in calls() {
        let result = host.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        assert!(!result.to_string().contains("resource_link"), "{tool}: {result}");
    }

    let requests = service.requests().await;
    let reads = requests.iter().filter(|line| line.starts_with("GET /runs/") && line.contains("/artifacts/"));
    assert_eq!(reads.count(), 1, "only `get_run_artifact` reads a file: {requests:?}");
}
