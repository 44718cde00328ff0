//! Which waits become tasks, and for whom.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{CONFIG_PHONES, JOB_PASSED, TEST_DISCOVERY};

use super::{Scene, TOOL, long, modern, open, open_with};

#[tokio::test]
async fn a_long_wait_becomes_a_task() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let task = scene.wait(arguments).await;

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
async fn the_interval_is_the_callers_or_grows() {
    let mut scene = open().await;
    let mut arguments = long(&mut scene).await;
    let growing = scene.begin(arguments.clone()).await;

    arguments["poll_interval_seconds"] = json!("7");
    let steady = scene.begin(arguments).await;

    for (seconds, interval) in [(40, 5_000), (60, 10_000), (50, 15_000), (400, 30_000)] {
        scene.pass(seconds).await;
        assert_eq!(scene.get(&growing).await["pollIntervalMs"], interval);
        assert_eq!(scene.get(&steady).await["pollIntervalMs"], 7_000);
    }
}

#[tokio::test]
async fn who_cannot_have_tasks_gets_an_answer() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let params = json!({"name": TOOL, "arguments": arguments});
    let answer = scene.host.request("tools/call", modern(params, false)).await;
    assert_eq!(answer["result"]["structuredContent"]["status"], "timed_out", "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
}

#[tokio::test]
async fn a_wait_that_fits_into_a_call_is_answered() {
    for (timeout, kind) in [(json!(null), "complete"), (json!(40), "complete"), (json!(41), "task")] {
        let mut scene = open().await;
        let mut arguments = long(&mut scene).await;
        arguments["timeout_seconds"] = timeout;
        assert_eq!(scene.wait(arguments.clone()).await["resultType"], kind, "{arguments}");
    }
}

#[tokio::test]
async fn what_is_over_is_answered_at_once() {
    let mut scene = open().await;
    let end = scene.wait(json!({"job_id": JOB_PASSED, "timeout_seconds": 600})).await;

    assert_eq!(
        (&end["resultType"], &end["structuredContent"]["status"]),
        (&json!("complete"), &json!("completed"))
    );
    assert_eq!(scene.service.requests().await.len(), 1);
}

#[tokio::test]
async fn what_cannot_be_waited_for_is_refused_at_once() {
    let mut scene = open().await;
    let unknown = json!({"job_id": "00000000-0000-4000-8000-000000000000", "timeout_seconds": 600});
    for (arguments, code) in [(unknown, "not_found"), (json!({"timeout_seconds": 600}), "invalid_arguments")]
    {
        let refused = scene.wait(arguments).await;
        assert_eq!(refused["isError"], true, "{refused}");
        let said = refused["content"][0]["text"].as_str().expect("a text");
        let said: Value = serde_json::from_str(said).expect("JSON");
        assert_eq!(said["error"]["code"], code);
    }
}

/// The first look may fail: the next one may not.
#[tokio::test]
async fn a_service_that_is_away_for_a_moment_does_not_prevent_a_task() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    scene
        .service
        .fault(json!({"operation": "get_job", "status": 503, "times": 10, "headers": {"retry-after": "0"}}))
        .await;

    let task = scene.wait(arguments).await;

    assert!(task["statusMessage"].as_str().is_some_and(|said| said.contains("503")), "{task}");

    scene.service.heal().await;
    scene.pass(5).await;

    let task = scene.get(&super::id(&task)).await;

    assert!(task["statusMessage"].as_str().is_some_and(|said| said.starts_with("0 of 1 finished")), "{task}");
}

/// Whether a server declares the extension.
async fn declares(scene: &mut Scene) -> bool {
    let discovered = scene.ask("server/discover", json!({})).await;
    discovered["result"]["capabilities"]["extensions"]["io.modelcontextprotocol/tasks"].is_object()
}

#[tokio::test]
async fn a_server_without_the_tool_has_no_tasks() {
    let mut scene = open().await;

    assert!(declares(&mut scene).await);

    let mut scene = open_with(&[("TAS_TOOLSETS", "-wait_for_completion")]).await;

    assert!(!declares(&mut scene).await);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for params in [json!({"taskId": "x", "inputResponses": {}}), json!({"taskId": 7})] {
            assert_eq!(scene.ask(method, params).await["error"]["code"], -32601, "{method}");
        }
    }
}

#[tokio::test]
async fn questions_about_tasks_need_the_capability_and_an_id() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;

    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({"taskId": id, "inputResponses": {}});
        let refused = scene.host.request(method, modern(params, false)).await;
        assert_eq!(refused["error"]["code"], -32021, "{method}");
        assert_eq!(scene.ask(method, json!({"taskId": 7})).await["error"]["code"], -32602, "{method}");
    }
}

/// Some hosts that initialize declare the extension and take a task for a broken answer.
#[tokio::test]
async fn a_host_that_initializes_gets_an_answer() {
    let mut scene = open().await;
    let hello = json!({
        "protocolVersion": "2025-11-25", "clientInfo": {"name": "host", "version": "1"},
        "capabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
    });
    scene.host.request("initialize", hello).await;
    scene.host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;

    let job = scene
        .host
        .succeed(
            "start_run",
            json!({
                "multiplayer_test_id": TEST_DISCOVERY, "deployment_config_id": CONFIG_PHONES,
            }),
        )
        .await["job_ids"][0]
        .clone();

    let end = scene.host.succeed(TOOL, json!({"job_id": job, "timeout_seconds": 200})).await;

    assert_eq!(end["status"], "timed_out");
}
