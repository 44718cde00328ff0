//! Deletions, end to end: a person agrees first, and what was deleted is gone.

use serde_json::{Value, json};
use tas_mcp::sandbox::{
    keys,
    seed::{PLAN_SMOKE, STEPS_SIGN_IN, STEPS_UNUSED, TEST_FAILS},
};

use crate::support::{binary::told, host::Host, service::Service};

const ALL: (&str, &str) = ("TAS_TOOLSETS", "all");

async fn open(more: &[(&str, &str)]) -> (Service, Host) {
    let service = Service::start().await;
    let host = Host::open(&service.settings(keys::DEMO, &[&[ALL], more].concat())).await;
    (service, host)
}

/// Each deletion, what it asks, and the tool that shows what it deletes.
fn deletions() -> [(&'static str, Value, String, &'static str); 5] {
    let test = |more: Value| {
        let mut arguments = json!({"test_id": TEST_FAILS});
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        arguments
    };
    let lost = |what: &str, id: &str, more: &str| format!("would delete {what} `{id}` permanently{more}");

    [
        (
            "delete_test",
            test(json!({"force_delete": true})),
            lost("test", TEST_FAILS, ", even if runs of it exist"),
            "get_test",
        ),
        (
            "delete_test",
            test(json!({"delete_associated_jobs": true})),
            lost("test", TEST_FAILS, " with all its jobs and runs"),
            "get_test",
        ),
        (
            "delete_test",
            test(json!({"delete_associated_jobs": "true", "force_delete": true})),
            lost("test", TEST_FAILS, " with all its jobs and runs"),
            "get_test",
        ),
        (
            "delete_test_plan",
            json!({"test_plan_id": PLAN_SMOKE}),
            lost("test plan", PLAN_SMOKE, ""),
            "get_test_plan",
        ),
        (
            "delete_shared_step",
            json!({"shared_step_id": STEPS_UNUSED}),
            lost("shared step", STEPS_UNUSED, ""),
            "get_shared_step",
        ),
    ]
}

fn confirmed(arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    arguments["confirm"] = json!(true);
    arguments
}

/// The arguments of the reader: the id alone.
fn reading(arguments: &Value) -> Value {
    arguments
        .as_object()
        .expect("an object")
        .iter()
        .take(1)
        .map(|(name, id)| (name.clone(), id.clone()))
        .collect()
}

#[tokio::test]
async fn a_host_that_cannot_ask_hears_what_would_be_lost_and_nothing_is_sent() {
    for (tool, arguments, lost, reader) in deletions() {
        let (service, mut host) = open(&[]).await;
        let error = host.fail(tool, arguments.clone()).await;

        assert_eq!(error["code"], "confirmation_required");
        assert_eq!(error["message"], format!("{tool} {lost}"));
        assert_eq!(service.requests().await, [""; 0]);

        let deleted = host.succeed(tool, confirmed(&arguments)).await;

        assert_eq!(deleted["deleted"], true, "{deleted}");
        assert_eq!(host.fail(reader, reading(&arguments)).await["code"], "not_found");
        assert_eq!(host.fail(tool, confirmed(&arguments)).await["code"], "not_found");
    }
}

#[tokio::test]
async fn unattended_use_deletes_at_once() {
    let (_service, mut host) = open(&[("TAS_CONFIRM", "never")]).await;
    let deleted = host.succeed("delete_shared_step", json!({"shared_step_id": STEPS_UNUSED})).await;
    assert_eq!(deleted, json!({"id": STEPS_UNUSED, "deleted": true}));
}

#[tokio::test]
async fn a_host_that_can_ask_asks_what_would_be_lost() {
    for (tool, arguments, lost, _) in deletions() {
        for agrees in [false, true] {
            let service = Service::start().await;
            let mut host = Host::connect(&service.settings(keys::DEMO, &[ALL]));
            let client = json!({"name": "host", "version": "1"});
            let revision = "2025-11-25";
            let params = json!({"protocolVersion": revision, "capabilities": {"elicitation": {}}, "clientInfo": client});

            host.request("initialize", params).await;
            host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;

            let call = host.start("tools/call", json!({"name": tool, "arguments": arguments})).await;
            let question = host.receive().await;

            assert_eq!(question["params"]["message"], format!("{tool} {lost}. Do you agree?"));

            let answer = json!({"action": "accept", "content": {"confirm": agrees}});
            host.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;

            let result = host.answer(call).await["result"].clone();

            assert_eq!(result["isError"] != true, agrees, "{tool}: {result}");
            assert_eq!(service.writes().await.len(), usize::from(agrees), "{tool}");
        }
    }
}

#[tokio::test]
async fn an_id_cannot_pass_for_other_words_in_the_question() {
    let (service, mut host) = open(&[]).await;
    let id = "x` for a minute\n\nNothing is lost `";
    let error = host.fail("delete_shared_step", json!({"shared_step_id": id})).await;
    let said = "delete_shared_step would delete shared step `x? for a minute??Nothing is lost ?` permanently";
    assert_eq!(error["message"], said);
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn what_protects_a_record_is_a_conflict_and_says_so() {
    let (_service, mut host) = open(&[]).await;
    let cases = [
        ("delete_test", json!({"test_id": TEST_FAILS}), "cannot delete tests with associated runs"),
        (
            "delete_shared_step",
            json!({"shared_step_id": STEPS_SIGN_IN}),
            "cannot delete shared step that is referenced by tests",
        ),
    ];

    for (tool, arguments, words) in cases {
        let error = host.fail(tool, confirmed(&arguments)).await;
        assert_eq!((&error["code"], &error["status"]), (&json!("conflict"), &json!(409)));
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_deletion_without_an_answer_names_the_tool_that_shows_whether_it_happened() {
    for (tool, arguments, _, reader) in deletions() {
        let (service, mut host) = open(&[]).await;
        service.fault(json!({"operation": tool, "reset": true})).await;
        let error = host.fail(tool, confirmed(&arguments)).await;
        assert_eq!(error["code"], "outcome_unknown", "{error}");
        assert!(error["hint"].as_str().expect("a hint").contains(&format!("`{reader}`")), "{error}");
        assert_eq!(service.writes().await.len(), 1, "{tool}: it is not repeated");
    }
}

#[tokio::test]
async fn deletions_are_extras_that_change_something_and_say_that_they_destroy() {
    for (tool, ..) in deletions() {
        let entry = tas_mcp::service::catalog::find(tool).expect("a tool");
        assert!(entry.effect.is_destructive() && entry.effect.is_idempotent(), "{tool}");
        assert_eq!(entry.tier, tas_mcp::service::tool::Tier::Extra, "{tool}");
        assert!(entry.confirmation_question.is_some(), "{tool}");
    }

    let (_service, mut host) = open(&[("TAS_READ_ONLY", "true")]).await;
    let list = host.request("tools/list", json!({})).await;

    assert!(!list.to_string().contains("delete_"), "nothing is deleted read-only");
}

#[tokio::test]
async fn the_command_line_deletes_with_yes_only() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let deletion = ["call", "delete_test", "--test-id", TEST_FAILS, "--force-delete", "true"];
    let output = told(&deletion, &variables, &[]).await;

    assert_eq!(output.status.code(), Some(2));
    assert_eq!(service.requests().await, [""; 0]);

    let output = told(&[&deletion[..], &["--yes"]].concat(), &variables, &[]).await;

    assert_eq!(output.status.code(), Some(0));

    let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON");

    assert_eq!(printed, json!({"id": TEST_FAILS, "deleted": true}));
}
