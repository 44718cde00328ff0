//! The table of faults: the injected faults, the outcome of the upload, the bytes that are sent twice, and the uploads
//! that remain at the service.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{PART, bytes, fixture, text};

/// Injected faults, and the expected outcome.
struct FaultCase {
    fault: &'static str,
    faults: Vec<Value>,
    /// `uploaded`, or the code of the failure.
    outcome: &'static str,
    /// Maximum number of bytes that are sent twice.
    again: u64,
    /// Number of uploads that remain at the service.
    left: usize,
    /// Size of the file in bytes.
    size: usize,
}

fn case(fault: &'static str, faults: &[Value], outcome: &'static str, again: u64) -> FaultCase {
    FaultCase { fault, faults: faults.to_vec(), outcome, again, left: 0, size: SIZE }
}

fn part(more: Value) -> Value {
    fault_of("put_part", more)
}

/// Returns a fault of an operation. The client repeats requests without a pause.
fn fault_of(operation: &str, mut more: Value) -> Value {
    more["operation"] = json!(operation);
    if more["status"].is_u64() {
        more["headers"] = json!({"retry-after": "0"});
    }
    more
}

/// Two parts of 1,000 bytes and one of 500.
const SIZE: usize = 2_500;

fn part_faults() -> Vec<FaultCase> {
    let no_such_upload =
        json!({"status": 404, "body": "<Error><Code>NoSuchUpload</Code><Message>m</Message></Error>"});
    let refusal = |code| json!({"status": 400, "body": format!("<Error><Code>{code}</Code></Error>")});
    let [expired, request_expired] = ["ExpiredToken", "RequestExpired"].map(refusal);
    let one = |fault, more, outcome, again| case(fault, &[part(more)], outcome, again);

    vec![
        one("part: 500", json!({"status": 500}), "uploaded", 1_000),
        one("part: 503, four times", json!({"status": 503, "times": 4}), "uploaded", 4_000),
        one("part: 429", json!({"status": 429}), "uploaded", 1_000),
        one("part: connection reset", json!({"reset": true}), "uploaded", 1_000),
        one("part: stored, then reset", json!({"reset": true, "after": true}), "uploaded", 1_000),
        one("part: stored, then 500", json!({"status": 500, "after": true}), "uploaded", 1_000),
        one("part: delay", json!({"delay_ms": 50, "times": 3}), "uploaded", 0),
        one("part: address refused (403)", json!({"status": 403, "times": 3}), "uploaded", 3_000),
        one("part: error cut short", json!({"status": 500, "truncate": true}), "uploaded", 1_000),
        one("part: 500, for good", json!({"status": 500, "times": 50}), "service_unavailable", 12_000),
        one("part: address refused (401)", json!({"status": 401}), "uploaded", 1_000),
        one("part: address refused (410)", json!({"status": 410}), "uploaded", 1_000),
        one("part: 400 ExpiredToken", expired, "uploaded", 1_000),
        one("part: 400 RequestExpired", request_expired, "uploaded", 1_000),
        one("part: 403, for good", json!({"status": 403, "times": 50}), "rejected", 12_000),
        one("part: 404 NoSuchUpload", no_such_upload, "rejected", 0),
        one("part: 400", json!({"status": 400}), "rejected", 0),
        one("part: 200 without an ETag", json!({"status": 200}), "bad_response", 0),
    ]
}

fn address_faults() -> Vec<FaultCase> {
    let one = |fault, more, outcome| case(fault, &[fault_of("get_build_upload_parts", more)], outcome, 0);
    vec![
        one("addresses: 503", json!({"status": 503}), "uploaded"),
        one("addresses: 500, twice", json!({"status": 500, "times": 2}), "uploaded"),
        one("addresses: connection reset", json!({"reset": true}), "uploaded"),
        one("addresses: cut short", json!({"truncate": true}), "uploaded"),
        one("addresses: 400", json!({"status": 400}), "rejected"),
        one("addresses: 503, for good", json!({"status": 503, "times": 50}), "service_unavailable"),
    ]
}

fn completion_faults() -> Vec<FaultCase> {
    let one = |fault, more, outcome| case(fault, &[fault_of("complete_build_upload", more)], outcome, 0);
    vec![
        one("complete: 503", json!({"status": 503}), "uploaded"),
        one("complete: connection reset", json!({"reset": true}), "uploaded"),
        one("complete: done, then reset", json!({"reset": true, "after": true}), "uploaded"),
        one("complete: done, then 500", json!({"status": 500, "after": true}), "uploaded"),
        one("complete: 400", json!({"status": 400}), "rejected"),
        one("complete: 503, for good", json!({"status": 503, "times": 50}), "service_unavailable"),
        one("complete: reset, for good", json!({"reset": true, "times": 50}), "outcome_unknown"),
    ]
}

fn initiation_faults() -> Vec<FaultCase> {
    let one = |fault, more, outcome| case(fault, &[fault_of("initiate_build_upload", more)], outcome, 0);
    vec![
        one("initiate: 500", json!({"status": 500}), "service_unavailable"),
        one("initiate: 503", json!({"status": 503}), "service_unavailable"),
        one("initiate: connection reset", json!({"reset": true}), "outcome_unknown"),
        // The id of the upload is lost with the answer, so that the upload cannot be cancelled.
        FaultCase {
            left: 1,
            ..one("initiate: done, then reset", json!({"reset": true, "after": true}), "outcome_unknown")
        },
    ]
}

fn cancellation_faults() -> Vec<FaultCase> {
    let one = |fault, more| {
        let failure = part(json!({"status": 500, "times": 5}));
        let faults = [failure, fault_of("cancel_build_upload", more)];
        // The file has one part, so that all faults of parts apply to it.
        FaultCase { size: PART, ..case(fault, &faults, "service_unavailable", 4_000) }
    };

    vec![
        one("part: 500 for good; cancel: 503", json!({"status": 503})),
        one("part: 500 for good; cancel: done, then reset", json!({"reset": true, "after": true})),
        FaultCase {
            left: 1,
            ..one("part: 500 for good; cancel: 503 for good", json!({"status": 503, "times": 5}))
        },
    ]
}

/// Uploads a file with the faults of a case. Returns the outcome, the number of bytes that were sent twice, and the number
/// of uploads that remain.
async fn upload_with_faults(case: &FaultCase) -> (String, u64, usize) {
    let mut session = fixture().open().await;
    let file = bytes(case.size);
    session.write("game.apk", &file);

    for fault in &case.faults {
        session.service.fault(fault.clone()).await;
    }

    let result = session.host.call("upload_build", json!({"path": "game.apk"})).await;
    let (left, files) = session.leftovers().await;
    let build = &result["structuredContent"];
    if build["status"] == "uploaded" {
        assert_eq!(session.service.content(text(&build["build_id"])).await, Some(file), "{}", case.fault);
        assert_eq!((left, session.states()), (0, vec![]), "{}", case.fault);
        return ("uploaded".to_owned(), build["bytes_sent_again"].as_u64().expect("a number"), left);
    }

    let error: Value = serde_json::from_str(text(&result["content"][0]["text"])).expect("JSON");
    let error = &error["error"];
    let end = error["details"]["upload"].as_str();
    let journals = usize::from(end.is_some_and(|end| end.starts_with("could not be cancelled")));

    assert_eq!((files, session.states().len()), (0, journals), "{}: {error}", case.fault);
    (
        text(&error["code"]).to_owned(),
        sent_bytes(&session.puts().await, case.size).saturating_sub(case.size as u64),
        left,
    )
}

/// Returns the number of bytes that these requests have sent.
fn sent_bytes(puts: &[String], size: usize) -> u64 {
    let lengths = puts.iter().map(|put| {
        let number: usize = put.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
        PART.min(size - (number - 1) * PART) as u64
    });
    lengths.sum()
}

/// `cargo test --test it the_table_of_faults -- --nocapture` prints the table.
#[tokio::test]
async fn the_table_of_faults() {
    let mut table = "| fault | outcome | bytes sent twice | uploads left |\n|-|-|-|-|\n".to_owned();
    let mut wrong = Vec::new();
    let cases =
        [part_faults(), address_faults(), completion_faults(), initiation_faults(), cancellation_faults()];

    for case in cases.iter().flatten() {
        let (outcome, again, left) = upload_with_faults(case).await;
        writeln!(table, "| {} | {outcome} | {again} | {left} |", case.fault).expect("a text");
        if outcome != case.outcome || again > case.again || left != case.left {
            wrong.push(case.fault);
        }
    }

    println!("{table}");

    assert!(wrong.is_empty(), "{wrong:?}\n{table}");
}
