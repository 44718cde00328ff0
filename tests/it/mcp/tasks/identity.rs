//! The id of a task contains the complete state of the task.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::json;
use tas_mcp::sandbox::keys;

use super::{fixture, long_wait};
use crate::support::host::Host;

#[tokio::test]
async fn a_task_survives_a_restart_of_the_server() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;

    session.pass_seconds(100).await;
    session.restart_server();

    let task = session.get_task(&id).await;

    assert_eq!(
        (&task["status"], &task["createdAt"]),
        (&json!("working"), &json!("2026-03-02T09:15:00Z")),
        "{task}"
    );

    session.pass_seconds(100).await;
    session.restart_server();

    let end = session.get_task(&id).await["result"]["structuredContent"].clone();

    assert_eq!((&end["status"], &end["elapsed_seconds"]), (&json!("timed_out"), &json!(200.0)));
}

#[tokio::test]
async fn an_id_holds_the_checked_arguments_and_not_the_text_that_was_sent() {
    let mut session = fixture().connect().await;
    let mut arguments = long_wait(&mut session).await;
    arguments["timeout_seconds"] = json!(format!("200{}", " ".repeat(100_000)));
    let id = session.create_task(arguments).await;

    assert!(id.len() < 1_000, "{}", id.len());
    assert_eq!(session.get_task(&id).await["ttlMs"], (200 + 36 * 3_600) * 1_000);
}

#[tokio::test]
async fn an_id_that_would_be_too_long_is_refused_with_the_way_to_call_without_a_task() {
    let mut session = fixture().connect().await;
    let mut arguments = long_wait(&mut session).await;
    // As many names as a call may have, all of them long.
    arguments["fields"] = json!(vec!["status".repeat(20); 100]);
    let requests = session.service.requests().await.len();
    let result = session.call_wait_tool(arguments).await;

    let failure = result["content"][0]["text"].as_str().expect("a text");
    assert_eq!(result["isError"], true, "{result}");
    assert!(
        failure.contains("the limit is 8192") && failure.contains("`timeout_seconds` of at most 40"),
        "{failure}"
    );
    assert_eq!(session.service.requests().await.len(), requests);
}

#[tokio::test]
async fn a_changed_id_is_unknown() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;
    let sealed = URL_SAFE_NO_PAD.decode(&id).expect("Base64");
    // A changed bit at the beginning, in the middle and at the end.
    let changed = |position: usize| {
        let mut bytes = sealed.clone();
        bytes[position] ^= 1;
        URL_SAFE_NO_PAD.encode(bytes)
    };
    let requests = session.service.requests().await.len();

    for id in [
        String::new(),
        "task-1".to_owned(),
        id[..id.len() - 4].to_owned(),
        format!("{id}x"),
        format!("{id}{id}"),
        changed(0),
        changed(sealed.len() / 2),
        changed(sealed.len() - 1),
    ] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let answer =
                session.request_with_tasks(method, json!({"taskId": id, "inputResponses": {}})).await;
            assert_eq!(answer["error"]["code"], -32602, "{method} {id}: {answer}");
            let said = answer["error"]["message"].as_str().expect("a message");
            assert!(said.starts_with("unknown task"), "{said}");
        }
    }

    assert_eq!(session.service.requests().await.len(), requests);
}

#[tokio::test]
async fn an_id_of_another_key_is_unknown() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;
    session.host = Host::to(session.another_server(keys::READ_ONLY, &[]));
    let answer = session.request_with_tasks("tasks/get", json!({"taskId": id})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn an_id_shows_no_key() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;
    let decoded = id.split('.').filter_map(|part| URL_SAFE_NO_PAD.decode(part).ok());

    for bytes in decoded.chain([id.clone().into_bytes()]) {
        assert!(!String::from_utf8_lossy(&bytes).contains(keys::DEMO));
    }
}

#[tokio::test]
async fn a_task_id_expires_36_hours_after_the_end_of_the_wait() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;

    session.pass_seconds(200 + 36 * 3_600).await;

    assert_eq!(session.get_task(&id).await["status"], "completed");

    session.pass_seconds(1).await;

    assert_eq!(session.request_with_tasks("tasks/get", json!({"taskId": id})).await["error"]["code"], -32602);
}

#[tokio::test]
async fn cancelling_a_task_does_not_stop_its_runs() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let (id, other) = (session.create_task(arguments.clone()).await, session.create_task(arguments).await);

    assert_ne!(id, other);

    let requests = session.service.requests().await.len();
    let acknowledged = session.request_with_tasks("tasks/cancel", json!({"taskId": id})).await;

    assert_eq!(acknowledged["result"], json!({"resultType": "complete"}), "{acknowledged}");

    session.pass_seconds(60).await;
    let task = session.get_task(&id).await;

    assert_eq!(task["status"], "cancelled", "{task}");
    assert!(task["statusMessage"].as_str().is_some_and(|said| said.contains("the runs continue")), "{task}");
    assert_eq!(session.service.requests().await.len(), requests);
    assert_eq!(session.get_task(&other).await["status"], "working");

    session.restart_server();

    assert_eq!(
        session.get_task(&id).await["status"],
        "working",
        "only the first server knows the cancellation"
    );
}

/// Even if many other tasks are created meanwhile.
#[tokio::test]
async fn a_cancelled_task_stays_cancelled() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments.clone()).await;

    session.request_with_tasks("tasks/cancel", json!({"taskId": id})).await;
    let cancelled = session.get_task(&id).await;

    // The server drops the states of older tasks. It must not drop the cancellation with them.
    for _ in 0..70 {
        session.create_task(arguments.clone()).await;
    }

    let requests = session.service.requests().await.len();

    assert_eq!(session.get_task(&id).await, cancelled);
    assert_eq!(session.service.requests().await.len(), requests);
}

#[tokio::test]
async fn an_ended_task_cannot_be_cancelled() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;

    session.pass_seconds(200).await;
    let ended = session.get_task(&id).await;

    assert!(session.request_with_tasks("tasks/cancel", json!({"taskId": id})).await["error"].is_null());
    assert_eq!(session.get_task(&id).await, ended);
}

/// A wait has no questions.
#[tokio::test]
async fn answers_to_unknown_questions_are_ignored() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;
    let answers = json!({"taskId": id, "inputResponses": {"name": {"action": "accept", "content": {}}}});
    let acknowledged = session.request_with_tasks("tasks/update", answers).await;

    assert_eq!(acknowledged["result"], json!({"resultType": "complete"}), "{acknowledged}");
    assert_eq!(session.get_task(&id).await["status"], "working");
}
