//! A service that breaks HTTP and JSON in every way, crossed with every operation: each call ends with a failure that is
//! true, and after few requests.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tas_mcp::{
    fields::Fields,
    service::{
        catalog::{OPERATIONS, OperationEntry},
        operation::ResponseKind,
    },
};

use crate::support::{contract::Contract, host::Host, peer::Peer};

/// Largest number of equal requests that one call sends.
const MAX_REQUESTS: usize = 4;

/// Longest reply, in characters.
const MAX_CHARS: usize = 20_000;

/// Outcomes that are right for an answer: success, or the codes of failures.
type Codes = &'static [&'static str];

/// An answer to every request, and the outcomes of calls that read and of calls that write.
struct Case {
    name: &'static str,
    answer: Vec<u8>,
    reading: Codes,
    writing: Codes,
}

/// No usable answer came: a call that writes may have happened.
const UNANSWERED: (Codes, Codes) = (&["service_unavailable", "bad_response"], &["outcome_unknown"]);
const UNUSABLE: (Codes, Codes) = (&["bad_response"], &["bad_response"]);
const REJECTED: (Codes, Codes) = (&["rejected"], &["rejected"]);

fn case(name: &'static str, answer: impl Into<Vec<u8>>, (reading, writing): (Codes, Codes)) -> Case {
    Case { name, answer: answer.into(), reading, writing }
}

/// Returns an answer with this status line and body.
fn response(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn cases() -> Vec<Case> {
    let long_header =
        format!("HTTP/1.1 200 OK\r\nx: {}\r\ncontent-length: 2\r\n\r\n{{}}", "x".repeat(2_000_000));
    let many_headers =
        format!("HTTP/1.1 200 OK\r\n{}content-length: 2\r\n\r\n{{}}", "a: b\r\n".repeat(5_000));
    let redirect =
        |location: &str| format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");

    vec![
        case("no HTTP", "hello\r\n\r\n", UNANSWERED),
        case("a long header", long_header, UNANSWERED),
        case("many headers", many_headers, UNANSWERED),
        case("a body that ends early", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", UNANSWERED),
        case(
            "a broken chunk",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n",
            UNANSWERED,
        ),
        case(
            "two lengths",
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
            UNANSWERED,
        ),
        case("a negative length", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}", UNANSWERED),
        case("an enormous length", "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n{", UNANSWERED),
        case("a web page", response("200 OK", "<html>Welcome</html>"), UNUSABLE),
        case("no body", response("200 OK", ""), UNUSABLE),
        case("null", response("200 OK", "null"), UNUSABLE),
        case("a list", response("200 OK", "[1, 2]"), UNUSABLE),
        case("an empty object", response("200 OK", "{}"), UNUSABLE),
        case("another object", response("200 OK", r#"{"unheard": {"of": 1}}"#), UNUSABLE),
        case("deep nesting", response("200 OK", &"[".repeat(100_000)), UNUSABLE),
        case("half an object", response("200 OK", r#"{"data": ["#), UNUSABLE),
        case("no content", "HTTP/1.1 204 No Content\r\n\r\n", UNUSABLE),
        case("not modified", "HTTP/1.1 304 Not Modified\r\n\r\n", UNUSABLE),
        case("a redirect to this machine", redirect("http://127.0.0.1:1/"), UNUSABLE),
        case("a redirect to a metadata service", redirect("http://169.254.169.254/latest"), UNUSABLE),
        case("a redirect without an address", response("302 Found", ""), UNUSABLE),
        case("a teapot", response("418 I'm a teapot", r#"{"error": "short and stout"}"#), REJECTED),
        case(
            "a page for an error",
            response("400 Bad Request", "<html>\u{1b}[2J\u{202e}no</html>"),
            REJECTED,
        ),
        case(
            "an impossible status",
            "HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n",
            (&["service_unavailable"], &["service_unavailable"]),
        ),
    ]
}

/// Arguments with which every check passes.
fn arguments(entry: &OperationEntry) -> Fields {
    let operation = Contract::load().operation(entry.name);
    let mut arguments = operation.sample("path");
    let required = entry.input_schema().get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.contains(&json!(name)));
    arguments.extend(operation.sample("query").into_iter().filter(|(name, _)| is_required(name)));
    if let Some((_, example)) = Contract::load().examples(entry.name).requests.iter().next() {
        let body = entry.request.wrapper.map_or(*example, |wrapper| &example[wrapper]);
        arguments.extend(body.as_object().expect("examples are objects").clone());
        arguments.retain(|name, value| !value.is_null() && name != "project_id");
    }
    arguments
}

/// The outcomes that are right for a call of `entry` with `arguments`.
fn right_outcomes(case: &Case, entry: &OperationEntry, arguments: &Fields) -> BTreeSet<&'static str> {
    let codes = if entry.is_repeatable(arguments) { case.reading } else { case.writing };
    // A file may have any content, and some answers consist of their status (supplement 10.4).
    let is_free = matches!(entry.request.response_kind, ResponseKind::File | ResponseKind::Status);
    let is_success = case.answer.starts_with(b"HTTP/1.1 2");
    // A service on this machine may name its addresses. A file is followed there, and an address is passed on.
    let kind = entry.request.response_kind;
    let is_local = case.name == "a redirect to this machine";

    let more = [
        ("ok", (is_free && is_success) || (is_local && kind == ResponseKind::Redirect)),
        ("service_unavailable", is_local && kind == ResponseKind::File),
    ];
    codes.iter().copied().chain(more.into_iter().filter_map(|(code, holds)| holds.then_some(code))).collect()
}

/// The code of a failed call, or `ok`.
fn outcome(result: &Value) -> String {
    if result["isError"] != true {
        return "ok".to_owned();
    }
    let text = result["content"][0]["text"].as_str().expect("a text");
    let failure: Value = serde_json::from_str(text).expect("JSON");
    failure["error"]["code"].as_str().expect("a code").to_owned()
}

/// Calls every operation at once. Returns the operations by kind and outcome, where the outcome is wrong.
async fn wrong_outcomes(case: Case) -> BTreeSet<String> {
    let mut peer = Peer::answering(case.answer.clone()).await;
    let knowledge_url = format!("http://{}", peer.address());
    let more = [
        ("TAS_KNOWLEDGE_URL", knowledge_url.as_str()),
        ("TAS_PROJECT_ID", "demo"),
        ("TAS_TOOLSETS", "all"),
        ("TAS_CONFIRM", "never"),
    ];
    let mut host = Host::open(&peer.settings("svc_hostile", &more)).await;

    let mut calls = BTreeMap::new();
    for entry in &OPERATIONS {
        let arguments = arguments(entry);
        let right = right_outcomes(&case, entry, &arguments);
        let params = json!({"name": entry.name, "arguments": arguments});
        calls.insert(host.start("tools/call", params).await, (entry, right));
    }

    let mut wrong = BTreeSet::new();
    while !calls.is_empty() {
        let answer = host.receive().await;
        let (entry, right) =
            answer["id"].as_u64().and_then(|id| calls.remove(&id)).expect("the answer to a call");
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let outcome = outcome(result);

        if !right.contains(outcome.as_str()) || text.chars().count() > MAX_CHARS {
            wrong.insert(format!(
                "{}: {} {:?}: {outcome}",
                case.name, entry.name, entry.request.response_kind
            ));
        }
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{}: {text}", case.name);
    }

    let mut counts = BTreeMap::new();
    for request in peer.requests() {
        *counts.entry(request.lines().next().unwrap_or_default().to_owned()).or_insert(0) += 1;
    }
    let many = counts.into_iter().filter(|(_, count)| *count > MAX_REQUESTS);
    wrong.extend(many.map(|(line, count)| format!("{}: {count} requests {line}", case.name)));

    wrong
}

#[tokio::test]
async fn no_answer_leads_to_a_wrong_outcome() {
    let all: Vec<_> = stream::iter(cases()).map(wrong_outcomes).buffer_unordered(8).collect().await;
    let wrong: BTreeSet<_> = all.into_iter().flatten().collect();

    assert!(wrong.is_empty(), "{wrong:#?}");
}
