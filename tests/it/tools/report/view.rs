//! The view of tools, for hosts with and without MCP Apps.

use serde_json::{Value, json};
use tas_mcp::tools::catalog;

use super::embedded_data;
use crate::support::{host::Host, listed_tool, service::settings};

const EXTENSION: &str = "io.modelcontextprotocol/ui";
const ADDRESS: &str = "ui://tas/run-report";
const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// Returns `_meta` of a request in the revision without `initialize`, from a host with these extensions.
fn modern(extensions: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"extensions": extensions},
    })
}

#[test]
fn only_get_run_and_summarize_results_have_the_view() {
    let mut with_view = Vec::new();
    for tool in catalog::tools() {
        let listed = listed_tool(tool, true);
        let [view, older] = ["ui", "ui/resourceUri"].map(|name| listed["_meta"].get(name));
        if view.is_some() || older.is_some() {
            assert_eq!((view, older), (Some(&json!({"resourceUri": ADDRESS})), Some(&json!(ADDRESS))));
            with_view.push(tool.name);
        }
    }

    assert_eq!(with_view, ["get_run", "summarize_results"]);
}

#[tokio::test]
async fn the_extension_is_announced_in_both_revisions() {
    let announced = json!({"mimeTypes": [MIME_TYPE]});
    let mut host = Host::connect(&settings(&[]));
    let initialized = host.initialize("2025-11-25").await;

    assert_eq!(initialized["capabilities"]["extensions"][EXTENSION], announced);
    assert!(initialized["capabilities"]["resources"].is_object());

    let mut host = Host::connect(&settings(&[]));
    let discovered = host.request("server/discover", json!({"_meta": modern(&json!({}))})).await;

    assert_eq!(discovered["result"]["capabilities"]["extensions"][EXTENSION], announced);
}

#[tokio::test]
async fn the_view_is_listed_and_read_in_both_revisions_without_settings() {
    for meta in [None, Some(modern(&json!({})))] {
        let mut host = Host::connect(&settings(&[]));
        let with = |mut params: Value| {
            if let Some(meta) = &meta {
                params["_meta"] = meta.clone();
            }
            params
        };

        if meta.is_none() {
            host.initialize("2025-11-25").await;
        }

        let listed = host.request("resources/list", with(json!({}))).await["result"].clone();
        let resources = listed["resources"].as_array().expect("resources");
        let resource = resources.iter().find(|one| one["uri"] == ADDRESS).expect("the view");

        assert_eq!(resource["mimeType"], MIME_TYPE);

        let read = host.request("resources/read", with(json!({"uri": ADDRESS}))).await["result"].clone();
        let [page] = read["contents"].as_array().expect("contents").as_slice() else { panic!("{read}") };

        assert_eq!((&page["uri"], &page["mimeType"]), (&json!(ADDRESS), &json!(MIME_TYPE)));

        let none: [&str; 0] = [];
        let csp = json!({"connectDomains": none, "resourceDomains": none, "frameDomains": none, "baseUriDomains": none});

        assert_eq!(page["_meta"]["ui"], json!({"csp": csp, "prefersBorder": true}));

        let text = page["text"].as_str().expect("a text");

        assert!(text.starts_with("<!doctype html>"));
        assert_eq!(embedded_data(text), "{}");
        // The view contains no data.
        assert_eq!(read["cacheScope"], meta.as_ref().map_or(Value::Null, |_| json!("public")));
    }
}

#[tokio::test]
async fn the_view_is_there_only_with_a_tool_that_has_it() {
    for (toolsets, is_listed) in
        [("default", true), ("get_run", true), ("runs", true), ("builds", false), ("default,-runs", false)]
    {
        let mut host = Host::connect(&settings(&[("TAS_TOOLSETS", toolsets)]));
        let extensions = host.initialize("2025-11-25").await["capabilities"]["extensions"].clone();
        assert_eq!(extensions[EXTENSION].is_object(), is_listed, "{toolsets}: {extensions}");

        let list = host.request("resources/list", json!({})).await["result"].clone();
        let resources = list["resources"].as_array().expect("resources");
        assert_eq!(resources.iter().any(|one| one["uri"] == ADDRESS), is_listed, "{toolsets}");
        let read = host.request("resources/read", json!({"uri": ADDRESS})).await;
        assert_eq!(read["result"].is_object(), is_listed, "{toolsets}: {read}");
    }
}
