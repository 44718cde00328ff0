//! Peak of resident memory of the process.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{PROJECT, ServerProcess, answer, large_png::transparent_square};
use crate::support::peer::{Answers, Peer, Step};

/// Upper bound of the peak, in MiB.
const MAX_PEAK: u64 = 300;

/// Number of pages of the list.
const PAGES: usize = 20;

/// Records of a page.
const RECORDS: usize = 100;

const EXECUTION: &str = "6dce3d19-5134-4267-897c-7636f2b678c5";

fn ok(content_type: &str, body: &[u8]) -> Vec<Step> {
    vec![Step::Send(answer("200 OK", content_type, body).into())]
}

/// Values in the records of a page. With each of them, a page has about 4 MB.
#[derive(Clone, Copy, Debug)]
enum Content {
    /// More values than an answer may have.
    Lists,
    /// Nearly as many values as an answer may have, most of them in objects, which take the most memory.
    Objects,
}

impl Content {
    /// Returns the list of a record.
    fn items(self) -> String {
        let (item, count) = match self {
            Self::Lists => ("[]", 13_000),
            Self::Objects => (r#"{"abcdefgh":{"i":"j"},"k":"lmnopqrstuvwxyzabcdefghijklmnopqrstuvwx"}"#, 590),
        };
        vec![item; count].join(",")
    }
}

/// Returns the page `number` of a list of runs, each with the list `items`.
fn page(number: &str, items: &str) -> String {
    let record = |index: usize| {
        let id = format!("{number}_{index}");
        format!(
            r#"{{"job_id":"j{id}","id":"j{id}","status":"completed","state":"completed","result":"FAILED","multiplayer_run_id":"r{id}","l":[{items}]}}"#
        )
    };

    let records: Vec<_> = (0..RECORDS).map(record).collect();
    let pagination =
        json!({"page_size": RECORDS, "total_count": PAGES * RECORDS, "total_pages": PAGES}).to_string();
    format!(r#"{{"data":[{}],"pagination":{pagination}}}"#, records.join(","))
}

/// A service whose execution has the result lists `pages`.
fn execution_with_lists(content: Content) -> Answers {
    let items = content.items();
    let execution = json!({
        "id": EXECUTION, "test_plan_execution_id": EXECUTION, "test_plan_id": "p", "project_id": "demo",
        "status": "completed", "total_tests": PAGES * RECORDS,
    });

    Arc::new(move |request| {
        let target = request.split_whitespace().nth(1).unwrap_or_default();
        if target.contains("/jobs?") || target.contains("/runs?") {
            let number = target.split(['?', '&']).find_map(|pair| pair.strip_prefix("page="));
            return ok("application/json", page(number.unwrap_or("0"), &items).as_bytes());
        }
        if target.contains("execution") {
            return ok("application/json", execution.to_string().as_bytes());
        }

        vec![Step::Send(answer("404 Not Found", "application/json", b"{\"error\":\"not found\"}").into())]
    })
}

/// Summarizes results of which every list has pages full of `content`. Returns the summary and the number of requests.
async fn summarize(content: Content) -> (Value, usize) {
    let mut peer = Peer::serving(execution_with_lists(content)).await;
    let mut process = ServerProcess::start(&peer, &[PROJECT]).await;

    process.call(1, "summarize_results", json!({"test_plan_execution_id": EXECUTION})).await;
    let summary = process.receive().await["result"]["structuredContent"].take();
    assert_peak(&process, &format!("{PAGES} pages of {content:?}"));

    (summary, peer.requests().len())
}

/// Asserts that the process has had little memory at all times. `what` says what the process did.
fn assert_peak(process: &ServerProcess, what: &str) {
    let peak = process.peak_memory();
    assert!(peak < MAX_PEAK, "{what}: {peak} MiB");
}

#[tokio::test]
async fn a_summary_of_many_long_pages_has_bounded_memory() {
    for content in [Content::Lists, Content::Objects] {
        let (summary, requests) = summarize(content).await;
        assert!(requests >= 2, "{content:?}: {requests} requests, {summary}");
        assert!(!summary["unread"].is_null(), "{content:?}: {summary}");
    }
}

#[tokio::test]
async fn long_answers_at_the_same_time_have_bounded_memory() {
    const CALLS: u64 = 24;

    let record =
        json!({"multiplayer_run_id": "r1", "status": "completed", "text": "x".repeat(15 << 20)}).to_string();
    let peer = Peer::serving(Arc::new(move |_| ok("application/json", record.as_bytes()))).await;
    let mut process = ServerProcess::start(&peer, &[PROJECT, ("TAS_TIMEOUT_S", "45")]).await;

    for id in 1..=CALLS {
        process.call(id, "get_run", json!({"run_id": format!("r{id}")})).await;
    }
    for _ in 1..=CALLS {
        let answer = process.receive().await;
        // A slow machine may take longer for all of them than one call waits.
        let is_late = answer.to_string().contains("no memory for the answer now");
        assert!(answer["result"]["isError"] == false || is_late, "{answer}");
    }

    assert_peak(&process, &format!("{CALLS} answers of 15 MiB"));
}

#[tokio::test]
async fn large_images_at_the_same_time_have_bounded_memory() {
    const CALLS: u64 = 6;

    let image = transparent_square(8_192, 0);
    let peer = Peer::serving(Arc::new(move |_| ok("image/png", &image))).await;
    let mut process = ServerProcess::start(&peer, &[PROJECT]).await;

    for id in 1..=CALLS {
        let arguments = json!({"run_id": "r-1", "filename": format!("a{id}.png")});
        process.call(id, "get_run_artifact", arguments).await;
    }
    for _ in 1..=CALLS {
        let answer = process.receive().await;
        assert!(answer.to_string().contains("too large to decode"), "{answer}");
    }

    assert_peak(&process, "six images of 8192 x 8192 pixels");
}

#[tokio::test]
async fn a_long_file_of_a_small_image_is_limited_in_bytes() {
    let image = transparent_square(10, 12_000_000);
    let peer = Peer::serving(Arc::new(move |_| ok("image/png", &image))).await;
    let mut process = ServerProcess::start(&peer, &[PROJECT]).await;

    process.call(1, "get_run_artifact", json!({"run_id": "r-1", "filename": "a.png"})).await;
    let answer = process.receive().await;

    let data = answer["result"]["content"][1]["data"].as_str().expect("an image");
    assert!(data.len() < 10_000, "{} bytes", data.len());

    assert_peak(&process, "a file of 12 MB");
}

#[tokio::test]
async fn a_long_line_of_small_values_has_bounded_memory() {
    let peer = Peer::answering("").await;

    for (item, count) in [("[]", 5_200_000), (r#""y""#, 3_900_000), (r#"{"a":"0123456789"}"#, 95_000)] {
        let mut process = ServerProcess::start(&peer, &[PROJECT]).await;
        let items = vec![item; count].join(",");
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_run","arguments":"#;
        process.send_line(&format!(r#"{call}{{"run_id":[{items}]}}}}}}"#)).await;

        let answer = process.receive().await;
        assert!(answer["error"].is_object() || answer["result"]["isError"] == true, "{answer}");

        assert_peak(&process, &format!("a line of {item}"));
    }
}
