//! The results of tasks.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{TEST_FAILS, TEST_PASSES};

use super::{TOOL, fixture, long_wait, modern};

/// Returns a result without the number and the time of the polls.
fn without_poll_statistics(result: &Value) -> Value {
    let mut structure = result["structuredContent"].clone();
    let fields = structure.as_object_mut().expect("an object");
    fields.shift_remove("polls").expect("a number of polls");
    fields.shift_remove("elapsed_seconds").expect("a time");
    structure
}

#[tokio::test]
async fn the_result_of_a_task_is_the_result_of_the_call() {
    for test in [TEST_PASSES, TEST_FAILS] {
        let mut session = fixture().connect().await;
        let job = session.start_job(test).await;
        let arguments = json!({"job_id": job, "timeout_seconds": 7_200});
        let id = session.create_task(arguments.clone()).await;

        session.pass_seconds(60).await;

        assert_eq!(session.get_task(&id).await["status"], "working");

        session.pass_seconds(3_600).await;
        let task = session.get_task(&id).await;

        assert_eq!(
            (&task["resultType"], &task["status"]),
            (&json!("complete"), &json!("completed")),
            "{task}"
        );
        assert_eq!(task["lastUpdatedAt"], "2026-03-02T10:16:00Z");

        let result = &task["result"];
        // A host without tasks gets the answer of the same wait.
        let params = json!({"name": TOOL, "arguments": arguments});
        let answered = session.host.request("tools/call", modern(params, false)).await["result"].clone();

        assert_eq!(without_poll_statistics(result), without_poll_statistics(&answered));
        assert_eq!((&result["isError"], &answered["isError"]), (&json!(false), &json!(false)));

        let structure = &result["structuredContent"];

        assert_eq!((&structure["elapsed_seconds"], &structure["polls"]), (&json!(3_660.0), &json!(3)));

        let text = result["content"][0]["text"].as_str().expect("a text");

        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), *structure);
    }
}

#[tokio::test]
async fn a_task_ends_as_timed_out_at_the_end_of_the_wait() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;

    session.pass_seconds(199).await;

    assert_eq!(session.get_task(&id).await["status"], "working");

    session.pass_seconds(30).await;
    let task = session.get_task(&id).await;
    let end = &task["result"]["structuredContent"];

    assert_eq!((&task["status"], &end["status"]), (&json!("completed"), &json!("timed_out")), "{task}");
    assert_eq!((&end["elapsed_seconds"], &task["result"]["isError"]), (&json!(229.0), &json!(false)));
}

#[tokio::test]
async fn an_ended_task_is_not_polled_again() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;

    session.pass_seconds(201).await;
    let ended = session.get_task(&id).await;
    let requests = session.service.requests().await.len();

    session.pass_seconds(100_000).await;
    let again = session.get_task(&id).await;

    assert_eq!((&again["result"], &again["lastUpdatedAt"]), (&ended["result"], &ended["lastUpdatedAt"]));
    assert_eq!(session.service.requests().await.len(), requests);
}

#[tokio::test]
async fn a_frequent_request_does_not_poll_the_service() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;
    let requests = session.service.requests().await.len();
    let first = session.get_task(&id).await;

    session.pass_seconds(2).await;

    assert_eq!(session.get_task(&id).await, first);
    assert_eq!(session.service.requests().await.len(), requests, "the service is not polled");

    session.pass_seconds(1).await;
    let later = session.get_task(&id).await;

    assert_eq!(later["lastUpdatedAt"], "2026-03-02T09:15:03Z");
    assert_eq!(session.service.requests().await.len(), requests + 1);
}

/// Failures of tools are results; `failed` is for faults of the protocol (SEP-2663).
#[tokio::test]
async fn a_permanent_failure_is_the_result() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;

    session.pass_seconds(5).await;
    session.service.fault(json!({"operation": "get_job", "status": 404})).await;

    let task = session.get_task(&id).await;

    assert_eq!((&task["status"], &task["result"]["isError"]), (&json!("completed"), &json!(true)), "{task}");
    assert_eq!(task["result"]["structuredContent"], Value::Null);

    let said = task["result"]["content"][0]["text"].as_str().expect("a text");

    assert_eq!(serde_json::from_str::<Value>(said).expect("JSON")["error"]["code"], "not_found");
}

/// A fault that lets every poll fail without a pause.
fn outage() -> Value {
    json!({"operation": "get_job", "status": 503, "times": 100, "headers": {"retry-after": "0"}})
}

/// A service is available again within two minutes after a restart.
#[tokio::test]
async fn a_task_outlasts_a_short_outage() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;

    session.service.fault(outage()).await;
    for _ in 0..7 {
        session.pass_seconds(15).await;
        assert_eq!(session.get_task(&id).await["status"], "working");
    }
}

#[tokio::test]
async fn five_failed_polls_over_two_minutes_end_a_task() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;

    session.service.fault(outage()).await;
    for _ in 0..4 {
        session.pass_seconds(30).await;
        let task = session.get_task(&id).await;
        assert_eq!(task["status"], "working", "{task}");
        assert!(task["statusMessage"].as_str().is_some_and(|said| said.contains("503")), "{task}");
    }

    session.pass_seconds(30).await;
    let task = session.get_task(&id).await;

    assert_eq!((&task["status"], &task["result"]["isError"]), (&json!("completed"), &json!(true)), "{task}");
}

#[tokio::test]
async fn selected_fields_come_with_the_status() {
    for fields in [json!("finished"), json!(["finished"]), json!("[\"finished\"]")] {
        let mut session = fixture().connect().await;
        let mut arguments = long_wait(&mut session).await;
        arguments["fields"] = fields.clone();

        let id = session.create_task(arguments).await;
        session.pass_seconds(200).await;

        let task = session.get_task(&id).await;
        let end = &task["result"]["structuredContent"];

        assert_eq!((&end["finished"], &end["status"]), (&json!(0), &json!("timed_out")), "{fields}: {task}");
        assert_eq!(end.as_object().map(serde_json::Map::len), Some(2), "{task}");
    }
}
