//! Summarizes 500 failed runs of a service that needs 20 ms per answer, and compares with the same requests in sequence.
//! Then measures the length of summaries whose failures are all equal or all different. `cargo bench --bench summary`
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(clippy::expect_used, reason = "a benchmark without a sandbox cannot run")]

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use axum::{Router, http::Uri};
use serde_json::{Value, json};
use tas_mcp::{
    call::arguments::ToolArguments,
    sandbox::{
        self, Options, Sandbox, keys,
        seed::{CONFIG_PHONES, TEST_BLOCKED, TEST_ERRORS, TEST_FAILS},
    },
    settings::{self, Settings},
    tools::{
        catalog,
        context::{CallOptions, CallerWithFiles},
    },
};

const RUNS: usize = 500;
const LATENCY_MS: u64 = 20;

/// The execution whose summary is measured.
const EXECUTION: &str = "0000000e-0000-4000-8000-000000000000";

/// Calls a tool, which must succeed.
async fn call(tools: &CallerWithFiles, tool: &str, arguments: Value) -> Value {
    let tool = catalog::find_tool(tool).expect("a tool");
    let arguments = ToolArguments::from_host(&tool, arguments.as_object().cloned().unwrap_or_default());
    (tool.run)(tools.tool_call(arguments, CallOptions::silent())).await.expect("an answer").value().clone()
}

fn tools(base_url: &str) -> CallerWithFiles {
    let matches = clap::Command::new("bench").args(settings::flags()).get_matches_from(["bench"]);
    let settings = Settings::from_sources(&matches, |name| match name {
        "TAS_BASE_URL" => Some(base_url.to_owned()),
        "TAS_API_KEY" => Some(keys::DEMO.to_owned()),
        _ => None,
    });
    CallerWithFiles::new(settings.tools_config().expect("usable settings"))
}

/// Starts an execution with [`RUNS`] tests that will fail. Returns its id.
async fn execution(sandbox: &Sandbox, tools: &CallerWithFiles) -> Value {
    let tests = [TEST_FAILS, TEST_BLOCKED, TEST_ERRORS];
    let items: Vec<_> =
        tests.iter().cycle().take(RUNS).map(|test| json!({"multiplayer_test_id": test})).collect();
    let plan = call(tools, "create_test_plan", json!({"name": "All", "test_items": items})).await;
    let start = json!({"test_plan_id": plan.get("id"), "deployment_config_id": CONFIG_PHONES});
    let started = call(tools, "start_test_plan_run", start).await;

    sandbox.advance(3_600.0);

    started.get("test_plan_execution_id").cloned().unwrap_or_default()
}

/// Delays every answer of the sandbox.
async fn slow_down(sandbox: &Sandbox) {
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let fault = json!({"delay_ms": LATENCY_MS, "times": 1_000_000}).to_string();
    let url = format!("http://{}/_sandbox/faults", sandbox.address());
    let sent = client.post(url).header("content-type", "application/json").body(fault).send().await;
    assert!(sent.is_ok_and(|answer| answer.status().is_success()), "the sandbox accepts the fault");
}

/// Reads in sequence what a summary reads. Returns the number of requests.
async fn read_sequentially(tools: &CallerWithFiles, execution: &Value) -> usize {
    call(tools, "get_test_plan_execution", json!({"test_plan_execution_id": execution})).await;
    let (mut requests, mut page) = (1, 0);

    loop {
        let arguments = json!({"test_plan_execution_id": execution, "page": page, "page_size": 100});
        let jobs = call(tools, "list_jobs", arguments).await;
        (requests, page) = (requests + 1, page + 1);

        let jobs = jobs.get("data").and_then(Value::as_array).cloned().unwrap_or_default();
        if jobs.is_empty() {
            return requests;
        }

        for job in &jobs {
            let run = json!({"run_id": job.pointer("/runs/0/multiplayer_run_id")});
            let detail = call(tools, "get_run", run.clone()).await;
            requests += 1;
            if detail.pointer("/bug_info/bug_count") != Some(&json!(0)) {
                call(tools, "list_run_bugs", run).await;
                requests += 1;
            }
        }
    }
}

/// Returns a failed run with a report of typical length.
fn run(number: usize, is_equal: bool) -> Value {
    let test = if is_equal { 0 } else { number };
    let report =
        format!("Tapped door {test} three times; it stayed closed, and the lantern burnt out meanwhile.");
    let goal = format!("Open door {test} with the button at the top right");

    json!({
        "multiplayer_run_id": format!("run{number:08}"), "state": "COMPLETED", "result": "FAILED",
        "started_at": "2026-03-01T08:00:00+00:00", "completed_at": "2026-03-01T08:04:00+00:00",
        "test": {"id": format!("00000007-0000-4000-8000-{test:012x}"), "name": format!("Open door {test}")},
        "bug_info": {"bug_count": 0},
        "players": [{
            "player_number": 1, "result": "FAILED",
            "artifacts": [{"filename": "agent.log"}, {"filename": "recording.mp4"}],
            "steps": [{
                "step_number": 2, "run_result": "FAILED", "report": report,
                "test": {"goal": goal, "finish_condition": "The door is open"},
            }],
        }],
    })
}

fn job(number: usize, is_equal: bool) -> Value {
    let run = run(number, is_equal);
    json!({
        "job_id": format!("00000010-0000-4000-8000-{number:012x}"), "status": "COMPLETED",
        "multiplayer_test_id": run.pointer("/test/id"), "test_name": run.pointer("/test/name"), "runs": [run],
    })
}

/// Returns the answer of a service whose only execution has this number of failed runs.
fn answer(uri: &Uri, runs: usize, is_equal: bool) -> Value {
    let number = |text: &str| text.trim_start_matches(|one: char| !one.is_ascii_digit()).parse().unwrap_or(0);
    let last = uri.path().rsplit('/').next().unwrap_or_default();
    if last == EXECUTION {
        return json!({"id": last, "test_plan_name": "All", "status": "completed", "total_tests": runs});
    }
    if last != "jobs" {
        return run(number(last), is_equal);
    }

    let query = uri.query().unwrap_or_default();
    let page: usize = query.split('&').find_map(|pair| pair.strip_prefix("page=")).map_or(0, number);
    let data: Vec<_> = (page * 100..runs.min(page * 100 + 100)).map(|one| job(one, is_equal)).collect();

    json!({"data": data, "pagination": {"total_pages": runs.div_ceil(100)}})
}

/// Prints the length of the summary of this number of failed runs.
async fn measure(runs: usize, is_equal: bool) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base_url = format!("http://{}/api/v1", listener.local_addr().expect("an address"));
    let router = Router::new().fallback(move |uri: Uri| async move {
        ([("content-type", "application/json")], answer(&uri, runs, is_equal).to_string())
    });
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let summary =
        call(&tools(&base_url), "summarize_results", json!({"test_plan_execution_id": EXECUTION})).await;

    serving.abort();
    let entries = summary.get("failures").and_then(Value::as_array).map_or(0, Vec::len);
    let kind = if is_equal { "all equal" } else { "all different" };
    println!(
        "{runs} failed runs, {kind}: {} characters, {entries} entries",
        summary.to_string().chars().count()
    );
}

/// Returns the duration and the output of `work`.
async fn time<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let started = Instant::now();
    let output = work.await;
    (started.elapsed(), output)
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(compare_with_sequence());
    runtime.block_on(measure_lengths());
}

/// Compares the time of a summary with the time of the same requests in sequence.
async fn compare_with_sequence() {
    let free_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let options = Options { speed: 0.0, ..Options::default() };
    let sandbox = sandbox::start(free_port, options, None).await.expect("a free port");
    let tools = tools(&sandbox.base_url());
    let execution = execution(&sandbox, &tools).await;

    // From here on every request counts. The preparation needs no delay.
    slow_down(&sandbox).await;

    let arguments = json!({"test_plan_execution_id": execution});
    let (summarized, summary) = time(call(&tools, "summarize_results", arguments)).await;
    let (sequential, requests) = time(read_sequentially(&tools, &execution)).await;

    println!(
        "summarize {RUNS} failed runs at {LATENCY_MS} ms: {summarized:.1?}, {requests} requests in sequence {sequential:.1?}: {:.1}x; {} characters",
        sequential.as_secs_f64() / summarized.as_secs_f64(),
        summary.to_string().chars().count(),
    );
}

/// Prints the lengths of summaries of several sizes.
async fn measure_lengths() {
    for runs in [1, 50, 500] {
        for is_equal in [false, true] {
            measure(runs, is_equal).await;
        }
    }
}
