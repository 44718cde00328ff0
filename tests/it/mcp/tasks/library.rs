//! Tasks with the client of a library, and with the built binary.

use std::sync::Arc;

use rmcp::{
    ClientServiceExt as _, RoleClient,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities, ClientConfig,
        GetTaskParams, Implementation, ProtocolVersion, TaskPayload, TaskStatus,
    },
    service::{ClientLifecycleMode, RunningService},
};
use serde_json::{Value, json};
use tas_mcp::{
    mcp,
    sandbox::{keys, seed},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
};

use super::{TOOL, fixture, long_wait, modern};
use crate::support::{binary::binary, fixture::Session, service::Service};

/// Connects the client of the library to a server of the session.
async fn connect_client(
    session: &Session,
    lifecycle: ClientLifecycleMode,
) -> RunningService<RoleClient, ClientConfig> {
    let (near, far) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(far);
    let server = session.another_server(keys::DEMO, &[]);
    tokio::spawn(mcp::serve_stdio(server, Box::new(input), Box::new(output)));
    let capabilities = ClientCapabilities::builder().enable_tasks().build();
    let client = ClientConfig::new(capabilities, Implementation::new("host", "1"));
    client.serve_with_lifecycle(near, lifecycle).await.expect("a session")
}

#[tokio::test]
async fn the_client_of_the_library_understands_tasks() {
    let newest = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await.as_object().expect("an object").clone();
    let client = connect_client(&session, newest).await;
    let call = CallToolRequestParams::new(TOOL).with_arguments(arguments);
    let id = task_id_of(client.call_tool_once(call.clone()).await.expect("an answer"));
    let working = client.get_task(GetTaskParams::new(&id)).await.expect("a task");

    assert_eq!(working.task.status(), TaskStatus::Working);

    session.pass_seconds(200).await;
    let ended = client.get_task(GetTaskParams::new(&id)).await.expect("a task").task.payload;
    let TaskPayload::Completed { result } = ended else { panic!("it has not ended: {ended:?}") };

    assert_eq!(result["structuredContent"]["status"], "timed_out");

    let id = task_id_of(client.call_tool_once(call).await.expect("an answer"));
    client.cancel_task(CancelTaskParams::new(&id)).await.expect("an acknowledgement");

    let cancelled = client.get_task(GetTaskParams::new(&id)).await.expect("a task");

    assert_eq!(cancelled.task.status(), TaskStatus::Cancelled);
}

#[tokio::test]
async fn the_client_of_the_library_gets_an_answer_in_an_initialized_session() {
    let mut session = fixture().connect().await;
    let arguments = long_wait(&mut session).await.as_object().expect("an object").clone();
    let client = connect_client(&session, ClientLifecycleMode::Initialize).await;
    let call = CallToolRequestParams::new(TOOL).with_arguments(arguments);
    let CallToolResponse::Complete(result) = client.call_tool_once(call).await.expect("an answer") else {
        panic!("it is no answer");
    };

    assert_eq!(result.structured_content.expect("a structure")["status"], "timed_out");
}

/// Returns the id of the task that a call has created.
fn task_id_of(response: CallToolResponse) -> String {
    let CallToolResponse::Task(created) = response else { panic!("it is no task: {response:?}") };
    created.task.task_id
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
