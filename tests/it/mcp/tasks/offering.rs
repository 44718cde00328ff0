//! Which waits become tasks, and which hosts get tasks.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{CONFIG_PHONES, JOB_PASSED, TEST_DISCOVERY};

use super::{TOOL, fixture, long_wait, modern, task_id};
use crate::support::fixture::Session;

#[tokio::test]
async fn a_long_wait_becomes_a_task() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let task = session.call_wait_tool(arguments).await;

    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");
    assert_eq!(
        (&task["pollIntervalMs"], &task["ttlMs"]),
        (&json!(5_000), &json!((200 + 36 * 3_600) * 1_000))
    );
    assert_eq!(
        (&task["createdAt"], &task["lastUpdatedAt"]),
        (&json!("2026-03-02T09:15:00Z"), &task["createdAt"])
    );
    assert!(task["statusMessage"].as_str().is_some_and(|said| said.starts_with("0 of 1 finished")), "{task}");
    assert_eq!(task["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tas-mcp");
    assert!(task["content"].is_null() && task["result"].is_null(), "{task}");
}

#[tokio::test]
async fn the_poll_interval_is_the_callers_or_grows() {
    let mut session = fixture().connect().await;
    let mut arguments = long_wait(&mut session).await;
    let growing = session.create_task(arguments.clone()).await;

    arguments["poll_interval_seconds"] = json!("7");
    let steady = session.create_task(arguments).await;

    for (seconds, interval) in [(40, 5_000), (60, 10_000), (50, 15_000), (400, 30_000)] {
        session.pass_seconds(seconds).await;
        assert_eq!(session.get_task(&growing).await["pollIntervalMs"], interval);
        assert_eq!(session.get_task(&steady).await["pollIntervalMs"], 7_000);
    }
}

#[tokio::test]
async fn a_host_without_task_support_gets_an_answer() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let params = json!({"name": TOOL, "arguments": arguments});
    let answer = session.host.request("tools/call", modern(params, false)).await;
    assert_eq!(answer["result"]["structuredContent"]["status"], "timed_out", "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
}

#[tokio::test]
async fn a_short_wait_is_answered() {
    for (timeout, kind) in [(json!(null), "complete"), (json!(40), "complete"), (json!(41), "task")] {
        let mut session = fixture().connect().await;
        let mut arguments = long_wait(&mut session).await;
        arguments["timeout_seconds"] = timeout;
        assert_eq!(session.call_wait_tool(arguments.clone()).await["resultType"], kind, "{arguments}");
    }
}

#[tokio::test]
async fn a_wait_for_an_ended_job_is_answered() {
    let mut session = fixture().connect().await;
    let end = session.call_wait_tool(json!({"job_id": JOB_PASSED, "timeout_seconds": 600})).await;

    assert_eq!(
        (&end["resultType"], &end["structuredContent"]["status"]),
        (&json!("complete"), &json!("completed"))
    );
    assert_eq!(session.service.requests().await.len(), 1);
}

#[tokio::test]
async fn a_wait_with_invalid_arguments_is_refused() {
    let mut session = fixture().connect().await;
    let unknown = json!({"job_id": "00000000-0000-4000-8000-000000000000", "timeout_seconds": 600});
    for (arguments, code) in [(unknown, "not_found"), (json!({"timeout_seconds": 600}), "invalid_arguments")]
    {
        let refused = session.call_wait_tool(arguments).await;
        assert_eq!(refused["isError"], true, "{refused}");
        let said = refused["content"][0]["text"].as_str().expect("a text");
        let said: Value = serde_json::from_str(said).expect("JSON");
        assert_eq!(said["error"]["code"], code);
    }
}

#[tokio::test]
async fn a_failed_first_poll_does_not_prevent_a_task() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    session
        .service
        .fault(json!({"operation": "get_job", "status": 503, "times": 10, "headers": {"retry-after": "0"}}))
        .await;

    let task = session.call_wait_tool(arguments).await;

    assert!(task["statusMessage"].as_str().is_some_and(|said| said.contains("503")), "{task}");

    session.service.heal().await;
    session.pass_seconds(5).await;

    let task = session.get_task(&task_id(&task)).await;

    assert!(task["statusMessage"].as_str().is_some_and(|said| said.starts_with("0 of 1 finished")), "{task}");
}

/// Returns whether the server declares the extension.
async fn declares_tasks(session: &mut Session) -> bool {
    let discovered = session.request_with_tasks("server/discover", json!({})).await;
    discovered["result"]["capabilities"]["extensions"]["io.modelcontextprotocol/tasks"].is_object()
}

#[tokio::test]
async fn a_server_without_the_wait_tool_has_no_tasks() {
    let mut session = fixture().connect().await;

    assert!(declares_tasks(&mut session).await);

    let mut session = fixture().variables(&[("TAS_TOOLSETS", "-wait_for_completion")]).connect().await;

    assert!(!declares_tasks(&mut session).await);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for params in [json!({"taskId": "x", "inputResponses": {}}), json!({"taskId": 7})] {
            assert_eq!(session.request_with_tasks(method, params).await["error"]["code"], -32601, "{method}");
        }
    }
}

#[tokio::test]
async fn task_requests_need_the_capability_and_an_id() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;

    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({"taskId": id, "inputResponses": {}});
        let refused = session.host.request(method, modern(params, false)).await;
        assert_eq!(refused["error"]["code"], -32021, "{method}");
        assert_eq!(
            session.request_with_tasks(method, json!({"taskId": 7})).await["error"]["code"],
            -32602,
            "{method}"
        );
    }
}

/// Some hosts with `initialize` declare the extension but treat a task as an invalid answer.
#[tokio::test]
async fn a_host_that_declares_tasks_with_initialize_gets_an_answer() {
    let mut session = fixture().connect().await;
    let hello = json!({
        "protocolVersion": "2025-11-25", "clientInfo": {"name": "host", "version": "1"},
        "capabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
    });
    session.host.request("initialize", hello).await;
    session.host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;

    let job = session
        .host
        .succeed(
            "start_run",
            json!({
                "multiplayer_test_id": TEST_DISCOVERY, "deployment_config_id": CONFIG_PHONES,
            }),
        )
        .await["job_ids"][0]
        .clone();

    let end = session.host.succeed(TOOL, json!({"job_id": job, "timeout_seconds": 200})).await;

    assert_eq!(end["status"], "timed_out");
}
