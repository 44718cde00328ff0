//! Several servers for the same clients.

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, json_of},
    service::Service,
};

#[tokio::test]
async fn any_replica_accepts_the_answer_to_a_question() {
    let service = Service::start().await;
    let settings = service.settings("", &FREE_PORTS);
    let (asking, other) = (HttpUnderTest::start(&settings), HttpUnderTest::start(&settings));
    let costly = json!({
        "multiplayer_test_id": seed::TEST_PASSES,
        "deployment_config_id": seed::CONFIG_PHONES,
        "run_on_all_configured_devices": true,
    });
    let key = [("x-api-key", keys::DEMO)];
    let params = json!({"name": "start_run", "arguments": costly});
    let question = json_of(asking.modern("/mcp", &key, "tools/call", params.clone()).await).await;
    assert_eq!(question["result"]["resultType"], "input_required", "{question}");

    let mut retry = params;
    retry["requestState"] = question["result"]["requestState"].clone();
    retry["inputResponses"] = json!({"confirm": {"action": "accept", "content": {"confirm": true}}});
    let cases =
        [(keys::ORGANIZATION, "/mcp", true), (keys::DEMO, "/mcp/demo", true), (keys::DEMO, "/mcp", false)];
    for (key, path, is_error) in cases {
        let answer =
            json_of(other.modern(path, &[("x-api-key", key)], "tools/call", retry.clone()).await).await;
        assert_eq!(answer["result"]["isError"], is_error, "{key} {path}: {answer}");
    }

    let again = json_of(other.modern("/mcp", &key, "tools/call", retry).await).await;
    assert!(again.to_string().contains("was used before"), "{again}");
    assert_eq!(service.writes().await.len(), 1);
}

#[tokio::test]
async fn a_yes_counts_once_in_the_first_requests_of_a_credential() {
    let service = Service::start().await;
    let settings = service.settings("", &FREE_PORTS);
    let (asking, other) = (HttpUnderTest::start(&settings), HttpUnderTest::start(&settings));
    let costly = json!({
        "multiplayer_test_id": seed::TEST_PASSES,
        "deployment_config_id": seed::CONFIG_PHONES,
        "run_on_all_configured_devices": true,
    });
    let mut params = json!({"name": "start_run", "arguments": costly});
    let key = ("x-api-key", keys::DEMO);
    let question = json_of(asking.modern("/mcp", &[key], "tools/call", params.clone()).await).await;
    params["requestState"] = question["result"]["requestState"].clone();
    params["inputResponses"] = json!({"confirm": {"action": "accept", "content": {"confirm": true}}});

    // The other endpoints of the same credential have servers of their own.
    let toolsets = ["all", "default", "lean,start_run", "all", "default", "lean,start_run"];
    let answers = toolsets.map(|toolsets| {
        let headers = [key, ("x-mcp-toolsets", toolsets)];
        let (other, params) = (&other, params.clone());
        async move { json_of(other.modern("/mcp", &headers, "tools/call", params).await).await }
    });
    let answers = futures_util::future::join_all(answers).await;

    let refused = answers.iter().filter(|answer| answer.to_string().contains("was used before")).count();
    assert_eq!((refused, service.writes().await.len()), (toolsets.len() - 1, 1), "{answers:?}");
}
