//! Which calls count as equal, and how long the first one is remembered.

use std::time::Duration;

use serde_json::json;
use tas_mcp::sandbox::seed;

use super::{Session, fixture, reset_after_write, reset_before_write, start_arguments, text};

impl Session {
    /// Waits until the service has received a request that begins with `line`.
    pub(super) async fn wait_for_request(&self, line: &str) {
        while !self.service.requests().await.iter().any(|known| known.starts_with(line)) {
            tokio::task::yield_now().await;
        }
    }

    /// Cancels a call, and waits until the server has read the notification.
    pub(super) async fn cancel_call(&mut self, id: u64) {
        let params = json!({"requestId": id});
        self.host
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await;
        // The server reads messages in order: its answer to the ping proves that it has read the cancellation.
        assert!(self.host.request("ping", json!({})).await["error"].is_null());
    }
}

#[tokio::test]
async fn calls_with_other_arguments_are_never_held_back() {
    let mut session = fixture().open().await;
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;

    let requests = session.service.requests().await.len();
    let mut other = start_arguments();
    other["multiplayer_test_id"] = json!(seed::TEST_FLAKY);
    session.host.succeed("start_run", other).await;

    let mut tagged = start_arguments();
    tagged["additional_tags"] = json!(["nightly"]);
    session.host.succeed("start_run", tagged).await;

    assert_eq!(session.service.requests().await.len(), requests + 2, "no list is read");
}

#[tokio::test]
async fn order_and_spelling_of_arguments_and_confirm_are_ignored() {
    let mut session = fixture().open().await;
    let first = json!({
        "multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_WINDOWS, "instances": 2,
    });
    session.lose_answer("start_run", &first, reset_after_write()).await;

    let same = json!({
        "confirm": true, "instances": "2", "build_id": null, "deployment_config_id": seed::CONFIG_WINDOWS,
        "multiplayer_test_id": seed::TEST_PASSES,
    });

    assert_eq!(session.host.fail("start_run", same).await["code"], "conflict");
}

#[tokio::test]
async fn ids_are_compared_without_letter_case() {
    let mut session = fixture().open().await;
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;
    let mut upper = start_arguments();
    upper["deployment_config_id"] = json!(seed::CONFIG_WINDOWS.to_uppercase());
    assert_eq!(session.host.fail("start_run", upper).await["code"], "conflict");
}

#[tokio::test]
async fn an_unknown_outcome_is_forgotten_after_ten_minutes() {
    let mut session = fixture().open().await;
    let before = session.count_records("list_jobs").await;
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;
    // 12 seconds have passed in `lose_answer`, so that this is the last moment of the 600 seconds.
    session.advance(588).await;
    session
        .service
        .fault(json!({"operation": "list_jobs", "status": 503, "times": 10, "headers": {"retry-after": "0"}}))
        .await;

    assert_eq!(
        session.host.fail("start_run", start_arguments()).await["code"],
        "outcome_unknown",
        "the call is remembered for 600 s"
    );

    session.service.heal().await;
    session.advance(1).await;
    session.host.succeed("start_run", start_arguments()).await;

    assert_eq!(session.count_records("list_jobs").await, before + 2);
}

/// The clock of the process stops while the machine sleeps.
#[tokio::test]
async fn a_machine_that_has_slept_forgets_nothing() {
    let mut session = fixture().open().await;
    let before = session.count_records("list_jobs").await;
    session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;
    session.clock.suspend(Duration::from_secs(7_200));

    assert_eq!(session.host.fail("start_run", start_arguments()).await["code"], "conflict");
    assert_eq!(session.count_records("list_jobs").await, before + 1);
}

#[tokio::test]
async fn a_refusal_is_a_known_outcome() {
    let mut session = fixture().open().await;
    let before = session.count_records("list_jobs").await;
    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;
    session.service.fault(json!({"operation": "start_run", "status": 400})).await;

    assert_eq!(session.host.fail("start_run", start_arguments()).await["code"], "rejected");

    let requests = session.service.requests().await.len();
    session.host.succeed("start_run", start_arguments()).await;

    assert_eq!(session.service.requests().await.len(), requests + 1, "no list is read any more");
    assert_eq!(session.count_records("list_jobs").await, before + 1);
}

#[tokio::test]
async fn one_of_two_concurrent_repetitions_is_sent() {
    let mut session = fixture().open().await;
    let before = session.count_records("list_jobs").await;
    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;
    session.service.fault(json!({"operation": "list_jobs", "delay_ms": 60_000})).await;

    let call = json!({"name": "start_run", "arguments": start_arguments()});
    let ids =
        [session.host.start("tools/call", call.clone()).await, session.host.start("tools/call", call).await];
    let refused = session.host.receive().await;
    let message = refused["result"]["content"][0]["text"].as_str().expect("a text").to_owned();

    assert!(refused["result"]["isError"] == true && message.contains("is in progress"), "{refused}");

    session.service.release().await;
    let answered = session.host.receive().await;

    assert_ne!(answered["result"]["isError"], true, "{answered}");
    assert!(ids.iter().all(|id| refused["id"] == *id || answered["id"] == *id));
    assert_eq!(session.count_records("list_jobs").await, before + 1);
}

/// After a cancellation the outcome is as unknown as after a lost connection.
#[tokio::test]
async fn a_cancelled_call_has_an_unknown_outcome() {
    let mut session = fixture().open().await;
    let before = session.count_records("list_jobs").await;
    session.service.fault(json!({"operation": "start_run", "after": true, "delay_ms": 60_000})).await;

    let id =
        session.host.start("tools/call", json!({"name": "start_run", "arguments": start_arguments()})).await;
    session.wait_for_request("POST /runs ").await;
    session.cancel_call(id).await;
    session.service.release().await;

    assert_eq!(session.host.fail("start_run", start_arguments()).await["code"], "conflict");
    assert_eq!(session.count_records("list_jobs").await, before + 1);
}

/// An equal call, which was sent before the repetition and ends during the repetition, does not admit a third call.
#[tokio::test]
async fn a_repetition_excludes_others_until_it_ends() {
    let mut session = fixture().open().await;
    let before = session.count_records("list_jobs").await;
    session.service.fault(json!({"operation": "start_run", "after": true, "delay_ms": 60_000})).await;

    let call = json!({"name": "start_run", "arguments": start_arguments()});
    let slow = session.host.start("tools/call", call.clone()).await;
    session.wait_for_request("POST /runs ").await;
    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;
    session.service.fault(json!({"operation": "list_jobs", "delay_ms": 60_000})).await;

    let repetition = session.host.start("tools/call", call).await;
    session.wait_for_request("GET /jobs?page=0&page_size=100").await;
    session.cancel_call(slow).await;

    let error = session.host.fail("start_run", start_arguments()).await;

    assert!(text(&error["message"]).contains("is in progress"), "{error}");

    session.service.release().await;
    let answered = session.host.answer(repetition).await;

    assert!(text(&answered["result"]["content"][0]["text"]).contains("conflict"), "{answered}");

    let error = session.host.fail("start_run", start_arguments()).await;

    assert_eq!(error["code"], "conflict", "the cancelled call has an unknown outcome of its own: {error}");
    assert_eq!(session.count_records("list_jobs").await, before + 1);
}

#[tokio::test]
async fn calls_of_different_projects_are_different() {
    let mut session = fixture().key(tas_mcp::sandbox::keys::ORGANIZATION).open().await;
    let folder = |project: &str| json!({"project_id": project, "name": "Fresh"});
    session.lose_answer("create_test_folder", &folder(seed::DEMO_PROJECT), reset_after_write()).await;
    session.host.succeed("create_test_folder", folder(seed::ARENA_PROJECT)).await;
    assert_eq!(session.host.fail("create_test_folder", folder(seed::DEMO_PROJECT)).await["code"], "conflict");
}
