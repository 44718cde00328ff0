//! Compares the reply to an answer that contains nothing to change with parsing the answer and writing it again.
//! `cargo bench --bench pass_through`
#![expect(clippy::expect_used, reason = "a benchmark has fixed inputs")]

mod ratio;

use std::hint::black_box;

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tas_mcp::{
    call::{
        operation_request::OperationRequest,
        reply::{Reply, ReplyLimits, ReplySource},
    },
    client::{AddressPolicy, ApiKey, FileMetadata, HttpResponse},
    fields::Fields,
    service::{
        api::runs::GetRun,
        catalog::{ListedOperation as _, OperationEntry},
    },
};

/// Longest reply, in characters. Larger than every answer here, so that nothing is cut.
const MAX_CHARS: usize = 4_000_000;

fn main() {
    for (name, steps, calls) in [("an answer of 3 KB", 8, 500), ("an answer of 1 MB", 3_500, 2)] {
        let body = run_with_steps(steps);
        let entry = GetRun::entry();
        let arguments = Fields::from_iter([("run_id".to_owned(), json!("r"))]);
        let request = OperationRequest::new(entry, arguments, "tmsys").expect("valid arguments");
        let key = ApiKey::parse("svc_benchmark_key").expect("a key");

        let reply = || drop(black_box(reply_text(entry, &request, &key, black_box(&body))));
        let parse_and_write = || {
            let value: Value = serde_json::from_slice(black_box(&body)).expect("JSON");
            drop(black_box(value.to_string()));
        };

        ratio::compare(name, calls, reply, ("parse and write", parse_and_write));
    }
}

fn reply_text(
    entry: &'static OperationEntry,
    request: &OperationRequest,
    key: &ApiKey,
    body: &[u8],
) -> String {
    let answer = HttpResponse {
        status: 200,
        body: body.to_vec().into(),
        location: None,
        retry_after: None,
        date: None,
        attempts: 1,
        file: FileMetadata::default(),
    };
    let address_policy = AddressPolicy::default();
    let limits = ReplyLimits { tmsys_name: "tmsys", max_reply_chars: MAX_CHARS, address_policy };
    let reply = Reply::new(request, &answer, key, &limits).expect("a run");

    // The text of an unchanged answer is there at once.
    reply.into_limited(MAX_CHARS, ReplySource::Call(entry)).now_or_never().expect("an unchanged answer")
}

/// Returns the JSON of a run with this number of steps, of about 300 bytes each.
fn run_with_steps(count: usize) -> Vec<u8> {
    let report = "All sparks collected, the counter reads \"3/3\".\nThe results screen appears after 2 s.";
    let item =
        json!({"id": "2a", "expected": "The counter shows 3 of 3", "status": "passed", "comment": null});
    let step = |number: usize| json!({"step_number": number, "duration_ms": 41_500.25, "run_result": "SUCCESS", "report": report, "items": [item]});
    let steps: Vec<_> = (1..=count).map(step).collect();

    json!({"multiplayer_run_id": "r", "state": "completed", "players": [{"id": "r-1", "steps": steps}]})
        .to_string()
        .into_bytes()
}
