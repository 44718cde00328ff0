//! Subscriptions to runs, jobs and executions, on standard input and output.

use std::{sync::atomic::Ordering, time::Duration};

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::server::{MODERN, modern};
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    service::{Service, settings},
};

const UPDATED: &str = "notifications/resources/updated";

/// Real time in which a watcher of simulated time would have read its record many times.
const QUIET: Duration = Duration::from_millis(150);

/// Largest number of subscriptions of a session.
const MAX_SUBSCRIPTIONS: usize = 50;

fn run(id: &str) -> String {
    format!("tas://projects/demo/runs/{id}")
}

fn job(id: &str) -> String {
    format!("tas://projects/demo/jobs/{id}")
}

fn execution(id: &str) -> String {
    format!("tas://projects/demo/executions/{id}")
}

/// Returns URIs of one record: an id may be written in many ways.
fn spellings(id: &str) -> Vec<String> {
    let spell = |encoded: usize| {
        let character = |(index, byte): (usize, u8)| match encoded >> index & 1 {
            1 => format!("%{byte:02X}"),
            _ => char::from(byte).to_string(),
        };
        run(&id.bytes().enumerate().map(character).collect::<String>())
    };
    (0..=MAX_SUBSCRIPTIONS).map(spell).collect()
}

async fn subscribe(host: &mut Host, uri: &str) -> Value {
    host.request("resources/subscribe", json!({"uri": uri})).await
}

/// Starts to listen in the newest revision. Returns the id of the request.
async fn listen(host: &mut Host, uris: &[String]) -> u64 {
    let params = json!({"notifications": {"resourceSubscriptions": uris}, "_meta": modern(MODERN)});
    host.start("subscriptions/listen", params).await
}

/// Returns the messages until the answer to a request, and the answer.
async fn until_answer(host: &mut Host, id: u64) -> (Vec<Value>, Value) {
    let mut messages = Vec::new();
    loop {
        let message = host.receive().await;
        if message["id"] == id {
            return (messages, message);
        }
        messages.push(message);
    }
}

/// Returns the accepted URIs and the URIs of the updates. Checks that all messages belong to the request `id`.
fn notified(messages: &[Value], id: u64) -> (Value, Vec<String>) {
    for message in messages {
        let subscription = &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(subscription, &json!(id), "{message}");
    }
    let (acknowledged, updates) = messages.split_first().expect("an acknowledgement");
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    let uris = updates.iter().map(|update| {
        assert_eq!(update["method"], UPDATED, "{update}");
        update["params"]["uri"].as_str().expect("a URI").to_owned()
    });
    (acknowledged["params"]["notifications"]["resourceSubscriptions"].clone(), uris.collect())
}

/// Returns whether the service gets no request for a while.
async fn is_quiet(service: &Service) -> bool {
    // A request may be under way.
    tokio::time::sleep(QUIET).await;
    let before = service.requests().await.len();
    tokio::time::sleep(QUIET).await;
    service.requests().await.len() == before
}

/// Subscribes to a record that will be completed. Returns the number of updates.
async fn updates_of(service: &Service, host: &mut Host, uri: &str) -> usize {
    let id = host.start("resources/subscribe", json!({"uri": uri})).await;
    let (mut messages, answer) = until_answer(host, id).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    while !is_quiet(service).await {}
    // Everything that was sent comes before the answer to a ping.
    let id = host.start("ping", json!({})).await;
    messages.extend(until_answer(host, id).await.0);

    for message in &messages {
        assert_eq!((&message["method"], &message["params"]["uri"]), (&json!(UPDATED), &json!(uri)));
    }
    messages.len()
}

/// Returns whether a read of the resource says that the record is completed.
async fn is_completed(host: &mut Host, uri: &str) -> bool {
    let answer = host.request("resources/read", json!({"uri": uri, "_meta": modern(MODERN)})).await;
    let record = answer["result"]["contents"][0]["text"].as_str().expect("a text").to_owned();
    let record: Value = serde_json::from_str(&record).expect("JSON");
    let state = record.get("state").unwrap_or(&record["status"]);
    state.as_str().is_some_and(|state| state.eq_ignore_ascii_case("completed"))
}

#[tokio::test]
async fn a_session_hears_of_a_record_until_it_is_completed() {
    for uri in [run(seed::RUN_RUNNING), job(seed::JOB_QUEUED), execution(seed::EXECUTION_IN_PROGRESS)] {
        let Session { service, mut host, .. } = Fixture::new().simulated_time().open().await;
        assert!(!is_completed(&mut host, &uri).await, "{uri}");
        assert!(updates_of(&service, &mut host, &uri).await >= 1, "{uri}");
        assert!(is_completed(&mut host, &uri).await, "{uri}");

        // The subscription has ended. Another one tells what the host may have missed.
        assert_eq!(updates_of(&service, &mut host, &uri).await, 1, "{uri}");
    }
}

#[tokio::test]
async fn a_request_hears_of_records_until_all_of_them_are_completed() {
    let Session { service, mut host, .. } = Fixture::new().simulated_time().connect().await;
    let uris = [
        run(seed::RUN_RUNNING),
        job(seed::JOB_QUEUED),
        execution(seed::EXECUTION_IN_PROGRESS),
        run(seed::RUN_PASSED),
    ];
    let id = listen(&mut host, &uris).await;
    let (messages, answer) = until_answer(&mut host, id).await;
    let (accepted, updates) = notified(&messages, id);

    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert_eq!(accepted.as_array().map(Vec::len), Some(4), "{accepted}");
    for uri in &uris {
        assert!(updates.contains(uri), "{uri}: {updates:?}");
    }
    // The state of a completed record is told once.
    assert_eq!(updates.iter().filter(|uri| **uri == uris[3]).count(), 1);
    // A job in the queue is started before it is completed.
    assert!(updates.iter().filter(|uri| **uri == uris[1]).count() >= 2, "{updates:?}");
    assert!(is_quiet(&service).await);
}

#[tokio::test]
async fn the_pauses_between_reads_grow() {
    let Session { service, clock, mut host, .. } = Fixture::new().simulated_time().connect().await;
    let id = listen(&mut host, &[execution(seed::EXECUTION_QUEUED)]).await;
    until_answer(&mut host, id).await;

    let reads = service.requests().await.into_iter().filter(|line| line.contains("/test-plan-executions/"));
    let (reads, pauses) = (reads.count(), clock.pauses());
    assert_eq!(reads, pauses.len() + 1);
    assert!(pauses.iter().all(|pause| (1..=31).contains(&pause.as_secs())), "{pauses:?}");
    assert!(pauses.last() > pauses.first(), "{pauses:?}");
}

#[tokio::test]
async fn only_records_that_end_can_be_subscribed_to() {
    let mut host = Host::open(&settings(&[("TAS_TOOLSETS", "-get_job")])).await;
    for (uri, code, part) in [
        ("tas://projects/demo/bugs/x".to_owned(), -32602, "runs, jobs and executions"),
        ("skill://triage-run/SKILL.md".to_owned(), -32002, "does not begin with"),
        (job("x"), -32002, "excludes its tool `get_job`"),
    ] {
        let error = subscribe(&mut host, &uri).await["error"].clone();
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().expect("a message").contains(part), "{error}");
    }

    let mut host = Host::connect(&settings(&[]));
    let id = listen(&mut host, &["tas://projects/demo/bugs/x".to_owned(), "x".to_owned()]).await;
    let (messages, answer) = until_answer(&mut host, id).await;
    assert_eq!(notified(&messages, id), (Value::Null, Vec::new()));
    assert_eq!(answer["result"]["resultType"], "complete", "nothing will ever be told");

    // The lists do not change while the server runs.
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": modern(MODERN)});
    let id = host.start("subscriptions/listen", params).await;
    let (messages, answer) = until_answer(&mut host, id).await;
    assert_eq!(messages[0]["params"]["notifications"], json!({}));
    assert_eq!((messages.len(), &answer["result"]["resultType"]), (1, &json!("complete")), "{answer}");

    let mut host = Host::connect(&settings(&[("TAS_TOOLSETS", "builds")]));
    let params = json!({"notifications": {"resourceSubscriptions": [run("x")]}, "_meta": modern(MODERN)});
    assert_eq!(host.request("subscriptions/listen", params).await["error"]["code"], -32601);
}

#[tokio::test]
async fn a_credential_is_told_nothing_about_records_that_it_cannot_read() {
    let of_arena = format!("tas://projects/arena/runs/{}", seed::ARENA_RUN_RUNNING);
    for (key, uri, code) in [
        (keys::ARENA, run(seed::RUN_RUNNING), "permission_denied"),
        (keys::DEMO, of_arena, "permission_denied"),
        (keys::DEMO, run("nothing"), "project_not_resolved"),
    ] {
        let Session { service: _service, mut host, .. } =
            Fixture::new().key(key).simulated_time().open().await;
        let error = subscribe(&mut host, &uri).await["error"].clone();
        assert_eq!(error["data"]["error"]["code"], code, "{key} {uri}: {error}");

        let Session { service: _service, mut host, .. } =
            Fixture::new().key(key).simulated_time().connect().await;
        let id = listen(&mut host, std::slice::from_ref(&uri)).await;
        let (messages, answer) = until_answer(&mut host, id).await;
        assert_eq!(notified(&messages, id).1, [""; 0], "{key} {uri}");
        assert_eq!(answer["result"]["resultType"], "complete");
    }
}

#[tokio::test]
async fn a_session_has_a_largest_number_of_subscriptions() {
    let Session { service: _service, clock, mut host, .. } = Fixture::new().simulated_time().open().await;
    clock.stands_still.store(true, Ordering::Relaxed);
    let uris = spellings(seed::RUN_RUNNING);

    for uri in &uris[..MAX_SUBSCRIPTIONS] {
        assert_eq!(subscribe(&mut host, uri).await["result"], json!({}), "{uri}");
    }
    let refused = subscribe(&mut host, &uris[MAX_SUBSCRIPTIONS]).await;
    assert!(refused["error"]["message"].as_str().expect("a message").contains("at most 50"), "{refused}");
    assert_eq!(subscribe(&mut host, &uris[0]).await["result"], json!({}), "it is subscribed to already");

    host.request("resources/unsubscribe", json!({"uri": uris[0]})).await;
    // The task of the subscription ends at once, but on its own.
    while subscribe(&mut host, &uris[MAX_SUBSCRIPTIONS]).await["error"].is_object() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_request_has_a_largest_number_of_records() {
    let Session { service: _service, clock, mut host, .. } = Fixture::new().simulated_time().connect().await;
    clock.stands_still.store(true, Ordering::Relaxed);
    let uris = spellings(seed::RUN_RUNNING);
    let first = listen(&mut host, &uris).await;
    let acknowledged = host.receive().await;
    let accepted = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(accepted.as_array().map(Vec::len), Some(MAX_SUBSCRIPTIONS), "{acknowledged}");

    // No place is left, until the first request ends.
    let second = listen(&mut host, &uris[..1]).await;
    let (messages, _) = until_answer(&mut host, second).await;
    assert_eq!(notified(&messages, second).0, Value::Null);

    host.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": first}}),
    )
    .await;
    loop {
        let id = listen(&mut host, &uris[..1]).await;
        let acknowledged = host.receive().await;
        if acknowledged["params"]["notifications"]["resourceSubscriptions"].is_array() {
            break;
        }
        until_answer(&mut host, id).await;
    }
}

#[tokio::test]
async fn nothing_is_read_after_a_subscription_or_a_session_has_ended() {
    for ends_session in [false, true] {
        // The run never ends, and pauses end at once.
        let Session { service, mut host, .. } = Fixture::new().simulated_time_alone().open().await;
        let uri = run(seed::RUN_RUNNING);
        subscribe(&mut host, &uri).await;
        assert!(!is_quiet(&service).await, "the run is watched");

        if ends_session {
            drop(host);
            // Calls may go on for a moment after the end of the input.
            tokio::time::sleep(Duration::from_secs(1)).await;
        } else {
            assert_eq!(host.request("resources/unsubscribe", json!({"uri": uri})).await["result"], json!({}));
        }
        assert!(is_quiet(&service).await, "ends_session: {ends_session}");
    }
}

#[tokio::test]
async fn nothing_is_read_after_a_request_was_cancelled() {
    let Session { service, mut host, .. } = Fixture::new().simulated_time_alone().connect().await;
    let id = listen(&mut host, &[run(seed::RUN_RUNNING)]).await;
    host.receive().await;
    assert!(!is_quiet(&service).await, "the run is watched");

    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))
        .await;
    assert!(is_quiet(&service).await);
}

#[tokio::test]
async fn a_short_failure_of_the_service_ends_nothing() {
    let uri = run(seed::RUN_RUNNING);
    // The client repeats a request that was answered with 503 itself.
    for (status, times) in [(503, 20), (404, 3)] {
        let Session { service, mut host, .. } = Fixture::new().simulated_time().connect().await;
        let id = listen(&mut host, std::slice::from_ref(&uri)).await;
        host.receive().await;
        service.fault(json!({"operation": "get_run", "status": status, "times": times})).await;
        let (mut messages, answer) = until_answer(&mut host, id).await;
        messages.retain(|message| message["method"] == UPDATED);

        assert_eq!(answer["result"]["resultType"], "complete");
        assert!(!messages.is_empty(), "{status}");
        assert!(is_completed(&mut host, &uri).await, "{status}: the subscription ended before the run");
    }
}

#[tokio::test]
async fn a_failure_that_lasts_ends_a_subscription() {
    // A temporary failure is news that a read shows; a refusal may not even tell that.
    for (status, updates) in [(503, 1), (403, 0)] {
        let Session { service, mut host, .. } = Fixture::new().simulated_time_alone().connect().await;
        let id = listen(&mut host, &[run(seed::RUN_RUNNING)]).await;
        host.receive().await;
        // The run was read before the service fails.
        while service.requests().await.is_empty() {}
        service.fault(json!({"operation": "get_run", "status": status, "times": 100_000})).await;
        let (messages, answer) = until_answer(&mut host, id).await;
        assert_eq!(
            (messages.len(), &answer["result"]["resultType"]),
            (updates, &json!("complete")),
            "{status}"
        );
        assert!(is_quiet(&service).await, "{status}");
    }
}

#[tokio::test]
async fn each_revision_has_its_own_way_to_subscribe() {
    let mut host = Host::connect(&settings(&[]));
    let params = json!({"_meta": modern(MODERN)});
    let discovered = host.request("server/discover", params).await["result"]["capabilities"].clone();
    assert_eq!(discovered["resources"], json!({"subscribe": true}));
    for params in [json!({"uri": run("x"), "_meta": modern(MODERN)}), json!({"_meta": modern(MODERN)})] {
        assert_eq!(host.request("resources/subscribe", params).await["error"]["code"], -32601);
    }

    let mut host = Host::connect(&settings(&[]));
    let initialized = host.initialize("2025-11-25").await["capabilities"].clone();
    assert_eq!(initialized["resources"], json!({"subscribe": true}));
    let params = json!({"notifications": {"resourceSubscriptions": [run("x")]}});
    assert_eq!(host.request("subscriptions/listen", params).await["error"]["code"], -32601);

    let mut host = Host::connect(&settings(&[("TAS_TOOLSETS", "builds")]));
    assert_eq!(host.initialize("2025-11-25").await["capabilities"]["resources"], json!({}));
}
