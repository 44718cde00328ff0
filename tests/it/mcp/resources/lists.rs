//! The lists of resources and templates.

use serde_json::json;
use tas_mcp::{sandbox::keys, tools::catalog};

use super::open;
use crate::{
    mcp::server::{MODERN, modern},
    support::{host::Host, service::settings},
};

const DEFAULT: [&str; 7] = [
    "tas://projects/{project}/runs/{run}",
    "tas://projects/{project}/jobs/{job}",
    "tas://projects/{project}/executions/{execution}",
    "tas://projects/{project}/bugs/{bug}",
    "tas://projects/{project}/test-plans/{id}",
    "tas://projects/{project}/shared-steps/{id}",
    "tas://projects/{project}/knowledge",
];

const EXTRA: [&str; 3] = [
    "tas://projects/{project}/knowledge/project",
    "tas://projects/{project}/knowledge/agent/{agent_id}",
    "tas://projects/{project}/knowledge/test_case/{test_case_id}",
];

async fn templates(variables: &[(&str, &str)]) -> Vec<String> {
    Host::open(&settings(variables)).await.templates().await
}

#[tokio::test]
async fn a_template_is_listed_if_its_tool_is_offered() {
    assert_eq!(templates(&[]).await, DEFAULT);
    assert_eq!(templates(&[("TAS_TOOLSETS", "all")]).await, [DEFAULT.as_slice(), &EXTRA].concat());
    assert_eq!(
        templates(&[("TAS_TOOLSETS", "-bugs,-plans")]).await,
        [DEFAULT[0], DEFAULT[1], DEFAULT[5], DEFAULT[6]]
    );
    assert_eq!(templates(&[("TAS_READ_ONLY", "true")]).await, DEFAULT);
    assert_eq!(templates(&[("TAS_TOOLSETS", "builds")]).await, [""; 0]);
}

#[tokio::test]
async fn every_resource_can_be_read_with_a_tool() {
    let mut host = Host::open(&settings(&[("TAS_TOOLSETS", "all")])).await;
    let answer = host.request("resources/templates/list", json!({})).await;

    for template in answer["result"]["resourceTemplates"].as_array().expect("a list") {
        let description = template["description"].as_str().expect("a description");
        let tools: Vec<_> = description.split('`').skip(1).step_by(2).collect();
        assert_eq!(tools.len(), 1, "{description}");
        let tool = catalog::find_tool(tools[0]).expect("a tool");
        assert!(tool.effect.is_read_only() && !tool.has_pictures, "{}", tool.name);
        assert_eq!(template["mimeType"], "application/json");
        assert!(template["title"].is_string() && template["name"].is_string());
    }
}

#[tokio::test]
async fn only_project_scope_lists_resources() {
    let listed = async |variables: &[(&str, &str)]| {
        let answer = Host::open(&settings(variables)).await.request("resources/list", json!({})).await;
        let listed = answer["result"]["resources"].as_array().expect("a list").clone();
        // The view of tools is not a record.
        let records = listed.iter().map(|one| one["uri"].as_str().expect("a URI").to_owned());
        records.filter(|uri| uri.starts_with("tas:")).collect::<Vec<_>>()
    };

    assert_eq!(listed(&[]).await, [""; 0]);
    assert_eq!(listed(&[("TAS_PROJECT_ID", "demo")]).await, ["tas://projects/demo/knowledge"]);
    assert_eq!(
        listed(&[("TAS_PROJECT_ID", "a-b.c"), ("TAS_TOOLSETS", "all")]).await,
        ["tas://projects/a-b.c/knowledge", "tas://projects/a-b.c/knowledge/project"]
    );
    assert_eq!(listed(&[("TAS_PROJECT_ID", "demo"), ("TAS_TOOLSETS", "runs")]).await, [""; 0]);
}

#[tokio::test]
async fn the_lists_need_no_request_to_the_service() {
    let (service, mut host) = open(keys::DEMO, &[("TAS_PROJECT_ID", "demo")]).await;
    for method in ["tools/list", "resources/list", "resources/templates/list"] {
        assert!(host.request(method, json!({})).await["result"].is_object(), "{method}");
    }
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn the_server_declares_resources_and_completions() {
    let result = Host::connect(&settings(&[])).initialize("2025-11-25").await;
    assert_eq!(result["capabilities"]["resources"], json!({}));
    assert_eq!(result["capabilities"]["completions"], json!({}));
}

#[tokio::test]
async fn lists_have_one_page_and_cache_metadata() {
    for (method, scope) in [("resources/list", "private"), ("resources/templates/list", "public")] {
        let mut host = Host::open(&settings(&[])).await;
        let answer = host.request(method, json!({})).await;

        assert_eq!(answer["result"].get("ttlMs"), None, "{method}");

        let mut host = Host::connect(&settings(&[]));
        let result = host.request(method, json!({"_meta": modern(MODERN)})).await["result"].clone();

        assert_eq!(result["cacheScope"], scope, "{method}");
        assert!(result["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0), "{method}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tas-mcp", "{method}");
    }
}
