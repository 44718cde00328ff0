//! Many calls to the built binary while the service fails now and then: memory and descriptors stay bounded.
#![cfg(target_os = "linux")]

use std::{collections::BTreeSet, fs, net::SocketAddr};

use serde::Deserialize;
use serde_json::{Value, json};
use tas_mcp::sandbox::{self, Sandbox, keys, seed};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
};

use crate::support::{binary::binary, service::still_sandbox};

/// Number of calls if the variable `SOAK_CALLS` is not set.
const FEW_CALLS: u64 = 3_000;

/// Number of calls that are not answered yet.
const IN_FLIGHT: usize = 64;

/// Every so many calls, a fault is injected.
const CALLS_PER_FAULT: u64 = 50;

/// Largest growth of the resident memory after the first tenth of the calls, in KiB.
const MAX_GROWTH_KIB: u64 = 1_024;

/// The part of an answer that the test reads.
#[derive(Deserialize)]
struct AnswerHead {
    id: u64,
    error: Option<Value>,
}

/// The binary, and the calls that it has not answered yet.
struct Caller {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    open: BTreeSet<u64>,
}

impl Caller {
    async fn start(base_url: &str) -> Self {
        let variables = [("TAS_BASE_URL", base_url), ("TAS_API_KEY", keys::DEMO), ("TAS_TOOLSETS", "all")];
        let mut child = binary(&[], &variables).spawn().expect("the binary starts");
        let input = child.stdin.take().expect("an input");
        let output = BufReader::new(child.stdout.take().expect("an output")).lines();
        let mut caller = Self { child, input, output, open: BTreeSet::new() };

        let client = json!({"name": "soak", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        caller.send(0, "initialize", &params).await;
        caller.receive().await;
        caller
    }

    async fn send(&mut self, id: u64, method: &str, params: &Value) {
        let line = format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.input.write_all(line.as_bytes()).await.expect("the server reads");
        assert!(self.open.insert(id));
    }

    /// Receives the answer to an open call. A failed call is a result, not an error of the protocol.
    async fn receive(&mut self) {
        let line = self.output.next_line().await.expect("a line").expect("the server is there");
        let answer: AnswerHead = serde_json::from_str(&line).expect("JSON");
        assert!(answer.error.is_none(), "{line}");
        assert!(self.open.remove(&answer.id), "{line}");
    }

    /// Makes the calls with these numbers, and waits for all answers.
    async fn make_calls(&mut self, numbers: std::ops::Range<u64>, faults: &Faults) {
        for number in numbers {
            if number % CALLS_PER_FAULT == 0 {
                faults.inject(number / CALLS_PER_FAULT).await;
            }
            let (tool, arguments) = call(number);
            self.send(number, "tools/call", &json!({"name": tool, "arguments": arguments})).await;

            while self.open.len() >= IN_FLIGHT {
                self.receive().await;
            }
        }

        while !self.open.is_empty() {
            self.receive().await;
        }
    }

    /// Returns the resident memory of the process in KiB.
    fn resident_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).expect("a process");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        resident.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    /// Returns the number of open descriptors that are no connections. The number of idle connections varies.
    fn descriptors(&self) -> usize {
        let entries = fs::read_dir(format!("/proc/{}/fd", self.id())).expect("a process");
        let targets = entries.filter_map(|entry| fs::read_link(entry.expect("an entry").path()).ok());
        targets.filter(|target| !target.to_string_lossy().starts_with("socket:")).count()
    }

    /// Returns the number of open sockets.
    fn sockets(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.id())).expect("a process").count() - self.descriptors()
    }

    fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }
}

/// The call with this number: mostly reading, with every kind of failure among them.
fn call(number: u64) -> (&'static str, Value) {
    let runs = [seed::RUN_PASSED, seed::RUN_FAILED, seed::RUN_TWO_PLAYERS, seed::RUN_ERROR];
    let run = runs[usize::try_from(number).expect("a number") % runs.len()];

    match number % 10 {
        0 => ("list_runs", json!({"page_size": 3, "fields": "multiplayer_run_id,status"})),
        1 => ("list_tests", json!({})),
        2 => ("get_run", json!({"run_id": format!("unknown-{number}")})),
        3 => ("get_run", json!({"run_id": 7, "unknown": true})),
        4 => ("summarize_results", json!({"run_id": run})),
        5 => ("stop_runs", json!({"job_ids": [seed::JOB_PASSED], "confirm": true})),
        6 => ("get_job", json!({"job_id": seed::JOB_FAILED, "project_id": "elsewhere"})),
        7 => ("list_run_bugs", json!({"run_id": run})),
        _ => ("get_run", json!({"run_id": run})),
    }
}

/// The faults of the service.
struct Faults {
    client: reqwest::Client,
    url: String,
}

impl Faults {
    fn new(sandbox: &Sandbox) -> Self {
        let client = crate::support::plain_client().build().expect("a client");
        let root = sandbox.base_url().replace("/api/v1", "");
        Self { client, url: format!("{root}/_sandbox/faults") }
    }

    /// Injects the fault with this number into the next request.
    async fn inject(&self, number: u64) {
        let faults = [
            json!({"reset": true}),
            json!({"status": 503}),
            json!({"status": 429, "headers": {"retry-after": "0"}}),
            json!({"truncate": true}),
            json!({"body": "<html>", "content_type": "text/html"}),
            json!({"status": 500, "body": {"error": "broken"}}),
            json!({"delay_ms": 20}),
            json!({"cut": 10}),
            json!({"bytes": 200_000}),
            json!({"status": 401}),
        ];
        let fault = &faults[usize::try_from(number).expect("a number") % faults.len()];

        let answer = self.client.post(&self.url).body(fault.to_string()).send().await.expect("the sandbox");
        assert!(answer.status().is_success(), "{fault}");
    }
}

#[tokio::test]
async fn memory_and_descriptors_stay_bounded_over_many_calls_with_faults() {
    #[expect(clippy::disallowed_methods, reason = "the variable is not a setting")]
    let calls = std::env::var("SOAK_CALLS").ok();
    let is_long = calls.is_some();
    let calls = calls.map_or(FEW_CALLS, |calls| calls.parse().expect("a number of calls"));
    let options = still_sandbox();
    let sandbox = sandbox::start(SocketAddr::from(([127, 0, 0, 1], 0)), options, None).await.expect("a port");
    let faults = Faults::new(&sandbox);
    let mut caller = Caller::start(&sandbox.base_url()).await;

    caller.make_calls(1..calls / 10, &faults).await;
    let (memory, descriptors) = (caller.resident_kib(), caller.descriptors());
    caller.make_calls(calls / 10..calls, &faults).await;
    let (later_memory, later_descriptors) = (caller.resident_kib(), caller.descriptors());

    if is_long {
        println!("{calls} calls: resident memory {memory} KiB after a tenth, {later_memory} KiB at the end");
        println!("descriptors {descriptors} and {later_descriptors}, sockets {}", caller.sockets());
    }
    assert_eq!(descriptors, later_descriptors);
    assert!(caller.sockets() <= IN_FLIGHT * 2, "{} sockets", caller.sockets());
    // The allocator needs more calls than a short run makes to reach its final size.
    let limit = if is_long { MAX_GROWTH_KIB } else { 4 * MAX_GROWTH_KIB };
    assert!(later_memory <= memory + limit, "{memory} KiB became {later_memory} KiB");
}
