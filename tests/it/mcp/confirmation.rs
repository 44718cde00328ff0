//! Costly calls: a person agrees first, in whatever way the host can ask.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{binary::told, host::Host, service::Service};

mod unagreed;

/// A start on every device of a config, which costs a run each.
fn costly() -> Value {
    json!({
        "multiplayer_test_id": seed::TEST_PASSES,
        "deployment_config_id": seed::CONFIG_PHONES,
        "run_on_all_configured_devices": true,
    })
}

fn confirmed() -> Value {
    let mut arguments = costly();
    arguments["confirm"] = json!(true);
    arguments
}

#[tokio::test]
async fn a_host_that_cannot_ask_is_told_to_and_nothing_is_sent() {
    let service = Service::start().await;
    let mut host = Host::open(&service.settings(keys::DEMO, &[])).await;
    let error = host.fail("start_run", costly()).await;

    assert_eq!(error["code"], "confirmation_required");

    let message = error["message"].as_str().expect("a message");

    assert!(message.contains("every device") && message.contains(seed::CONFIG_PHONES), "{message}");
    assert!(service.requests().await.is_empty());

    let started = host.succeed("start_run", confirmed()).await;

    assert_eq!(started["requested_count"], 3);
}

#[tokio::test]
async fn other_calls_need_nobody() {
    let service = Service::start().await;
    let mut host = Host::open(&service.settings(keys::DEMO, &[])).await;
    let arguments =
        json!({"multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_PHONES});

    host.succeed("start_run", arguments).await;
    let error = host.fail("list_tests", json!({"confirm": true})).await;

    assert_eq!(error["details"]["violations"][0]["path"], "confirm");
}

#[tokio::test]
async fn wrong_arguments_are_said_before_anybody_is_asked() {
    let service = Service::start().await;
    let mut host = Host::open(&service.settings(keys::DEMO, &[])).await;
    let error = host.fail("start_run", json!({"run_on_all_configured_devices": true})).await;

    assert_eq!(error["code"], "invalid_arguments");

    let mut arguments = costly();
    arguments["confirm"] = json!("perhaps");

    assert_eq!(host.fail("start_run", arguments).await["details"]["violations"][0]["path"], "confirm");
}

#[tokio::test]
async fn unattended_use_switches_it_off() {
    let service = Service::start().await;
    let mut host = Host::open(&service.settings(keys::DEMO, &[("TAS_CONFIRM", "never")])).await;
    host.succeed("start_run", costly()).await;
}

/// Connected as a host that can ask, with `initialize`.
async fn asking(service: &Service) -> Host {
    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
    let client = json!({"name": "host", "version": "1"});
    let capabilities = json!({"elicitation": {}});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client});

    host.request("initialize", params).await;
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;

    host
}

#[tokio::test]
async fn a_host_that_can_ask_asks_and_the_answer_counts() {
    let accept = json!({"action": "accept", "content": {"confirm": true}});
    let answers = [
        (accept, true),
        (json!({"action": "accept", "content": {"confirm": false}}), false),
        (json!({"action": "accept"}), false),
        (json!({"action": "decline"}), false),
        (json!({"action": "cancel"}), false),
    ];

    for (answer, agrees) in answers {
        let service = Service::start().await;
        let mut host = asking(&service).await;
        let call = host.start("tools/call", json!({"name": "start_run", "arguments": costly()})).await;
        let question = host.receive().await;

        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(question["params"]["requestedSchema"]["required"], json!(["confirm"]));

        host.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;
        let result = host.answer(call).await["result"].clone();

        assert_eq!(result["isError"] != true, agrees, "{answer}: {result}");
        assert_eq!(service.writes().await.len(), usize::from(agrees), "{answer}");
    }
}

/// A call in the newest revision by a host that can ask; `more` is what a repetition brings along.
async fn modern_call(host: &mut Host, arguments: &Value, more: Value) -> Value {
    let mut params = json!({
        "name": "start_run",
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        },
    });
    params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());

    host.request("tools/call", params).await["result"].clone()
}

#[tokio::test]
async fn the_newest_revision_asks_by_having_the_call_repeated() {
    let service = Service::start().await;
    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
    let question = modern_call(&mut host, &costly(), json!({})).await;

    assert_eq!(question["resultType"], "input_required");
    assert_eq!(question["inputRequests"]["confirm"]["method"], "elicitation/create");
    assert!(service.requests().await.is_empty());

    let state = question["requestState"].clone();
    let yes = json!({"confirm": {"action": "accept", "content": {"confirm": true}}});
    let mut others = costly();

    others["instances"] = json!(10);
    let refused = [
        (&others, json!({"requestState": state, "inputResponses": yes})),
        (&costly(), json!({"requestState": "rs1.forged.state", "inputResponses": yes})),
        (&costly(), json!({"requestState": state, "inputResponses": {"confirm": {"action": "decline"}}})),
        (&costly(), json!({"requestState": state})),
    ]
    .map(|(arguments, more)| (arguments.clone(), more));

    for (arguments, more) in refused {
        let result = modern_call(&mut host, &arguments, more.clone()).await;
        assert_eq!(result["isError"], true, "{more}: {result}");
    }

    assert!(service.requests().await.is_empty());

    let result =
        modern_call(&mut host, &costly(), json!({"requestState": state, "inputResponses": yes})).await;

    assert_eq!(result["structuredContent"]["requested_count"], 3, "{result}");
}

#[tokio::test]
async fn the_command_line_takes_yes_and_no_terminal_is_no_yes() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let json = costly().to_string();
    let output = told(&["call", "start_run", "--json", &json], &variables, &[]).await;

    assert_eq!(output.status.code(), Some(2));
    assert!(service.requests().await.is_empty());

    let output = told(&["call", "start_run", "--json", &json, "--yes"], &variables, &[]).await;

    assert_eq!(output.status.code(), Some(0));
}
