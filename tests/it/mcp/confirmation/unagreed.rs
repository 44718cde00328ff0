//! Nobody agreed: the caller is told why, and nothing is sent.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tas_mcp::{clock::Clock as _, mcp::Server, sandbox::keys, tools::dispatcher::Dispatcher};

use super::{asking, costly, modern_call};
use crate::support::{host::Host, service::Service, time::Simulated};

/// The failure that a result tells.
fn error(result: &Value) -> Value {
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().expect("a text block");
    serde_json::from_str::<Value>(text).expect("JSON")["error"].take()
}

/// Code and hint.
fn told(error: &Value) -> (&str, &str) {
    (error["code"].as_str().expect("a code"), error["hint"].as_str().expect("a hint"))
}

#[tokio::test]
async fn a_person_who_says_no_and_a_host_that_fails_are_told_apart() {
    let cases = [
        (json!({"result": {"action": "decline"}}), "did not agree"),
        (json!({"result": {"action": "accept", "content": {"confirm": false}}}), "did not agree"),
        (json!({"result": {"action": "cancel"}}), "closed the question"),
        (json!({"result": {"action": "accept"}}), "returned no answer"),
        (json!({"error": {"code": -32601, "message": "no such window"}}), "failed to ask"),
        (json!({"error": {"code": "none"}}), "failed to ask"),
        (json!({"result": {"action": "dance"}}), "returned no answer"),
    ];
    for (mut answer, hint) in cases {
        let service = Service::start().await;
        let mut host = asking(&service).await;
        let call = host.start("tools/call", json!({"name": "start_run", "arguments": costly()})).await;
        let question = host.receive().await;

        answer["jsonrpc"] = json!("2.0");
        answer["id"] = question["id"].clone();
        host.send(&answer).await;

        let error = error(&host.answer(call).await["result"]);

        assert_eq!(told(&error).0, "confirmation_required", "{answer}");
        assert!(told(&error).1.contains(hint) && told(&error).1.contains("nothing was sent"), "{error}");
        assert_eq!(service.requests().await, [""; 0]);
    }
}

#[tokio::test]
async fn a_host_that_fails_is_quoted() {
    let service = Service::start().await;
    let mut host = asking(&service).await;
    let call = host.start("tools/call", json!({"name": "start_run", "arguments": costly()})).await;
    let id = host.receive().await["id"].clone();
    let failed = json!({"code": -32603, "message": "no such window"});

    host.send(&json!({"jsonrpc": "2.0", "id": id, "error": failed})).await;
    let error = error(&host.answer(call).await["result"]);

    assert_eq!(error["details"]["host_error"], "no such window");
}

#[tokio::test]
async fn no_answer_in_time_is_no_refusal() {
    let service = Service::start().await;
    let mut host = asking(&service).await;
    let call = host.start("tools/call", json!({"name": "start_run", "arguments": costly()})).await;

    assert_eq!(host.receive().await["method"], "elicitation/create");

    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(601)).await;
    tokio::time::resume();

    let error = error(&host.answer(call).await["result"]);

    assert_eq!(told(&error), ("timeout", "nothing was sent: call again to ask the person again"));
    assert!(
        error["message"].as_str().is_some_and(|said| said.ends_with("no answer within 600 s")),
        "{error}"
    );
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn the_newest_revision_tells_them_apart_too() {
    let service = Arc::new(Service::start().await);
    let clock = Simulated::of(&service);
    let settings = service.settings(keys::DEMO, &[]);
    let dispatcher = Dispatcher::new(settings.tools_config()).with_clock(clock.clone());
    let mut host = Host::to(Server::new(dispatcher, &settings));
    let state = modern_call(&mut host, &costly(), json!({})).await["requestState"].clone();
    let yes = json!({"confirm": {"action": "accept", "content": {"confirm": true}}});
    let no = json!({"confirm": {"action": "decline"}});
    let mut other = costly();

    other["instances"] = json!(10);
    let cases = [
        (
            costly(),
            json!({"requestState": state, "inputResponses": no}),
            "confirmation_required",
            "did not agree",
        ),
        (costly(), json!({"requestState": state}), "confirmation_required", "returned no answer"),
        (
            costly(),
            json!({"requestState": "rs1.forged.state", "inputResponses": yes}),
            "invalid_arguments",
            "again",
        ),
        (other, json!({"requestState": state, "inputResponses": yes}), "invalid_arguments", "again"),
    ];

    for (arguments, more, code, hint) in cases {
        let error = error(&modern_call(&mut host, &arguments, more.clone()).await);
        assert_eq!(told(&error).0, code, "{more}");
        assert!(told(&error).1.contains(hint), "{more}: {error}");
    }

    clock.sleep(Duration::from_secs(601)).await;
    let late = json!({"requestState": state, "inputResponses": yes});

    assert_eq!(told(&error(&modern_call(&mut host, &costly(), late).await)).0, "timeout");
    assert_eq!(service.requests().await, [""; 0]);
}
