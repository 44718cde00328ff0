//! The id is all that a task is.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::json;
use tas_mcp::sandbox::keys;

use super::{long, open, server};
use crate::support::host::Host;

#[tokio::test]
async fn a_task_survives_the_server() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;

    scene.pass(100).await;
    scene.restart();

    let task = scene.get(&id).await;

    assert_eq!(
        (&task["status"], &task["createdAt"]),
        (&json!("working"), &json!("2026-03-02T09:15:00Z")),
        "{task}"
    );

    scene.pass(100).await;
    scene.restart();

    let end = scene.get(&id).await["result"]["structuredContent"].clone();

    assert_eq!((&end["status"], &end["elapsed_seconds"]), (&json!("timed_out"), &json!(200.0)));
}

#[tokio::test]
async fn an_id_that_this_server_would_not_have_given_is_unknown() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;
    let (head, seal) = id.rsplit_once('.').expect("a seal");
    let payload = head.rsplit_once('.').expect("a payload").1;
    let opened = URL_SAFE_NO_PAD.decode(payload).expect("base64");
    let forged = String::from_utf8_lossy(&opened).replace("200", "900");

    assert_ne!(forged.as_bytes(), opened, "the payload can be read");

    let forged = id.replace(payload, &URL_SAFE_NO_PAD.encode(forged));
    let requests = scene.service.requests().await.len();

    for id in [
        String::new(),
        "task-1".to_owned(),
        head.to_owned(),
        format!("{id}x"),
        forged,
        format!("{head}.{seal}.{seal}"),
    ] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let answer = scene.ask(method, json!({"taskId": id, "inputResponses": {}})).await;
            assert_eq!(answer["error"]["code"], -32602, "{method} {id}: {answer}");
            let said = answer["error"]["message"].as_str().expect("a message");
            assert!(said.starts_with("unknown task"), "{said}");
        }
    }

    assert_eq!(scene.service.requests().await.len(), requests);
}

#[tokio::test]
async fn an_id_of_another_key_is_unknown() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;
    scene.host = Host::to(server(&scene.service, &scene.clock, keys::READ_ONLY, &[]));
    let answer = scene.ask("tasks/get", json!({"taskId": id})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn an_id_shows_no_key() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;
    let decoded = id.split('.').filter_map(|part| URL_SAFE_NO_PAD.decode(part).ok());

    for bytes in decoded.chain([id.clone().into_bytes()]) {
        assert!(!String::from_utf8_lossy(&bytes).contains(keys::DEMO));
    }
}

#[tokio::test]
async fn a_task_can_be_asked_for_a_day_and_a_half_after_its_time() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;

    scene.pass(200 + 36 * 3_600).await;

    assert_eq!(scene.get(&id).await["status"], "completed");

    scene.pass(1).await;

    assert_eq!(scene.ask("tasks/get", json!({"taskId": id})).await["error"]["code"], -32602);
}

/// Nothing at the service is stopped, and nobody looks any more.
#[tokio::test]
async fn to_cancel_ends_the_watching_alone() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let (id, other) = (scene.begin(arguments.clone()).await, scene.begin(arguments).await);

    assert_ne!(id, other);

    let requests = scene.service.requests().await.len();
    let acknowledged = scene.ask("tasks/cancel", json!({"taskId": id})).await;

    assert_eq!(acknowledged["result"], json!({"resultType": "complete"}), "{acknowledged}");

    scene.pass(60).await;
    let task = scene.get(&id).await;

    assert_eq!(task["status"], "cancelled", "{task}");
    assert!(task["statusMessage"].as_str().is_some_and(|said| said.contains("the runs continue")), "{task}");
    assert_eq!(scene.service.requests().await.len(), requests);
    assert_eq!(scene.get(&other).await["status"], "working");

    scene.restart();

    assert_eq!(scene.get(&id).await["status"], "working", "only the server that was told knows");
}

/// However many other tasks are asked about meanwhile.
#[tokio::test]
async fn a_cancelled_task_stays_cancelled() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments.clone()).await;

    scene.ask("tasks/cancel", json!({"taskId": id})).await;
    let cancelled = scene.get(&id).await;

    for _ in 0..70 {
        scene.begin(arguments.clone()).await;
    }

    let requests = scene.service.requests().await.len();

    assert_eq!(scene.get(&id).await, cancelled);
    assert_eq!(scene.service.requests().await.len(), requests);
}

#[tokio::test]
async fn what_has_ended_cannot_be_cancelled() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;

    scene.pass(200).await;
    let ended = scene.get(&id).await;

    assert!(scene.ask("tasks/cancel", json!({"taskId": id})).await["error"].is_null());
    assert_eq!(scene.get(&id).await, ended);
}

/// A wait asks nothing: answers are acknowledged and passed over.
#[tokio::test]
async fn answers_to_no_question_are_passed_over() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;
    let answers = json!({"taskId": id, "inputResponses": {"name": {"action": "accept", "content": {}}}});
    let acknowledged = scene.ask("tasks/update", answers).await;

    assert_eq!(acknowledged["result"], json!({"resultType": "complete"}), "{acknowledged}");
    assert_eq!(scene.get(&id).await["status"], "working");
}
