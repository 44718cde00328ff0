//! Repeated calls at another process that shares a store with the first one.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Session, creating_calls, fixture, reset_after_write, reset_before_write, start_arguments, text};
use crate::support::{
    host::Host,
    memory_store::{MemoryStore, StoreFault},
};

/// Two processes with one store. The host of the session is that of the first process.
struct Replicas {
    session: Session,
    other: Host,
    store: Arc<MemoryStore>,
}

impl Replicas {
    async fn open() -> Self {
        let mut session = fixture().open().await;
        let store = MemoryStore::new(session.clock.clone());
        session.host = session.sharing_host(&store).await;
        let other = session.sharing_host(&store).await;

        Self { session, other, store }
    }
}

#[tokio::test]
async fn a_lost_call_is_reported_by_another_process() {
    for call in creating_calls() {
        let mut replicas = Replicas::open().await;
        let before = replicas.session.count_records(call.list).await;
        replicas.session.lose_answer(call.tool, &call.arguments, reset_after_write()).await;

        let error = replicas.other.fail(call.tool, call.arguments.clone()).await;

        assert_eq!(error["code"], "conflict", "{}: {error}", call.tool);
        assert!(text(&error["message"]).contains("12 s ago"), "{}: {error}", call.tool);
        assert_eq!(error["details"]["found_count"], 1, "{}: {error}", call.tool);
        assert_eq!(replicas.session.count_records(call.list).await, before + 1, "{}", call.tool);
    }
}

#[tokio::test]
async fn a_call_that_did_not_happen_is_sent_by_another_process() {
    let mut replicas = Replicas::open().await;
    let before = replicas.session.count_records("list_jobs").await;
    replicas.session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;

    replicas.other.succeed("start_run", start_arguments()).await;

    let requests = replicas.session.service.requests().await;
    assert!(requests.iter().any(|line| line.starts_with("GET /jobs?")), "{requests:?}");
    assert_eq!(replicas.session.count_records("list_jobs").await, before + 1);
}

#[tokio::test]
async fn a_reported_call_is_sent_again_by_the_first_process() {
    let mut replicas = Replicas::open().await;
    let before = replicas.session.count_records("list_jobs").await;
    replicas.session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;
    assert_eq!(replicas.other.fail("start_run", start_arguments()).await["code"], "conflict");

    replicas.session.host.succeed("start_run", start_arguments()).await;
    replicas.other.succeed("start_run", start_arguments()).await;

    assert_eq!(replicas.session.count_records("list_jobs").await, before + 3);
}

#[tokio::test]
async fn a_call_with_a_known_outcome_leaves_no_entry() {
    let mut replicas = Replicas::open().await;
    replicas.session.host.succeed("start_run", start_arguments()).await;
    assert!(replicas.store.values().is_empty(), "{:?}", replicas.store.values());

    let requests = replicas.session.service.requests().await.len();
    replicas.other.succeed("start_run", start_arguments()).await;

    assert_eq!(replicas.session.service.requests().await.len(), requests + 1, "no list is read");
}

#[tokio::test]
async fn entries_contain_neither_arguments_nor_keys() {
    let mut replicas = Replicas::open().await;
    let folder = json!({"name": "planted-name"});
    replicas.session.lose_answer("create_test_folder", &folder, reset_after_write()).await;

    let values = replicas.store.values().concat();

    assert!(values.contains("unsettled"), "{values}");
    assert!(!values.contains("planted") && !values.contains(tas_mcp::sandbox::keys::DEMO), "{values}");
}

#[tokio::test]
async fn one_of_two_repetitions_in_different_processes_is_sent() {
    check_repetition_during_another(true).await;
}

#[tokio::test]
async fn one_of_two_repetitions_in_one_other_process_is_sent() {
    check_repetition_during_another(false).await;
}

/// Checks that a repetition is refused while the second process makes another one. The refused repetition is in the second
/// or in a third process.
async fn check_repetition_during_another(is_in_third_process: bool) {
    let mut replicas = Replicas::open().await;
    let before = replicas.session.count_records("list_jobs").await;
    replicas.session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;
    replicas.session.service.fault(json!({"operation": "list_jobs", "delay_ms": 60_000})).await;

    let repetition = replicas.other.start("tools/call", start_call()).await;
    replicas.session.wait_for_request("GET /jobs?page=0&page_size=100").await;
    let error = if is_in_third_process {
        let mut third = replicas.session.sharing_host(&replicas.store).await;
        third.fail("start_run", start_arguments()).await
    } else {
        replicas.other.fail("start_run", start_arguments()).await
    };
    assert!(text(&error["message"]).contains("is in progress"), "{error}");

    replicas.session.service.release().await;
    let answered = replicas.other.answer(repetition).await;
    assert_ne!(answered["result"]["isError"], true, "{answered}");
    assert_eq!(replicas.session.count_records("list_jobs").await, before + 1);
}

/// A process that was killed does not release the entry of its repetition.
#[tokio::test]
async fn a_repetition_that_never_ends_excludes_others_for_a_minute() {
    let mut replicas = Replicas::open().await;
    replicas.session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;
    replicas.session.service.fault(json!({"operation": "list_jobs", "status": 400})).await;
    // The first two operations start the repetition. The last one would end it.
    replicas.store.fail_after(2);
    assert_eq!(replicas.other.fail("start_run", start_arguments()).await["code"], "outcome_unknown");
    replicas.store.heal();

    let error = replicas.session.host.fail("start_run", start_arguments()).await;
    assert!(text(&error["message"]).contains("is in progress"), "{error}");

    replicas.session.advance(61).await;
    replicas.session.host.succeed("start_run", start_arguments()).await;
}

#[tokio::test]
async fn a_cancelled_call_is_reported_by_another_process() {
    let mut replicas = Replicas::open().await;
    replicas
        .session
        .service
        .fault(json!({"operation": "start_run", "after": true, "delay_ms": 60_000}))
        .await;

    let id = replicas.session.host.start("tools/call", start_call()).await;
    replicas.session.wait_for_request("POST /runs ").await;
    replicas.session.cancel_call(id).await;
    replicas.session.service.release().await;

    assert_eq!(replicas.other.fail("start_run", start_arguments()).await["code"], "conflict");
}

#[tokio::test]
async fn a_cancelled_repetition_is_continued_by_another_process() {
    let mut replicas = Replicas::open().await;
    replicas.session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;
    replicas.session.service.fault(json!({"operation": "list_jobs", "delay_ms": 60_000})).await;
    let repetition = replicas.session.host.start("tools/call", start_call()).await;
    replicas.session.wait_for_request("GET /jobs?page=0&page_size=100").await;

    replicas.session.cancel_call(repetition).await;
    replicas.session.service.release().await;

    replicas.other.succeed("start_run", start_arguments()).await;
}

#[tokio::test]
async fn equal_calls_of_one_process_at_the_same_time_are_sent() {
    let mut replicas = Replicas::open().await;
    let before = replicas.session.count_records("list_jobs").await;
    replicas
        .session
        .service
        .fault(json!({"operation": "start_run", "after": true, "delay_ms": 60_000}))
        .await;

    let slow = replicas.session.host.start("tools/call", start_call()).await;
    replicas.session.wait_for_request("POST /runs ").await;
    replicas.session.host.succeed("start_run", start_arguments()).await;
    replicas.session.service.release().await;

    assert_ne!(replicas.session.host.answer(slow).await["result"]["isError"], true);
    assert_eq!(replicas.session.count_records("list_jobs").await, before + 2);
}

#[tokio::test]
async fn a_lost_call_is_forgotten_after_ten_minutes() {
    let mut replicas = Replicas::open().await;
    replicas.session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;
    // 12 seconds have passed in `lose_answer`.
    replicas.session.advance(588).await;
    let requests = replicas.session.service.requests().await.len();

    replicas.other.succeed("start_run", start_arguments()).await;

    assert_eq!(replicas.session.service.requests().await.len(), requests + 1, "no list is read");
}

#[tokio::test]
async fn without_the_store_each_process_remembers_its_own_calls() {
    let mut replicas = Replicas::open().await;
    let before = replicas.session.count_records("list_jobs").await;
    replicas.store.fail(StoreFault::BeforeEffect, 1_000);
    replicas.session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;

    replicas.other.succeed("start_run", start_arguments()).await;
    let error = replicas.session.host.fail("start_run", start_arguments()).await;

    assert_eq!(error["code"], "conflict", "{error}");
    assert_eq!(replicas.session.count_records("list_jobs").await, before + 2);
}

#[tokio::test]
async fn a_call_that_was_sent_without_the_store_is_recorded_when_its_outcome_is_unknown() {
    let mut replicas = Replicas::open().await;
    replicas.store.fail(StoreFault::BeforeEffect, 1);
    replicas.session.lose_answer("start_run", &start_arguments(), reset_after_write()).await;

    let error = replicas.other.fail("start_run", start_arguments()).await;

    assert_eq!(error["code"], "conflict", "{error}");
}

#[tokio::test]
async fn an_entry_is_removed_even_if_the_store_did_not_confirm_it() {
    let mut replicas = Replicas::open().await;
    replicas.store.fail(StoreFault::AfterEffect, 1);

    replicas.session.host.succeed("start_run", start_arguments()).await;

    assert!(replicas.store.values().is_empty(), "{:?}", replicas.store.values());
}

fn start_call() -> Value {
    json!({"name": "start_run", "arguments": start_arguments()})
}
