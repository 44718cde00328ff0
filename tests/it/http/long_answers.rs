//! Long answers of the service: each credential has a share of the memory for them, which its calls wait for.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest},
    peer::{Answers, Peer, Step},
};

/// Id of a job.
const JOB: &str = "3f2b8c1e-7a4d-4e59-9b60-1c2d3e4f5a6b";

/// Time in which the server reads what has arrived.
const READING: Duration = Duration::from_millis(300);

/// Longest wait for a call. After this a test fails instead of hanging.
const CALL_LIMIT: Duration = Duration::from_secs(20);

/// Returns the answer with a record. It states no length, so that a long one takes the memory of the longest answer.
fn record(text_length: usize) -> String {
    let record = json!({
        "multiplayer_run_id": seed::RUN_PASSED, "job_id": JOB, "status": "completed",
        "project_id": "demo", "text": "x".repeat(text_length),
    });
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{record}")
}

/// A service that answers with long records. The end of the answer about the run `held` comes when a permit is added.
async fn long_records() -> (Peer, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let end = Arc::clone(&gate);
    let answers: Answers = Arc::new(move |request| {
        let answer = record(if request.contains("/short") { 100 } else { 100_000 });
        let (start, rest) = answer.split_at(answer.len() - 1);
        let start = Step::Send(start.to_owned().into());
        let rest = Step::Send(rest.to_owned().into());
        let waiting = request.contains("/held").then(|| Step::Wait(Arc::clone(&end)));
        [start].into_iter().chain(waiting).chain([rest]).collect()
    });

    (Peer::serving(answers).await, gate)
}

fn start_server(peer: &Peer, more: &[(&str, &str)]) -> HttpUnderTest {
    HttpUnderTest::start(&peer.settings("", &[&FREE_PORTS[..], more].concat()))
}

async fn get_run(server: &HttpUnderTest, key: &str, run: &str) -> Value {
    let headers = [("x-api-key", key)];
    let call = server.call("/mcp", &headers, "get_run", json!({"run_id": run}));
    timeout(CALL_LIMIT, call).await.expect("a result in time")
}

#[tokio::test]
async fn a_long_answer_waits_for_the_memory_of_its_credential_and_others_do_not() {
    let (mut service, gate) = long_records().await;
    let server = start_server(&service, &[]);

    let held = get_run(&server, keys::DEMO, "held");
    let others = async {
        service.next().await;
        sleep(READING).await;

        let mut waiting = Box::pin(get_run(&server, keys::DEMO, "long"));
        let early = timeout(READING, &mut waiting).await;
        assert!(early.is_err(), "the memory of the credential is in use: {early:?}");
        let short = get_run(&server, keys::DEMO, "short").await;
        let other = get_run(&server, keys::ARENA, "long").await;
        gate.add_permits(1);
        (short, other, waiting.await)
    };
    let (held, (short, other, waited)) = tokio::join!(held, others);

    for result in [held, short, other, waited] {
        assert_eq!(result["isError"], false, "{result}");
    }
}

#[tokio::test]
async fn a_cancelled_call_leaves_its_memory_to_the_next_one() {
    let (mut service, _gate) = long_records().await;
    let server = start_server(&service, &[]);
    // The share of a key is remembered after the service has accepted it.
    get_run(&server, keys::DEMO, "short").await;
    service.next().await;

    let held = timeout(READING, get_run(&server, keys::DEMO, "held")).await;
    assert!(held.is_err(), "{held:?}");
    service.next().await;

    let next = get_run(&server, keys::DEMO, "long").await;
    assert_eq!(next["isError"], false, "{next}");
}

#[tokio::test]
async fn a_call_that_reads_several_long_answers_does_not_wait_for_itself() {
    let (mut service, _gate) = long_records().await;
    let server = start_server(&service, &[("TAS_TIMEOUT_S", "2"), ("TAS_PROJECTS", "demo")]);

    // The owners of the jobs are looked up, and each record takes the whole memory of the credential.
    let jobs = json!({"job_ids": [JOB, JOB.replace('0', "1")]});
    let call = server.call("/mcp", &[("x-api-key", keys::ORGANIZATION)], "stop_runs", jobs);
    let result = timeout(CALL_LIMIT, call).await.expect("a result in time");

    let requests = service.requests();
    assert!(requests.iter().any(|request| request.starts_with("POST")), "{requests:?} {result}");
}
