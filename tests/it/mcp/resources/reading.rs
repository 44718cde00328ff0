//! The content of a resource equals the answer of its tool.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::open;
use crate::{
    mcp::server::{MODERN, modern},
    support::host::Host,
};

/// Returns a URI for every template, and the equivalent call.
fn records() -> Vec<(String, &'static str, Value)> {
    let at = |path: &str| format!("tas://projects/demo/{path}");

    vec![
        (at(&format!("runs/{}", seed::RUN_FAILED)), "get_run", json!({"run_id": seed::RUN_FAILED})),
        (at(&format!("jobs/{}", seed::JOB_FLAKY)), "get_job", json!({"job_id": seed::JOB_FLAKY})),
        (
            at(&format!("executions/{}", seed::EXECUTION_COMPLETED)),
            "get_test_plan_execution",
            json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED}),
        ),
        (at(&format!("bugs/{}", seed::BUG_ACTIVE)), "get_bug", json!({"bug_id": seed::BUG_ACTIVE})),
        (
            at(&format!("test-plans/{}", seed::PLAN_SMOKE)),
            "get_test_plan",
            json!({"test_plan_id": seed::PLAN_SMOKE}),
        ),
        (
            at(&format!("shared-steps/{}", seed::STEPS_SIGN_IN)),
            "get_shared_step",
            json!({"shared_step_id": seed::STEPS_SIGN_IN}),
        ),
        (at("knowledge"), "list_knowledge_files", json!({})),
        (at("knowledge/project"), "list_project_knowledge_files", json!({})),
        (
            at(&format!("knowledge/agent/{}", seed::AGENT_CAREFUL)),
            "list_agent_knowledge_files",
            json!({"agent_id": seed::AGENT_CAREFUL}),
        ),
        (
            at(&format!("knowledge/test_case/{}", seed::TEST_PASSES)),
            "list_test_case_knowledge_files",
            json!({"test_case_id": seed::TEST_PASSES}),
        ),
    ]
}

#[tokio::test]
async fn every_resource_equals_the_answer_of_its_tool() {
    for variables in [
        [("TAS_TOOLSETS", "all"), ("TAS_PROJECTS", "")],
        [("TAS_TOOLSETS", "all"), ("TAS_PROJECT_ID", "demo")],
    ] {
        let (_service, mut host) = open(keys::DEMO, &variables).await;
        assert_eq!(host.templates().await.len(), records().len());
        for (uri, tool, arguments) in records() {
            assert_eq!(host.read(&uri).await, host.succeed(tool, arguments).await, "{uri}");
        }
    }
}

#[tokio::test]
async fn the_newest_revision_reads_with_cache_metadata() {
    let (service, _) = open(keys::DEMO, &[]).await;
    let mut host = Host::connect(&service.settings(keys::DEMO, &[("TAS_TOOLSETS", "all")]));

    for (uri, ..) in records() {
        let result =
            host.request("resources/read", json!({"uri": uri, "_meta": modern(MODERN)})).await["result"]
                .clone();

        assert_eq!(
            (&result["cacheScope"], &result["ttlMs"]),
            (&json!("private"), &json!(0)),
            "{uri}: {result}"
        );
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tas-mcp");
        assert!(result["contents"][0]["text"].is_string());
    }
}

#[tokio::test]
async fn an_organization_key_reads_from_the_project_of_the_uri() {
    let (_service, mut host) = open(keys::ORGANIZATION, &[]).await;
    let run = host.read(&format!("tas://projects/demo/runs/{}", seed::RUN_FAILED)).await;
    assert_eq!((&run["multiplayer_run_id"], &run["project_id"]), (&json!(seed::RUN_FAILED), &json!("demo")));
    let bug = host.read(&format!("tas://projects/demo/bugs/{}", seed::BUG_ACTIVE)).await;
    assert_eq!(bug["project_id"], "demo");
}

#[tokio::test]
async fn a_long_record_is_shortened_like_a_reply() {
    const MAX_CHARACTERS: usize = 2_000;

    let (service, mut host) = open(keys::DEMO, &[("TAS_MAX_REPLY_CHARS", "2000")]).await;
    let players: Vec<_> = (0..200).map(|number| json!({"id": format!("x-{number}"), "steps": []})).collect();
    let body = json!({"multiplayer_run_id": "x", "project_id": "demo", "players": players});

    service.fault(json!({"operation": "get_run", "body": body, "times": 3})).await;
    let read = host.read("tas://projects/demo/runs/x").await;

    assert!(read["truncated"].is_object() && read.to_string().chars().count() <= MAX_CHARACTERS, "{read}");

    let mut called = host.succeed("get_run", json!({"run_id": "x"})).await;
    // An address takes no arguments, so that a reader is sent to the tool.
    let hint = read["truncated"]["hint"].as_str().expect("a hint");

    assert!(hint.contains("call `get_run` with `fields`"), "{hint}");

    called["truncated"]["hint"] = hint.into();

    assert_eq!(read, called);
}
