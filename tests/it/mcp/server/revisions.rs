//! One server supports every protocol revision.

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use super::{MODERN, modern};
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    service::Service,
};

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

#[tokio::test]
async fn every_revision_with_initialize_is_supported() {
    let service = Service::start().await;
    for revision in LEGACY {
        let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
        let result = host.initialize(revision).await;
        assert_eq!(result["protocolVersion"], revision);
        assert_eq!(result["serverInfo"]["name"], "tas-mcp");
        let run = host.succeed("get_run", json!({"run_id": seed::RUN_FAILED})).await;
        assert_eq!(run["multiplayer_run_id"], seed::RUN_FAILED);

        // Older revisions have no schemas of answers.
        let listed = host.request("tools/list", json!({})).await;
        let has_schema = listed["result"]["tools"][0].get("outputSchema").is_some();
        assert_eq!(has_schema, revision >= "2025-06-18", "{revision}");
    }
}

#[tokio::test]
async fn an_unknown_revision_is_answered_with_the_newest_one_that_has_initialize() {
    let service = Service::start().await;
    for revision in ["1999-01-01", MODERN, "2030-01-01"] {
        let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
        assert_eq!(host.initialize(revision).await["protocolVersion"], "2025-11-25", "{revision}");
    }
}

#[tokio::test]
async fn discover_needs_no_session_and_describes_the_server() {
    let service = Service::start().await;
    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
    let answer = host.request("server/discover", json!({"_meta": modern(MODERN)})).await;
    let result = &answer["result"];
    let versions: Vec<_> = LEGACY.into_iter().chain([MODERN]).collect();

    assert_eq!(result["supportedVersions"], json!(versions));
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "public");
    assert!(result["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0));
    assert!(result["instructions"].is_string());
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tas-mcp");
}

#[tokio::test]
async fn the_newest_revision_needs_no_initialize() {
    let service = Service::start().await;
    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
    let list = host.request("tools/list", json!({"_meta": modern(MODERN)})).await;

    assert_eq!(list["result"]["cacheScope"], "public");
    assert!(list["result"]["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0));

    let params =
        json!({"_meta": modern(MODERN), "name": "get_run", "arguments": {"run_id": seed::RUN_FAILED}});
    let result = host.request("tools/call", params).await["result"].clone();

    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["structuredContent"]["multiplayer_run_id"], seed::RUN_FAILED);
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tas-mcp");
}

#[tokio::test]
async fn initialize_after_discover_is_served() {
    let service = Service::start().await;
    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
    host.request("server/discover", json!({"_meta": modern(MODERN)})).await;
    assert_eq!(host.initialize("2025-06-18").await["protocolVersion"], "2025-06-18");
    host.succeed("list_tests", json!({})).await;
}

#[tokio::test]
async fn an_unsupported_revision_is_named_with_the_supported_ones() {
    let service = Service::start().await;
    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
    let answer = host.request("tools/list", json!({"_meta": modern("2027-01-01")})).await;
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(answer["error"]["data"]["requested"], "2027-01-01");
}

#[tokio::test]
async fn older_revisions_have_no_metadata_of_the_newest() {
    let Session { service: _service, mut host, .. } = Fixture::new().open().await;
    let list = host.request("tools/list", json!({})).await["result"].clone();
    let result = host.call("list_tests", json!({})).await;

    for answer in [list, result] {
        for field in ["resultType", "ttlMs", "cacheScope", "_meta"] {
            assert!(answer[field].is_null(), "{field}");
        }
    }
}

#[tokio::test]
async fn a_description_that_names_a_project_is_private() {
    let service = Service::start().await;
    for (more, scope) in [(&[][..], "public"), (&[("TAS_PROJECT_ID", "demo")], "private")] {
        let mut host = Host::connect(&service.settings(keys::DEMO, more));
        let result =
            host.request("server/discover", json!({"_meta": modern(MODERN)})).await["result"].clone();
        assert_eq!(result["cacheScope"], scope);
        assert_eq!(result["instructions"].as_str().expect("a text").contains("`demo`"), scope == "private");
    }
}

#[tokio::test]
async fn tasks_are_declared_in_the_newest_revision_only() {
    const TASKS: &str = "io.modelcontextprotocol/tasks";

    let service = Service::start().await;
    for revision in LEGACY {
        let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
        let extensions = host.initialize(revision).await["capabilities"]["extensions"].clone();
        assert!(extensions[TASKS].is_null() && extensions.is_object(), "{revision}: {extensions}");
    }

    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
    let answer = host.request("server/discover", json!({"_meta": modern(MODERN)})).await;

    assert_eq!(answer["result"]["capabilities"]["extensions"][TASKS], json!({}));
}
