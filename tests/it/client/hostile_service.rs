//! A service that breaks HTTP and JSON in every way: each call ends with a failure that is true, and after few requests.
//! Statuses and bodies are crossed with every operation; what breaks HTTP itself, with each kind of answer.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::Method;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tas_mcp::{
    fields::Fields,
    service::{catalog::OperationEntry, operation::ResponseKind},
};

use crate::support::{contract, host::Host, peer::Peer};

use self::case::{Case, Target};

mod bodies;
mod case;
mod endless;
mod framing;
mod redirects;
mod statuses;

/// Key of the calls. No reply contains it.
const KEY: &str = "svc_hostile";

/// Largest number of equal requests that one call sends.
const MAX_REQUESTS: usize = 4;

/// Longest reply, in characters.
const MAX_CHARS: usize = 20_000;

/// Asserts that no call of an operation has a wrong outcome in any of the cases.
async fn assert_right_outcomes(cases: Vec<Case>) {
    let all: Vec<_> = stream::iter(cases).map(wrong_outcomes).buffer_unordered(8).collect().await;
    let wrong: BTreeSet<_> = all.into_iter().flatten().collect();

    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Calls the operations of the case. Returns a line for each call with a wrong outcome, and for each request that is sent too often.
async fn wrong_outcomes(case: Case) -> BTreeSet<String> {
    let mut peer = Peer::serving(case.answers.clone()).await;
    let mut host = open_host(&peer, &case).await;
    let mut waiting = case.operations.iter().copied();
    let mut calls = BTreeMap::new();
    let mut wrong = BTreeSet::new();

    loop {
        for entry in waiting.by_ref().take(case.in_flight - calls.len()) {
            let arguments = arguments(entry);
            let right = right_outcomes(&case, entry, &arguments);
            let params = json!({"name": entry.name, "arguments": arguments});
            calls.insert(host.start("tools/call", params).await, (entry, right));
        }
        if calls.is_empty() {
            break;
        }

        let answer = host.receive().await;
        let (entry, right) =
            answer["id"].as_u64().and_then(|id| calls.remove(&id)).expect("the answer to a call");
        let kind = entry.request.response_kind;
        let problems = problems(&answer["result"], &right).into_iter();
        wrong.extend(problems.map(|problem| format!("{}: {} {kind:?}: {problem}", case.name, entry.name)));
    }

    wrong.extend(frequent_requests(&case, &peer.requests()));

    wrong
}

async fn open_host(peer: &Peer, case: &Case) -> Host {
    let knowledge_url = format!("http://{}", peer.address());
    let mut variables = vec![
        ("TAS_KNOWLEDGE_URL", knowledge_url.as_str()),
        ("TAS_PROJECT_ID", "demo"),
        ("TAS_TOOLSETS", "all"),
        ("TAS_CONFIRM", "never"),
    ];

    if case.is_hanging {
        variables.push(("TAS_TIMEOUT_S", "1"));
    }

    Host::open(&peer.settings(KEY, &variables)).await
}

/// Arguments with which every check passes.
fn arguments(entry: &OperationEntry) -> Fields {
    let operation = contract::operation(entry.name);
    let mut arguments = operation.sample("path");
    let required = entry.input_schema().get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.contains(&json!(name)));
    arguments.extend(operation.sample("query").into_iter().filter(|(name, _)| is_required(name)));
    if let Some((_, example)) = operation.requests.iter().next() {
        let body = entry.request.wrapper.map_or(*example, |wrapper| &example[wrapper]);
        arguments.extend(body.as_object().expect("examples are objects").clone());
        arguments.retain(|name, value| !value.is_null() && name != "project_id");
    }
    arguments
}

/// The outcomes that are right for a call of `entry` with `arguments`.
fn right_outcomes(case: &Case, entry: &OperationEntry, arguments: &Fields) -> BTreeSet<&'static str> {
    let codes = if entry.is_repeatable(arguments) { case.reading } else { case.writing };
    // A file may have any content, and some answers consist of their status (service.md 10.7, 12.2).
    let kind = entry.request.response_kind;
    let is_free = matches!(kind, ResponseKind::File | ResponseKind::Status);
    // A service on this machine may name its addresses. A file is followed there, and an address is passed on.
    let is_closed_port = case.target == Target::ClosedPort;
    let is_followed = case.target != Target::Refused;

    let more = [
        ("ok", case.is_empty && entry.request.method == Method::DELETE),
        ("ok", (is_free && case.is_success) || (is_followed && kind == ResponseKind::Redirect)),
        ("service_unavailable", is_closed_port && kind == ResponseKind::File),
        // A status of success is no redirect.
        ("bad_response", case.is_success && kind == ResponseKind::Redirect),
    ];
    codes.iter().copied().chain(more.into_iter().filter_map(|(code, holds)| holds.then_some(code))).collect()
}

/// Returns what is wrong with the result of a call.
fn problems(result: &Value, right: &BTreeSet<&'static str>) -> Vec<String> {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let parsed: Value = serde_json::from_str(text).unwrap_or_default();
    let error = &parsed["error"];
    let is_failure = result["isError"] == true;
    let code = if is_failure { error["code"].as_str().unwrap_or("no code") } else { "ok" };
    let has_text = |name: &str| error[name].as_str().is_some_and(|text| !text.is_empty());

    // JSON texts contain control characters as escape sequences. An escaped backslash begins none.
    let is_hidden = text.replace("\\\\", "").contains("\\u00") || text.contains(['\u{202e}', '\u{feff}']);
    let found = [
        (!right.contains(code), format!("{code}: {text:.300}")),
        (text.chars().count() > MAX_CHARS, format!("{} bytes", text.len())),
        (is_failure && !(has_text("message") && has_text("hint")), format!("no message or no hint: {text}")),
        (text.contains(KEY), format!("the key: {text}")),
        (is_hidden, format!("hidden characters: {text}")),
    ];

    found.into_iter().filter_map(|(is_wrong, problem)| is_wrong.then_some(problem)).collect()
}

/// Returns a line for each request that was sent more often than allowed. A request that writes is sent once.
fn frequent_requests(case: &Case, requests: &[String]) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for request in requests {
        *counts.entry(request.lines().next().unwrap_or_default()).or_insert(0) += 1;
    }

    let limit = |line: &str| {
        let entry = case::operation_of(line);
        let is_repeatable = entry.is_none_or(|entry| entry.is_repeatable(&arguments(entry)));
        if is_repeatable { case.max_requests } else { 1 }
    };
    let frequent = counts.into_iter().filter(|(line, count)| *count > limit(line));
    frequent.map(|(line, count)| format!("{}: {count} requests {line}", case.name)).collect()
}
