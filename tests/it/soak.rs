//! Many calls to the built binary while the service fails now and then: memory and descriptors stay bounded.
#![cfg(target_os = "linux")]

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
};

use crate::support::{binary::binary, service::Service};

const CALLS: u64 = 30_000;

/// Number of calls that are not answered yet.
const IN_FLIGHT: usize = 64;

/// Every so many calls, the next request meets a fault.
const CALLS_PER_FAULT: u64 = 50;

/// Largest growth of the resident memory after the first tenth of the calls, in KiB.
const MAX_GROWTH_KIB: u64 = 4_096;

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
        self.open.insert(id);
    }

    /// Receives the answer to an open call. A failed call is a result, not an error of the protocol.
    async fn receive(&mut self) {
        let line = self.output.next_line().await.expect("a line").expect("the server is there");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        let id = answer["id"].as_u64().expect("an id");
        assert!(answer["error"].is_null() && self.open.remove(&id), "{line}");
    }

    /// Makes the calls with these numbers, and waits for all answers.
    async fn make_calls(&mut self, numbers: std::ops::Range<u64>, service: &Service) {
        for number in numbers {
            if number % CALLS_PER_FAULT == 0 {
                service.fault(fault(number / CALLS_PER_FAULT)).await;
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

    /// Returns the resident memory of the process in KiB, and the number of its open descriptors that are no connections.
    fn usage(&self) -> (u64, usize) {
        let process = format!("/proc/{}", self.child.id().expect("it runs"));
        let status = fs::read_to_string(format!("{process}/status")).expect("a process");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        let entries = fs::read_dir(format!("{process}/fd")).expect("a process").flatten();
        let targets = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
        let descriptors = targets.filter(|target| !target.to_string_lossy().starts_with("socket:")).count();

        (resident.trim().trim_end_matches(" kB").parse().expect("a number"), descriptors)
    }
}

/// The call with this number: mostly reading, with every kind of failure among them.
fn call(number: u64) -> (&'static str, Value) {
    match number % 8 {
        0 => ("list_runs", json!({"page_size": 3})),
        1 => ("list_tests", json!({})),
        2 => ("get_run", json!({"run_id": format!("unknown-{number}")})),
        3 => ("get_run", json!({"run_id": 7, "unknown": true})),
        4 => ("summarize_results", json!({"run_id": seed::RUN_FAILED})),
        5 => ("stop_runs", json!({"job_ids": [seed::JOB_PASSED], "confirm": true})),
        6 => ("get_job", json!({"job_id": seed::JOB_FAILED, "project_id": "elsewhere"})),
        _ => ("get_run", json!({"run_id": seed::RUN_TWO_PLAYERS})),
    }
}

fn fault(number: u64) -> Value {
    match number % 6 {
        0 => json!({"reset": true}),
        1 => json!({"status": 503}),
        2 => json!({"status": 429, "headers": {"retry-after": "0"}}),
        3 => json!({"truncate": true}),
        4 => json!({"body": "<html>", "content_type": "text/html"}),
        _ => json!({"bytes": 200_000}),
    }
}

#[tokio::test]
#[ignore = "takes a minute, more than all other tests"]
async fn memory_and_descriptors_stay_bounded_over_many_calls_with_faults() {
    let service = Service::start().await;
    let mut caller = Caller::start(&service.base_url()).await;

    caller.make_calls(1..CALLS / 10, &service).await;
    let (memory, descriptors) = caller.usage();
    caller.make_calls(CALLS / 10..CALLS, &service).await;
    let (later_memory, later_descriptors) = caller.usage();

    println!("{CALLS} calls: {memory} KiB after a tenth, {later_memory} KiB at the end");
    assert_eq!(descriptors, later_descriptors);
    assert!(later_memory <= memory + MAX_GROWTH_KIB, "{memory} KiB became {later_memory} KiB");
}
