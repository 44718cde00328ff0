//! Long waits as tasks (extension `io.modelcontextprotocol/tasks`). The simulated time advances the sandbox, too.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use tas_mcp::{
    clock::Clock as _,
    sandbox::{keys, seed},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
};

use crate::support::{
    binary::binary,
    fixture::{Fixture, Session},
    service::Service,
};

const TOOL: &str = "wait_for_completion";

/// Returns a fixture with simulated time. Its sessions are connected only: hosts that support tasks do not initialize.
fn fixture() -> Fixture {
    Fixture::new().simulated_time()
}

/// Adds the metadata of a request in the newest revision to parameters.
fn modern(mut params: Value, supports_tasks: bool) -> Value {
    let extensions = if supports_tasks { json!({"io.modelcontextprotocol/tasks": {}}) } else { json!({}) };
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"extensions": extensions},
    });
    params
}

impl Session {
    /// Lets time pass, at the server and at the sandbox.
    async fn pass_seconds(&self, seconds: u64) {
        self.clock.sleep(Duration::from_secs(seconds)).await;
    }

    /// Sends a request of a host that supports tasks and returns the answer.
    async fn request_with_tasks(&mut self, method: &str, params: Value) -> Value {
        self.host.request(method, modern(params, true)).await
    }

    /// Calls the wait tool and returns the result.
    async fn call_wait_tool(&mut self, arguments: Value) -> Value {
        let answer =
            self.request_with_tasks("tools/call", json!({"name": TOOL, "arguments": arguments})).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Calls the wait tool, which must create a task, and returns the id of the task.
    async fn create_task(&mut self, arguments: Value) -> String {
        let task = self.call_wait_tool(arguments).await;
        assert_eq!(task["resultType"], "task", "{task}");
        task["taskId"].as_str().expect("an id").to_owned()
    }

    /// Returns the state of a task.
    async fn get_task(&mut self, id: &str) -> Value {
        let answer = self.request_with_tasks("tasks/get", json!({"taskId": id})).await;
        assert!(answer["error"].is_null(), "{answer}");
        assert_eq!(answer["result"]["taskId"], id);
        answer["result"].clone()
    }

    /// Starts a test and returns the id of the job.
    async fn start_job(&mut self, test: &str) -> String {
        let arguments = json!({"multiplayer_test_id": test, "deployment_config_id": seed::CONFIG_PHONES});
        let answer =
            self.request_with_tasks("tools/call", json!({"name": "start_run", "arguments": arguments})).await;
        let job = &answer["result"]["structuredContent"]["job_ids"][0];
        job.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }
}

/// Returns the arguments of a wait that ends before its job, which takes 260 s.
async fn long_wait(session: &mut Session) -> Value {
    json!({"job_id": session.start_job(seed::TEST_DISCOVERY).await, "timeout_seconds": 200})
}

#[tokio::test]
async fn a_long_wait_becomes_a_task() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let task = session.call_wait_tool(arguments).await;

    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");
    assert_eq!(
        (&task["pollIntervalMs"], &task["ttlMs"]),
        (&json!(5_000), &json!((200 + 36 * 3_600) * 1_000))
    );
    assert_eq!(
        (&task["createdAt"], &task["lastUpdatedAt"]),
        (&json!("2026-03-02T09:15:00Z"), &task["createdAt"])
    );
    assert_eq!(task["statusMessage"], "0 of 1 finished");
    assert!(task["content"].is_null() && task["result"].is_null(), "{task}");
}

#[tokio::test]
async fn short_waits_and_waits_of_other_hosts_are_answered() {
    for (timeout, supports_tasks, kind) in
        [(40, true, "complete"), (41, true, "task"), (200, false, "complete")]
    {
        let mut session = fixture().connect().await;
        let mut arguments = long_wait(&mut session).await;
        arguments["timeout_seconds"] = json!(timeout);
        let params = modern(json!({"name": TOOL, "arguments": arguments}), supports_tasks);
        let answer = session.host.request("tools/call", params).await;
        assert_eq!(answer["result"]["resultType"], kind, "{timeout}: {answer}");
    }
}

/// Some hosts with `initialize` declare the extension but treat a task as an invalid answer.
#[tokio::test]
async fn a_host_that_declares_tasks_with_initialize_gets_an_answer() {
    let mut session = fixture().connect().await;
    let hello = json!({
        "protocolVersion": "2025-11-25", "clientInfo": {"name": "host", "version": "1"},
        "capabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
    });
    session.host.request("initialize", hello).await;
    session.host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;

    let start =
        json!({"multiplayer_test_id": seed::TEST_DISCOVERY, "deployment_config_id": seed::CONFIG_PHONES});
    let job = session.host.succeed("start_run", start).await["job_ids"][0].clone();
    let end = session.host.succeed(TOOL, json!({"job_id": job, "timeout_seconds": 200})).await;

    assert_eq!(end["status"], "timed_out");
}

#[tokio::test]
async fn a_wait_that_is_over_or_cannot_be_read_is_answered() {
    let mut session = fixture().connect().await;
    let end = session.call_wait_tool(json!({"job_id": seed::JOB_PASSED, "timeout_seconds": 600})).await;
    assert_eq!(end["structuredContent"]["status"], "completed", "{end}");

    let unknown = json!({"job_id": "00000000-0000-4000-8000-000000000000", "timeout_seconds": 600});
    for (arguments, code) in [(unknown, "not_found"), (json!({"timeout_seconds": 600}), "invalid_arguments")]
    {
        let refused = session.call_wait_tool(arguments).await;
        assert!(refused["isError"] == true && refused.to_string().contains(code), "{refused}");
    }
}

#[tokio::test]
async fn the_poll_interval_is_the_callers_or_grows() {
    let mut session = fixture().connect().await;
    let mut arguments = long_wait(&mut session).await;
    arguments["timeout_seconds"] = json!(7_200);
    let growing = session.create_task(arguments.clone()).await;
    arguments["poll_interval_seconds"] = json!("7");
    let steady = session.create_task(arguments).await;

    for (seconds, interval) in [(40, 5_000), (60, 10_000), (50, 15_000)] {
        session.pass_seconds(seconds).await;
        assert_eq!(session.get_task(&growing).await["pollIntervalMs"], interval);
        assert_eq!(session.get_task(&steady).await["pollIntervalMs"], 7_000);
    }
}

#[tokio::test]
async fn each_request_looks_at_the_service_once() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;
    let requests = session.service.requests().await.len();

    session.get_task(&id).await;
    assert_eq!(session.service.requests().await.len(), requests + 1);

    session.pass_seconds(60).await;
    assert_eq!(session.service.requests().await.len(), requests + 1, "nothing runs between two requests");
}

#[tokio::test]
async fn the_result_of_a_task_is_the_result_of_the_call() {
    for test in [seed::TEST_PASSES, seed::TEST_FAILS] {
        let mut session = fixture().connect().await;
        let job = session.start_job(test).await;
        let arguments = json!({"job_id": job, "timeout_seconds": 7_200});
        let id = session.create_task(arguments.clone()).await;
        session.pass_seconds(3_660).await;

        let task = session.get_task(&id).await;
        assert_eq!(task["status"], "completed", "{task}");
        let result = &task["result"];
        assert_eq!(result["structuredContent"]["elapsed_seconds"], 3_660.0, "{task}");

        // A host without tasks gets the answer of the same wait.
        let params = json!({"name": TOOL, "arguments": arguments});
        let answered = session.host.request("tools/call", modern(params, false)).await["result"].clone();
        for field in ["status", "verdicts", "items", "all_passed"] {
            assert_eq!(result["structuredContent"][field], answered["structuredContent"][field], "{field}");
        }
    }
}

#[tokio::test]
async fn a_task_ends_as_timed_out_at_the_end_of_the_wait() {
    let mut session = fixture().connect().await;
    let mut arguments = long_wait(&mut session).await;
    arguments["fields"] = json!("finished");
    let id = session.create_task(arguments).await;

    session.pass_seconds(199).await;
    assert_eq!(session.get_task(&id).await["status"], "working");

    session.pass_seconds(1).await;
    let task = session.get_task(&id).await;
    let result = &task["result"]["structuredContent"];
    assert_eq!((&result["finished"], &result["status"]), (&json!(0), &json!("timed_out")), "{task}");
}

#[tokio::test]
async fn an_outage_does_not_end_a_task_and_a_refusal_does() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;
    session.pass_seconds(5).await;

    let busy = json!({"operation": "get_job", "status": 503, "times": 100, "headers": {"retry-after": "90"}});
    session.service.fault(busy).await;
    let task = session.get_task(&id).await;
    assert_eq!((&task["status"], &task["pollIntervalMs"]), (&json!("working"), &json!(90_000)), "{task}");
    assert!(task["statusMessage"].as_str().is_some_and(|said| said.contains("503")), "{task}");

    session.service.heal().await;
    session.service.fault(json!({"operation": "get_job", "status": 404})).await;
    let task = session.get_task(&id).await;
    assert_eq!((&task["status"], &task["result"]["isError"]), (&json!("completed"), &json!(true)), "{task}");
}

#[tokio::test]
async fn an_id_is_valid_for_the_credential_and_its_lifetime_only() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;
    for part in id.split('.').filter_map(|part| URL_SAFE_NO_PAD.decode(part).ok()) {
        assert!(!String::from_utf8_lossy(&part).contains(keys::DEMO), "the id shows the key");
    }

    let mut forged = id.clone().into_bytes();
    let middle = forged.len() / 2;
    forged[middle] = if forged[middle] == b'A' { b'B' } else { b'A' };
    let forged = String::from_utf8(forged).expect("text");
    for unknown in [String::new(), "task-1".to_owned(), forged, format!("{id}x")] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let params = json!({"taskId": unknown, "inputResponses": {}});
            let answer = session.request_with_tasks(method, params).await;
            assert_eq!(answer["error"]["code"], -32602, "{method} {unknown}: {answer}");
        }
    }

    session.host = session.another_host(keys::READ_ONLY, &[]).await;
    let refused = session.request_with_tasks("tasks/get", json!({"taskId": id})).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");

    session.host = session.another_host(keys::DEMO, &[]).await;
    session.pass_seconds(200 + 36 * 3_600).await;
    assert_eq!(session.get_task(&id).await["status"], "completed");
    session.pass_seconds(1).await;
    let expired = session.request_with_tasks("tasks/get", json!({"taskId": id})).await;
    assert_eq!(expired["error"]["code"], -32602, "{expired}");
}

#[tokio::test]
async fn cancelling_and_answering_a_task_is_acknowledged_and_stops_no_run() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await;
    let id = session.create_task(arguments).await;
    let writes = session.service.writes().await;

    for method in ["tasks/cancel", "tasks/update"] {
        let params = json!({"taskId": id, "inputResponses": {}});
        let acknowledged = session.request_with_tasks(method, params).await;
        assert_eq!(acknowledged["result"], json!({"resultType": "complete"}), "{method}: {acknowledged}");
    }
    assert_eq!(session.service.writes().await, writes);
}

#[tokio::test]
async fn a_server_without_the_wait_tool_has_no_tasks() {
    for (toolsets, has_tasks) in [("default", true), ("-wait_for_completion", false)] {
        let mut session = fixture().variables(&[("TAS_TOOLSETS", toolsets)]).connect().await;
        let discovered = session.request_with_tasks("server/discover", json!({})).await;
        let extensions = &discovered["result"]["capabilities"]["extensions"];
        assert_eq!(extensions["io.modelcontextprotocol/tasks"].is_object(), has_tasks, "{discovered}");
    }
}

/// The binary as a child process.
struct Process {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(service: &Arc<Service>) -> Self {
        let base_url = service.base_url();
        let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
        let mut child = binary(&[], &variables).spawn().expect("the binary starts");
        let input = child.stdin.take().expect("an input");
        let lines = BufReader::new(child.stdout.take().expect("an output")).lines();
        Self { child, input, lines }
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": modern(params, true)});
        self.input.write_all(format!("{request}\n").as_bytes()).await.expect("the server reads");
        let line = self.lines.next_line().await.expect("a line").expect("the server is there");
        serde_json::from_str::<Value>(&line).expect("JSON")["result"].take()
    }
}

#[tokio::test]
async fn another_process_continues_the_task_of_a_killed_one() {
    let service = Arc::new(Service::start().await);
    let mut first = Process::start(&service);
    let arguments = json!({"job_id": seed::JOB_RUNNING, "timeout_seconds": 7_200});
    let task = first.request("tools/call", json!({"name": TOOL, "arguments": arguments})).await;
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");

    first.child.kill().await.expect("it ends");
    service.advance(100_000.0);

    let mut second = Process::start(&service);
    let ended = second.request("tasks/get", json!({"taskId": task["taskId"]})).await;
    assert_eq!((&ended["status"], &ended["createdAt"]), (&json!("completed"), &task["createdAt"]), "{ended}");
    let result = &ended["result"]["structuredContent"];
    assert_eq!((&result["status"], &result["target_id"]), (&json!("completed"), &json!(seed::JOB_RUNNING)));
}
