//! A failed read is a protocol error that contains the failure of the tool.

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use super::open;
use crate::{
    mcp::server::{MODERN, modern},
    support::{host::Host, service::settings},
};

#[tokio::test]
async fn another_project_than_the_server_has_is_a_mismatch() {
    let (service, mut host) = open(keys::DEMO, &[("TAS_PROJECT_ID", "demo")]).await;
    let error = host.read_failure(&format!("tas://projects/arena/runs/{}", seed::RUN_FAILED)).await;

    assert_eq!(error["code"], -32602);

    let failure = &error["data"]["error"];

    assert_eq!(failure["code"], "project_scope_mismatch");
    assert_eq!(
        (&failure["details"]["requested_project"], &failure["details"]["owning_project"]),
        (&json!("arena"), &json!("demo"))
    );
    assert_eq!(service.requests().await, [format!("GET /project/demo/runs/{} 200", seed::RUN_FAILED)]);
}

#[tokio::test]
async fn a_run_of_another_project_is_a_mismatch() {
    let (_service, mut host) = open(keys::ORGANIZATION, &[("TAS_PROJECTS", "demo,arena")]).await;
    let error = host.read_failure(&format!("tas://projects/arena/runs/{}", seed::RUN_FAILED)).await;
    assert_eq!(error["data"]["error"]["code"], "project_scope_mismatch", "{error}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("`demo`") && message.contains("`arena`"), "{message}");
    assert!(message.ends_with("use the project `demo` in the URI"), "{message}");
}

#[tokio::test]
async fn an_unknown_record_is_not_found_with_the_code_of_each_revision() {
    let (service, mut host) = open(keys::DEMO, &[]).await;
    let uri = "tas://projects/demo/runs/nowhere";
    let error = host.read_failure(uri).await;

    assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!(uri)));

    let message = error["message"].as_str().expect("a message");

    assert!(message.contains("in the URI"), "{message}");
    for part in ["`project_id`", "TAS_PROJECTS", "nothing was"] {
        assert!(!message.contains(part), "{part}: {message}");
    }

    let mut failure = host.fail("get_run", json!({"run_id": "nowhere", "project_id": "demo"})).await;
    failure["hint"] = error["data"]["error"]["hint"].clone();

    assert_eq!(error["data"]["error"], failure);

    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
    let answer = host.request("resources/read", json!({"uri": uri, "_meta": modern(MODERN)})).await;

    assert_eq!((&answer["error"]["code"], &answer["error"]["data"]["uri"]), (&json!(-32602), &json!(uri)));
}

#[tokio::test]
async fn failures_of_service_and_settings_are_internal_errors() {
    let uri = "tas://projects/demo/runs/x";
    let (service, mut host) = open(keys::DEMO, &[]).await;
    service.fault(json!({"operation": "get_run", "status": 500, "times": 9})).await;

    let error = host.read_failure(uri).await;

    assert_eq!(
        (&error["code"], &error["data"]["error"]["code"]),
        (&json!(-32603), &json!("service_unavailable"))
    );

    let error = Host::open(&settings(&[])).await.read_failure(uri).await;

    assert_eq!((&error["code"], &error["data"]["error"]["code"]), (&json!(-32603), &json!("not_configured")));
    assert!(error["message"].as_str().expect("a message").contains("TAS_BASE_URL"), "{error}");
}

#[tokio::test]
async fn a_resource_without_an_offered_tool_names_the_setting() {
    let (service, mut host) = open(keys::DEMO, &[("TAS_TOOLSETS", "-bugs")]).await;
    let error = host.read_failure(&format!("tas://projects/demo/bugs/{}", seed::BUG_ACTIVE)).await;
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("TAS_TOOLSETS") && !message.contains("/bugs/{bug}"), "{message}");
    assert_eq!(service.requests().await, [""; 0]);
}
