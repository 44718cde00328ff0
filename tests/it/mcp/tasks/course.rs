//! From the beginning of a task to its end.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{TEST_FAILS, TEST_PASSES};

use super::{TOOL, long, modern, open};

/// A result without what tells how often and how long somebody has looked.
fn without_effort(result: &Value) -> Value {
    let mut structure = result["structuredContent"].clone();
    let fields = structure.as_object_mut().expect("an object");
    fields.shift_remove("polls").expect("a number of looks");
    fields.shift_remove("elapsed_seconds").expect("a time");
    structure
}

#[tokio::test]
async fn a_task_ends_with_what_the_tool_answers() {
    for test in [TEST_PASSES, TEST_FAILS] {
        let mut scene = open().await;
        let job = scene.start(test).await;
        let arguments = json!({"job_id": job, "timeout_seconds": 7_200});
        let id = scene.begin(arguments.clone()).await;

        scene.pass(60).await;

        assert_eq!(scene.get(&id).await["status"], "working");

        scene.pass(3_600).await;
        let task = scene.get(&id).await;

        assert_eq!(
            (&task["resultType"], &task["status"]),
            (&json!("complete"), &json!("completed")),
            "{task}"
        );
        assert_eq!(task["lastUpdatedAt"], "2026-03-02T10:16:00Z");

        let result = &task["result"];
        let params = json!({"name": TOOL, "arguments": arguments});
        let answered = scene.host.request("tools/call", modern(params, false)).await["result"].clone();

        assert_eq!(without_effort(result), without_effort(&answered));
        assert_eq!((&result["isError"], &answered["isError"]), (&json!(false), &json!(false)));

        let told = &result["structuredContent"];

        assert_eq!((&told["elapsed_seconds"], &told["polls"]), (&json!(3_660.0), &json!(3)));

        let text = result["content"][0]["text"].as_str().expect("a text");

        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), *told);
    }
}

#[tokio::test]
async fn a_task_whose_time_is_over_ends_as_timed_out() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;

    scene.pass(199).await;

    assert_eq!(scene.get(&id).await["status"], "working");

    scene.pass(30).await;
    let task = scene.get(&id).await;
    let end = &task["result"]["structuredContent"];

    assert_eq!((&task["status"], &end["status"]), (&json!("completed"), &json!("timed_out")), "{task}");
    assert_eq!((&end["elapsed_seconds"], &task["result"]["isError"]), (&json!(229.0), &json!(false)));
}

#[tokio::test]
async fn what_has_ended_stays_as_it_is_without_another_look() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;

    scene.pass(201).await;
    let ended = scene.get(&id).await;
    let requests = scene.service.requests().await.len();

    scene.pass(100_000).await;
    let again = scene.get(&id).await;

    assert_eq!((&again["result"], &again["lastUpdatedAt"]), (&ended["result"], &ended["lastUpdatedAt"]));
    assert_eq!(scene.service.requests().await.len(), requests);
}

#[tokio::test]
async fn who_asks_too_often_hears_what_is_known() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;
    let requests = scene.service.requests().await.len();
    let first = scene.get(&id).await;

    scene.pass(2).await;

    assert_eq!(scene.get(&id).await, first);
    assert_eq!(scene.service.requests().await.len(), requests, "nobody looks");

    scene.pass(1).await;
    let later = scene.get(&id).await;

    assert_eq!(later["lastUpdatedAt"], "2026-03-02T09:15:03Z");
    assert_eq!(scene.service.requests().await.len(), requests + 1);
}

/// Failures of tools are results; `failed` is for faults of the protocol (SEP-2663).
#[tokio::test]
async fn a_failure_that_will_not_pass_is_the_result() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;

    scene.pass(5).await;
    scene.service.fault(json!({"operation": "get_job", "status": 404})).await;

    let task = scene.get(&id).await;

    assert_eq!((&task["status"], &task["result"]["isError"]), (&json!("completed"), &json!(true)), "{task}");
    assert_eq!(task["result"]["structuredContent"], Value::Null);

    let said = task["result"]["content"][0]["text"].as_str().expect("a text");

    assert_eq!(serde_json::from_str::<Value>(said).expect("JSON")["error"]["code"], "not_found");
}

/// Every look fails, and may be repeated at once.
fn outage() -> Value {
    json!({"operation": "get_job", "status": 503, "times": 100, "headers": {"retry-after": "0"}})
}

/// A service that is restarted comes back within two minutes.
#[tokio::test]
async fn a_task_outlasts_a_short_outage() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;

    scene.service.fault(outage()).await;
    for _ in 0..7 {
        scene.pass(15).await;
        assert_eq!(scene.get(&id).await["status"], "working");
    }
}

#[tokio::test]
async fn five_looks_in_a_row_that_fail_over_two_minutes_are_the_end() {
    let mut scene = open().await;
    let arguments = long(&mut scene).await;
    let id = scene.begin(arguments).await;

    scene.service.fault(outage()).await;
    for _ in 0..4 {
        scene.pass(30).await;
        let task = scene.get(&id).await;
        assert_eq!(task["status"], "working", "{task}");
        assert!(task["statusMessage"].as_str().is_some_and(|said| said.contains("503")), "{task}");
    }

    scene.pass(30).await;
    let task = scene.get(&id).await;

    assert_eq!((&task["status"], &task["result"]["isError"]), (&json!("completed"), &json!(true)), "{task}");
}

#[tokio::test]
async fn selected_fields_come_with_the_status() {
    for fields in [json!("finished"), json!(["finished"]), json!("[\"finished\"]")] {
        let mut scene = open().await;
        let mut arguments = long(&mut scene).await;
        arguments["fields"] = fields.clone();

        let id = scene.begin(arguments).await;
        scene.pass(200).await;

        let task = scene.get(&id).await;
        let end = &task["result"]["structuredContent"];

        assert_eq!((&end["finished"], &end["status"]), (&json!(0), &json!("timed_out")), "{fields}: {task}");
        assert_eq!(end.as_object().map(serde_json::Map::len), Some(2), "{task}");
    }
}
