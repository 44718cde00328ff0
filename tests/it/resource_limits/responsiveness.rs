//! The server stays responsive while it works on a long answer.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{process::Command, sync::Semaphore};

use super::{CALL, PROJECT, ServerProcess, answer, steps};
use crate::support::peer::{Peer, Step};

/// Pings that are answered while the server works on an answer. Work on the serving thread would let one or two pass.
const PINGS: u64 = 10;

/// Maximum time until the process exits, with a margin for a busy machine.
const EXIT_LIMIT: Duration = Duration::from_secs(10);

/// An answer to `get_run` that takes long to convert.
struct LongAnswer {
    name: &'static str,
    status: &'static str,
    body: String,
    /// Pings that are answered after the end of the body and before the answer to the call.
    pings: u64,
}

fn long_answers() -> [LongAnswer; 5] {
    let success = |name, fields: String| {
        let body = format!(r#"{{"multiplayer_run_id":"x",{fields}}}"#);
        LongAnswer { name, status: "200 OK", body, pings: PINGS }
    };
    let text = format!("\"{}\"", "y".repeat(520));
    let fields: Vec<_> = (0..50_000).map(|index| format!(r#""field_{index}":{index}"#)).collect();
    let nested = format!("{}{}", "[".repeat(100), "]".repeat(100));

    [
        success("4 MB of empty lists", format!(r#""l":[{}]"#, vec!["[]"; 1_300_000].join(","))),
        success("nested lists", format!(r#""l":[{}]"#, vec![nested; 2_400].join(","))),
        success("11 MB of texts", format!(r#""l":[{}]"#, vec![text; 20_000].join(","))),
        success("50,000 fields", fields.join(",")),
        LongAnswer {
            name: "15 MB of an error",
            status: "400 Bad Request",
            body: format!(r#"{{"error":"{}"}}"#, "e".repeat(15_000_000)),
            // Only the beginning of an error is read, which is fast.
            pings: 0,
        },
    ]
}

/// Starts a call of `get_run` whose answer is complete except for its last byte. Returns the semaphore that sends it.
async fn start_call(
    long: &LongAnswer,
    variables: &[(&str, &str)],
    arguments: Value,
) -> (Peer, ServerProcess, Arc<Semaphore>) {
    let mut bytes = bytes::Bytes::from(answer(long.status, "application/json", long.body.as_bytes()));
    let last = bytes.split_off(bytes.len() - 1);
    let permits = Arc::new(Semaphore::new(0));
    let answers = steps(vec![Step::Send(bytes), Step::Wait(Arc::clone(&permits)), Step::Send(last)]);

    let peer = Peer::serving(answers).await;
    let mut process = ServerProcess::start(&peer, variables).await;
    process.call(CALL, "get_run", arguments).await;

    let mut id = 1_000;
    while unread_bytes(&process, &peer) != Some(0) {
        process.ping(id).await.expect("the call cannot be answered yet");
        id += 1;
    }

    (peer, process, permits)
}

/// Returns the number of bytes that the process has not yet read from its connection to `peer`, if it has one.
fn unread_bytes(process: &ServerProcess, peer: &Peer) -> Option<u64> {
    let connections = std::fs::read_to_string(process.system_file("net/tcp")).expect("the process is there");
    let port = format!(":{:04X}", peer.address().port());

    // Fields: number, local address, remote address, state, and the lengths of both queues.
    let queues = connections.lines().find_map(|line| {
        let mut fields = line.split_whitespace().skip(2);
        let (remote, _state, queues) = (fields.next()?, fields.next()?, fields.next()?);
        remote.ends_with(&port).then_some(queues)
    })?;
    let (_, unread) = queues.split_once(':')?;

    u64::from_str_radix(unread, 16).ok()
}

/// Asserts that pings are answered before the answer to the call.
async fn assert_responsive(long: &LongAnswer, variables: &[(&str, &str)], arguments: Value) {
    let (_peer, mut process, permits) = start_call(long, variables, arguments).await;

    permits.add_permits(1);
    for ping in 0..long.pings {
        let answered = process.ping(2 + ping).await;
        assert!(answered.is_ok(), "{}: the call is answered before ping {ping}", long.name);
    }

    let answer = process.receive().await;
    assert_eq!(answer["id"], CALL, "{}", long.name);
}

#[tokio::test]
async fn a_ping_is_answered_during_the_work_on_a_long_answer() {
    for long in long_answers() {
        assert_responsive(&long, &[PROJECT], json!({"run_id": "x"})).await;
    }
}

#[tokio::test]
async fn a_ping_is_answered_while_the_owner_is_read_from_a_long_answer() {
    let [_, _, mut texts, ..] = long_answers();
    texts.body = texts.body.replacen('{', r#"{"project_id":"demo","#, 1);

    // The look-up ends the call, because another project owns the run.
    assert_responsive(&texts, &[], json!({"run_id": "x", "project_id": "other"})).await;
}

#[tokio::test]
async fn a_signal_ends_the_process_during_the_work_on_a_long_answer() {
    for long in long_answers() {
        let (_peer, mut process, permits) = start_call(&long, &[PROJECT], json!({"run_id": "x"})).await;
        let id = process.child.id().expect("it runs").to_string();

        permits.add_permits(1);
        let killed = Command::new("kill").args(["-TERM", &id]).status().await.expect("kill is there");
        assert!(killed.success());

        let ended = tokio::time::timeout(EXIT_LIMIT, process.child.wait()).await.expect("in time");
        assert!(ended.expect("a status").success(), "{}", long.name);
    }
}
