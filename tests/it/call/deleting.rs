//! Deletions: a person confirms them first, and a deleted record cannot be read any more.

use serde_json::{Value, json};
use tas_mcp::sandbox::{
    keys,
    seed::{PLAN_SMOKE, STEPS_SIGN_IN, STEPS_UNUSED, TEST_FAILS},
};

use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    peer::Peer,
};

/// Each deletion with its arguments, the loss that its question states, and the tool that reads the record.
fn deletions() -> [(&'static str, Value, String, &'static str); 5] {
    let test = |more: Value| {
        let mut arguments = json!({"test_id": TEST_FAILS});
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        arguments
    };
    let loss = |what: &str, id: &str, more: &str| format!("would delete {what} `{id}` permanently{more}");

    [
        (
            "delete_test",
            test(json!({"force_delete": true})),
            loss("test", TEST_FAILS, ", even if runs of it exist"),
            "get_test",
        ),
        (
            "delete_test",
            test(json!({"delete_associated_jobs": true})),
            loss("test", TEST_FAILS, " with all its jobs and runs"),
            "get_test",
        ),
        (
            "delete_test",
            test(json!({"delete_associated_jobs": "true", "force_delete": true})),
            loss("test", TEST_FAILS, " with all its jobs and runs"),
            "get_test",
        ),
        (
            "delete_test_plan",
            json!({"test_plan_id": PLAN_SMOKE}),
            loss("test plan", PLAN_SMOKE, ""),
            "get_test_plan",
        ),
        (
            "delete_shared_step",
            json!({"shared_step_id": STEPS_UNUSED}),
            loss("shared step", STEPS_UNUSED, ""),
            "get_shared_step",
        ),
    ]
}

fn confirmed(arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    arguments["confirm"] = json!(true);
    arguments
}

/// Arguments of the tool that reads the record: the id alone.
fn only_id(arguments: &Value) -> Value {
    arguments
        .as_object()
        .expect("an object")
        .iter()
        .take(1)
        .map(|(name, id)| (name.clone(), id.clone()))
        .collect()
}

#[tokio::test]
async fn without_elicitation_a_deletion_states_its_loss_and_sends_nothing() {
    for (tool, arguments, loss, reader) in deletions() {
        let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
        let error = host.fail(tool, arguments.clone()).await;

        assert_eq!(error["code"], "confirmation_required");
        let effect = loss.split('`').next().expect("a beginning");
        assert!(
            error["message"].as_str().expect("a text").starts_with(&format!("{tool} {effect}`")),
            "{error}"
        );
        assert!(service.requests().await.iter().all(|request| request.starts_with("GET ")));

        let deleted = host.succeed(tool, confirmed(&arguments)).await;

        assert_eq!(deleted["deleted"], true, "{deleted}");
        assert_eq!(host.fail(reader, only_id(&arguments)).await["code"], "not_found");
        assert_eq!(host.fail(tool, arguments).await["code"], "not_found", "nobody is asked");
    }
}

#[tokio::test]
async fn without_confirmations_a_deletion_is_sent_at_once() {
    let Session { service: _service, mut host, .. } =
        Fixture::new().all_tools().variables(&[("TAS_CONFIRM", "never")]).open().await;
    let deleted = host.succeed("delete_shared_step", json!({"shared_step_id": STEPS_UNUSED})).await;
    assert_eq!(deleted, json!({"id": STEPS_UNUSED, "deleted": true}));
}

#[tokio::test]
async fn with_elicitation_the_question_states_the_loss() {
    for (tool, arguments, loss, _) in deletions() {
        for agrees in [false, true] {
            let Session { service, mut host, .. } = Fixture::new().all_tools().connect().await;
            let client = json!({"name": "host", "version": "1"});
            let revision = "2025-11-25";
            let params = json!({"protocolVersion": revision, "capabilities": {"elicitation": {}}, "clientInfo": client});

            host.request("initialize", params).await;
            host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;

            let call = host.start("tools/call", json!({"name": tool, "arguments": arguments})).await;
            let question = host.receive().await;

            let (before, rest) = loss.split_once('`').expect("an id");
            let (_, after) = rest.split_once('`').expect("an id");
            let message = question["params"]["message"].as_str().expect("a question");
            assert!(message.starts_with(&format!("This {before}`")), "{message}");
            assert!(
                message.ends_with(&format!("{after}. Do you agree?")) && !message.contains(rest),
                "{message}"
            );

            let answer = json!({"action": "accept", "content": {"confirm": agrees}});
            host.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;

            let result = host.answer(call).await["result"].clone();

            assert_eq!(result["isError"] != true, agrees, "{tool}: {result}");
            assert_eq!(service.writes().await.len(), usize::from(agrees), "{tool}");
        }
    }
}

#[tokio::test]
async fn an_id_cannot_forge_text_of_the_question() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let id = "x` for a minute\n\nNothing is lost `";
    let error = host.fail("delete_shared_step", json!({"shared_step_id": id})).await;
    let message =
        "delete_shared_step would delete shared step `x? for a minute??Nothing is lost ?` permanently";
    assert_eq!(error["message"], message);
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn a_record_in_use_is_a_conflict_with_the_reason() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    let cases = [
        ("delete_test", json!({"test_id": TEST_FAILS}), "cannot delete tests with associated runs"),
        (
            "delete_shared_step",
            json!({"shared_step_id": STEPS_SIGN_IN}),
            "cannot delete shared step that is referenced by tests",
        ),
    ];

    for (tool, arguments, reason) in cases {
        let error = host.fail(tool, confirmed(&arguments)).await;
        assert_eq!((&error["code"], &error["status"]), (&json!("conflict"), &json!(409)));
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test]
async fn a_deletion_of_unknown_outcome_names_the_tool_that_reads_the_record() {
    for (tool, arguments, _, reader) in deletions() {
        let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
        service.fault(json!({"operation": tool, "reset": true})).await;
        let error = host.fail(tool, confirmed(&arguments)).await;
        assert_eq!(error["code"], "outcome_unknown", "{error}");
        assert!(error["hint"].as_str().expect("a hint").contains(&format!("`{reader}`")), "{error}");
        assert_eq!(service.writes().await.len(), 1, "{tool} is not repeated");
    }
}

#[tokio::test]
async fn deletions_are_extra_tools_marked_as_destructive() {
    for (tool, ..) in deletions() {
        let entry = tas_mcp::service::catalog::find(tool).expect("a tool");
        assert!(entry.effect.is_destructive() && entry.effect.is_idempotent(), "{tool}");
        assert_eq!(entry.tier, tas_mcp::service::tool::Tier::Extra, "{tool}");
        assert!(entry.confirmation_question.is_some(), "{tool}");
    }

    let Session { service: _service, mut host, .. } =
        Fixture::new().all_tools().variables(&[("TAS_READ_ONLY", "true")]).open().await;
    let list = host.request("tools/list", json!({})).await;

    assert!(!list.to_string().contains("delete_"), "a read-only server has no deletions");
}

#[tokio::test]
async fn a_deletion_that_is_answered_without_a_body_has_succeeded() {
    let null = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\nnull";
    for answer in ["HTTP/1.1 204 No Content\r\n\r\n", null] {
        let stub = Peer::answering(answer).await;
        let mut host = Host::open(&stub.settings(keys::DEMO, &[("TAS_TOOLSETS", "all")])).await;

        for (tool, id) in [
            ("delete_test", json!({"test_id": TEST_FAILS})),
            ("delete_test_plan", json!({"test_plan_id": PLAN_SMOKE})),
            ("delete_shared_step", json!({"shared_step_id": STEPS_UNUSED})),
            ("delete_build", json!({"build_id": PLAN_SMOKE})),
        ] {
            assert_eq!(host.succeed(tool, confirmed(&id)).await, id);
        }

        let upload = json!({"build_id": PLAN_SMOKE, "object_key": "k"});
        assert_eq!(host.succeed("cancel_build_upload", upload.clone()).await, upload);
    }
}
