//! Which calls are equal, and for how long.

use serde_json::json;
use tas_mcp::sandbox::seed;

use super::{Session, lost_after, lost_before, open, start, text};

impl Session {
    /// Waits until the service has got a request that begins like this.
    async fn until_asked(&self, line: &str) {
        while !self.service.requests().await.iter().any(|known| known.starts_with(line)) {
            tokio::task::yield_now().await;
        }
    }

    /// Cancels a call, and waits until the server has heard of it.
    async fn cancel(&mut self, id: u64) {
        let params = json!({"requestId": id});
        self.host
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await;
        assert!(self.host.request("ping", json!({})).await["error"].is_null());
    }
}

#[tokio::test]
async fn other_arguments_are_never_held_back() {
    let mut scene = open().await;
    scene.lose("start_run", &start(), lost_after()).await;

    let requests = scene.service.requests().await.len();
    let mut other = start();
    other["multiplayer_test_id"] = json!(seed::TEST_FLAKY);
    scene.host.succeed("start_run", other).await;

    let mut tagged = start();
    tagged["additional_tags"] = json!(["nightly"]);
    scene.host.succeed("start_run", tagged).await;

    assert_eq!(scene.service.requests().await.len(), requests + 2, "nobody looks");
}

#[tokio::test]
async fn order_spelling_and_consent_make_no_difference() {
    let mut scene = open().await;
    let first = json!({
        "multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_WINDOWS, "instances": 2,
    });
    scene.lose("start_run", &first, lost_after()).await;

    let same = json!({
        "confirm": true, "instances": "2", "build_id": null, "deployment_config_id": seed::CONFIG_WINDOWS,
        "multiplayer_test_id": seed::TEST_PASSES,
    });

    assert_eq!(scene.host.fail("start_run", same).await["code"], "conflict");
}

#[tokio::test]
async fn ids_are_equal_in_either_letter_case() {
    let mut scene = open().await;
    scene.lose("start_run", &start(), lost_after()).await;
    let mut upper = start();
    upper["deployment_config_id"] = json!(seed::CONFIG_WINDOWS.to_uppercase());
    assert_eq!(scene.host.fail("start_run", upper).await["code"], "conflict");
}

#[tokio::test]
async fn after_ten_minutes_it_is_forgotten() {
    let mut scene = open().await;
    let before = scene.count("list_jobs").await;
    scene.lose("start_run", &start(), lost_after()).await;
    scene.pass(588).await;
    scene
        .service
        .fault(json!({"operation": "list_jobs", "status": 503, "times": 10, "headers": {"retry-after": "0"}}))
        .await;

    assert_eq!(
        scene.host.fail("start_run", start()).await["code"],
        "outcome_unknown",
        "it is remembered for 600 s"
    );

    scene.service.heal().await;
    scene.pass(1).await;
    scene.host.succeed("start_run", start()).await;

    assert_eq!(scene.count("list_jobs").await, before + 2);
}

#[tokio::test]
async fn a_refusal_is_an_outcome() {
    let mut scene = open().await;
    let before = scene.count("list_jobs").await;
    scene.lose("start_run", &start(), lost_before()).await;
    scene.service.fault(json!({"operation": "start_run", "status": 400})).await;

    assert_eq!(scene.host.fail("start_run", start()).await["code"], "rejected");

    let requests = scene.service.requests().await.len();
    scene.host.succeed("start_run", start()).await;

    assert_eq!(scene.service.requests().await.len(), requests + 1, "nobody looks any more");
    assert_eq!(scene.count("list_jobs").await, before + 1);
}

#[tokio::test]
async fn of_two_repetitions_at_once_one_is_sent() {
    let mut scene = open().await;
    let before = scene.count("list_jobs").await;
    scene.lose("start_run", &start(), lost_before()).await;
    scene.service.fault(json!({"operation": "list_jobs", "delay_ms": 60_000})).await;

    let call = json!({"name": "start_run", "arguments": start()});
    let ids =
        [scene.host.start("tools/call", call.clone()).await, scene.host.start("tools/call", call).await];
    let refused = scene.host.receive().await;
    let said = refused["result"]["content"][0]["text"].as_str().expect("a text").to_owned();

    assert!(refused["result"]["isError"] == true && said.contains("is in progress"), "{refused}");

    scene.service.release().await;
    let answered = scene.host.receive().await;

    assert_ne!(answered["result"]["isError"], true, "{answered}");
    assert!(ids.iter().all(|id| refused["id"] == *id || answered["id"] == *id));
    assert_eq!(scene.count("list_jobs").await, before + 1);
}

/// A host that gives up waiting leaves the outcome as unknown as a lost connection does.
#[tokio::test]
async fn a_call_that_was_cancelled_under_way_is_looked_for() {
    let mut scene = open().await;
    let before = scene.count("list_jobs").await;
    scene.service.fault(json!({"operation": "start_run", "after": true, "delay_ms": 60_000})).await;

    let id = scene.host.start("tools/call", json!({"name": "start_run", "arguments": start()})).await;
    scene.until_asked("POST /runs ").await;
    scene.cancel(id).await;
    scene.service.release().await;

    assert_eq!(scene.host.fail("start_run", start()).await["code"], "conflict");
    assert_eq!(scene.count("list_jobs").await, before + 1);
}

/// Whoever sent at the same time as the first ends in the middle of the repetition, and does not end it.
#[tokio::test]
async fn a_repetition_is_the_only_one_until_it_ends_itself() {
    let mut scene = open().await;
    let before = scene.count("list_jobs").await;
    scene.service.fault(json!({"operation": "start_run", "after": true, "delay_ms": 60_000})).await;

    let call = json!({"name": "start_run", "arguments": start()});
    let slow = scene.host.start("tools/call", call.clone()).await;
    scene.until_asked("POST /runs ").await;
    scene.lose("start_run", &start(), lost_before()).await;
    scene.service.fault(json!({"operation": "list_jobs", "delay_ms": 60_000})).await;

    let repetition = scene.host.start("tools/call", call).await;
    scene.until_asked("GET /jobs?page=0&page_size=100").await;
    scene.cancel(slow).await;

    let error = scene.host.fail("start_run", start()).await;

    assert!(text(&error["message"]).contains("is in progress"), "{error}");

    scene.service.release().await;
    let told = scene.host.answer(repetition).await;

    assert!(text(&told["result"]["content"][0]["text"]).contains("conflict"), "{told}");

    let error = scene.host.fail("start_run", start()).await;

    assert_eq!(error["code"], "conflict", "the one that was cancelled is in doubt for itself: {error}");
    assert_eq!(scene.count("list_jobs").await, before + 1);
}

#[tokio::test]
async fn another_project_is_another_call() {
    let mut scene = super::open_with(tas_mcp::sandbox::keys::ORGANIZATION, &[]).await;
    let folder = |project: &str| json!({"project_id": project, "name": "Fresh"});
    scene.lose("create_test_folder", &folder(seed::DEMO_PROJECT), lost_after()).await;
    scene.host.succeed("create_test_folder", folder(seed::ARENA_PROJECT)).await;
    assert_eq!(scene.host.fail("create_test_folder", folder(seed::DEMO_PROJECT)).await["code"], "conflict");
}
