//! Calls that are not confirmed: the failure states the reason, and nothing is sent.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::clock::Clock as _;

use super::{costly_start, modern_call, open_asking_host};
use crate::support::{
    fixture::{Fixture, Session},
    service::Service,
};

/// Returns the failure in a result.
fn error(result: &Value) -> Value {
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().expect("a text block");
    serde_json::from_str::<Value>(text).expect("JSON")["error"].take()
}

/// Returns the code and the hint of a failure.
fn code_and_hint(error: &Value) -> (&str, &str) {
    (error["code"].as_str().expect("a code"), error["hint"].as_str().expect("a hint"))
}

#[tokio::test]
async fn a_declined_question_and_a_failed_host_have_different_hints() {
    let cases = [
        (json!({"result": {"action": "decline"}}), "did not agree"),
        (json!({"result": {"action": "accept", "content": {"confirm": false}}}), "did not agree"),
        (json!({"result": {"action": "cancel"}}), "closed the question"),
        (json!({"result": {"action": "accept"}}), "do not call again, the person can make the call"),
        (json!({"result": {"action": "accept", "content": {}}}), "is no agreement"),
        (json!({"error": {"code": -32603, "message": "no such window"}}), "failed to ask"),
        (json!({"result": {"action": "dance"}}), "returned no answer"),
    ];
    for (mut answer, hint) in cases {
        let service = Service::start().await;
        let mut host = open_asking_host(&service).await;
        let call = host.start("tools/call", json!({"name": "start_run", "arguments": costly_start()})).await;
        let question = host.receive().await;

        answer["jsonrpc"] = json!("2.0");
        answer["id"] = question["id"].clone();
        host.send(&answer).await;

        let error = error(&host.answer(call).await["result"]);

        assert_eq!(code_and_hint(&error).0, "confirmation_required", "{answer}");
        assert!(
            code_and_hint(&error).1.contains(hint) && code_and_hint(&error).1.contains("nothing was sent"),
            "{error}"
        );
        assert_eq!(error["details"]["host_error"], answer["error"]["message"], "{error}");
        assert_eq!(service.writes().await, [""; 0]);
    }
}

#[tokio::test]
async fn a_question_that_nobody_answers_ends_after_five_minutes() {
    let service = Service::start().await;
    let mut host = open_asking_host(&service).await;
    let call = host.start("tools/call", json!({"name": "start_run", "arguments": costly_start()})).await;

    assert_eq!(host.receive().await["method"], "elicitation/create");

    // The wait for an answer uses the clock of the runtime.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(301)).await;
    tokio::time::resume();

    let error = error(&host.answer(call).await["result"]);

    let hint = "no answer within 300 s; nothing was sent: call again to ask the person again";
    assert_eq!(code_and_hint(&error), ("confirmation_required", hint));
    assert_eq!(service.writes().await, [""; 0]);
}

#[tokio::test]
async fn the_newest_revision_has_the_same_hints() {
    let Session { service, clock, mut host, .. } = Fixture::new().simulated_time().connect().await;
    // Each answer counts once, so that each case has a question of its own.
    let mut states = Vec::new();
    for _ in 0..4 {
        states.push(modern_call(&mut host, &costly_start(), json!({})).await["requestState"].clone());
    }
    let yes = json!({"confirm": {"action": "accept", "content": {"confirm": true}}});
    let no = json!({"confirm": {"action": "decline"}});
    let mut other = costly_start();

    other["instances"] = json!(10);
    let cases = [
        (
            costly_start(),
            json!({"requestState": states[0], "inputResponses": no}),
            "confirmation_required",
            "did not agree",
        ),
        (costly_start(), json!({"requestState": states[1]}), "confirmation_required", "returned no answer"),
        (
            costly_start(),
            json!({"requestState": "rs1.forged.state", "inputResponses": yes}),
            "invalid_arguments",
            "again",
        ),
        (other, json!({"requestState": states[2], "inputResponses": yes}), "invalid_arguments", "again"),
    ];

    for (arguments, more, code, hint) in cases {
        let error = error(&modern_call(&mut host, &arguments, more.clone()).await);
        assert_eq!(code_and_hint(&error).0, code, "{more}");
        assert!(code_and_hint(&error).1.contains(hint), "{more}: {error}");
    }

    clock.sleep(Duration::from_secs(301)).await;
    let late = json!({"requestState": states[3], "inputResponses": yes});

    let late = error(&modern_call(&mut host, &costly_start(), late).await);
    assert!(code_and_hint(&late).1.starts_with("no answer within 300 s"), "{late}");
    assert_eq!(service.writes().await, [""; 0]);
}
