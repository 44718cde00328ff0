//! Confirmation of costly calls, in the ways of the protocol revisions.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    service::Service,
};

mod errors;

/// Arguments of a start on every device of a config, which costs one run for each device.
fn costly_start() -> Value {
    json!({
        "multiplayer_test_id": seed::TEST_PASSES,
        "deployment_config_id": seed::CONFIG_PHONES,
        "run_on_all_configured_devices": true,
    })
}

fn confirmed_start() -> Value {
    let mut arguments = costly_start();
    arguments["confirm"] = json!(true);
    arguments
}

#[tokio::test]
async fn a_host_that_cannot_ask_gets_confirmation_required() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let error = host.fail("start_run", costly_start()).await;

    assert_eq!(error["code"], "confirmation_required");

    let message = error["message"].as_str().expect("a message");

    assert!(message.contains("every device of `Android phones`"), "{message}");
    assert!(service.requests().await.iter().all(|request| request.starts_with("GET ")));

    let started = host.succeed("start_run", confirmed_start()).await;

    assert_eq!(started["requested_count"], 3);
}

#[tokio::test]
async fn other_calls_need_no_confirmation() {
    let Session { service: _service, mut host, .. } = Fixture::new().open().await;
    let arguments =
        json!({"multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_PHONES});

    host.succeed("start_run", arguments).await;
    let error = host.fail("list_tests", json!({"confirm": true})).await;

    assert_eq!(error["details"]["violations"][0]["path"], "confirm");
}

#[tokio::test]
async fn invalid_arguments_are_reported_before_the_question() {
    let Session { service: _service, mut host, .. } = Fixture::new().open().await;
    let error = host.fail("start_run", json!({"run_on_all_configured_devices": true})).await;

    assert_eq!(error["code"], "invalid_arguments");

    let mut arguments = costly_start();
    arguments["confirm"] = json!("perhaps");

    assert_eq!(host.fail("start_run", arguments).await["details"]["violations"][0]["path"], "confirm");
}

/// Opens a session, with `initialize`, of a host that can ask.
async fn open_asking_host(service: &Service) -> Host {
    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
    let client = json!({"name": "host", "version": "1"});
    let capabilities = json!({"elicitation": {}});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client});

    host.request("initialize", params).await;
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;

    host
}

#[tokio::test]
async fn a_person_who_agrees_starts_the_call() {
    let service = Service::start().await;
    let mut host = open_asking_host(&service).await;
    let call = host.start("tools/call", json!({"name": "start_run", "arguments": costly_start()})).await;
    let question = host.receive().await;

    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["requestedSchema"]["required"], json!(["confirm"]));
    let message = "This starts one run of the test `Finish the first level` on every device of `Android phones`; each attempt is billed. Do you agree?";
    assert_eq!(question["params"]["message"], message);

    let accept = json!({"action": "accept", "content": {"confirm": true}});
    host.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": accept})).await;
    let result = host.answer(call).await["result"].clone();

    assert_ne!(result["isError"], true, "{result}");
    assert_eq!(service.writes().await.len(), 1);
}

/// Calls `start_run` in the newest revision, from a host that can ask. `retry_fields` holds the fields of a repeated call.
async fn modern_call(host: &mut Host, arguments: &Value, retry_fields: Value) -> Value {
    let mut params = json!({
        "name": "start_run",
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        },
    });
    params.as_object_mut().expect("an object").extend(retry_fields.as_object().expect("an object").clone());

    host.request("tools/call", params).await["result"].clone()
}

#[tokio::test]
async fn the_newest_revision_asks_with_a_repeated_call() {
    let service = Service::start().await;
    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
    let question = modern_call(&mut host, &costly_start(), json!({})).await;

    assert_eq!(question["resultType"], "input_required");
    assert_eq!(question["inputRequests"]["confirm"]["method"], "elicitation/create");
    assert!(service.writes().await.is_empty());

    let state = question["requestState"].clone();
    let yes = json!({"confirm": {"action": "accept", "content": {"confirm": true}}});
    let confirmed = json!({"requestState": state, "inputResponses": yes});
    let result = modern_call(&mut host, &costly_start(), confirmed.clone()).await;

    assert_eq!(result["structuredContent"]["requested_count"], 3, "{result}");

    let writes = service.writes().await;
    let repeated = modern_call(&mut host, &costly_start(), confirmed).await;

    assert!(repeated.to_string().contains("was used before"), "{repeated}");
    assert_eq!(service.writes().await, writes, "an answer counts once");
}

#[tokio::test]
async fn an_answer_that_does_not_agree_is_final() {
    let service = Service::start().await;
    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
    let yes = json!({"confirm": {"action": "accept", "content": {"confirm": true}}});

    for answers in [json!({"confirm": {"action": "decline"}}), json!({})] {
        let question = modern_call(&mut host, &costly_start(), json!({})).await;
        let state = question["requestState"].clone();

        for answers in [&answers, &yes] {
            let retry = json!({"requestState": state, "inputResponses": answers});
            let result = modern_call(&mut host, &costly_start(), retry).await;
            assert_eq!(result["isError"], true, "{result}");
        }
    }

    assert!(service.writes().await.is_empty());
}

/// A model cannot agree in the name of the person.
#[tokio::test]
async fn a_host_that_can_ask_asks_whatever_the_model_states() {
    let service = Service::start().await;
    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));

    let question = modern_call(&mut host, &confirmed_start(), json!({})).await;

    assert_eq!(question["resultType"], "input_required", "{question}");

    let mut host = open_asking_host(&service).await;
    let call = host.start("tools/call", json!({"name": "start_run", "arguments": confirmed_start()})).await;
    let question = host.receive().await;
    host.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})).await;
    let result = host.answer(call).await["result"].clone();

    assert_eq!(result["isError"], true, "{result}");
    assert!(service.writes().await.is_empty());
}

#[tokio::test]
async fn what_stops_or_multiplies_is_named_and_asked_for() {
    let several = json!({
        "multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_WINDOWS,
        "instances": 10, "retries": 10,
    });
    let plan = json!({
        "test_plan_id": seed::PLAN_SMOKE, "deployment_config_id": seed::CONFIG_PHONES,
        "run_on_all_configured_devices": true,
    });
    for (tool, arguments, expected) in [
        (
            "start_run",
            several,
            "starts 10 runs of the test `Finish the first level` on `Windows PC`, with up to 10 retries each",
        ),
        (
            "start_test_plan_run",
            plan,
            "starts one run of each test of the plan `Release smoke` (4 tests) on every device of `Android phones`",
        ),
        ("stop_runs", json!({"job_ids": [seed::JOB_QUEUED]}), "stops 1 job: `Co-op: light the beacon`"),
        (
            "delete_build",
            json!({"build_id": seed::BUILD_ANDROID}),
            "would delete build `Emberfall 1.4.0 nightly 413` (android, 700.00 MiB) permanently",
        ),
        (
            "update_test_plan",
            json!({"test_plan_id": seed::PLAN_SMOKE, "patch": {"test_items": []}}),
            "removes 4 of 4 entries of `test_items` from `Release smoke` in project `demo`",
        ),
    ] {
        let service = Service::start().await;
        let mut host = open_asking_host(&service).await;
        host.start("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let question = host.receive().await["params"]["message"].to_string();
        assert!(question.contains(&format!("This {expected}")), "{question}");
        assert_eq!(service.writes().await, [""; 0]);
    }

    // A key that the service does not know is said before a person is asked.
    let service = Service::start().await;
    let mut host = Host::connect(&service.settings("svc_unknown", &[]));
    let failed = modern_call(&mut host, &costly_start(), json!({})).await;
    assert!(failed.to_string().contains("unauthenticated"), "{failed}");
}
