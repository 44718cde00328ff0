//! Limits of time and memory of the built binary, with answers and input that are made to exceed them.

use std::{path::PathBuf, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
};

use crate::support::{
    binary::binary,
    peer::{Answers, Peer, Step},
};

mod large_png;
mod memory;
mod responsiveness;

/// Longest wait for a message. After this a test fails instead of hanging. It leaves room for a busy machine.
const MESSAGE_LIMIT: Duration = Duration::from_secs(120);

/// Longest reply, in characters.
const MAX_CHARS: usize = 20_000;

/// Id of the call of a test.
const CALL: u64 = 1;

/// The setting of project scope.
const PROJECT: (&str, &str) = ("TAS_PROJECT_ID", "demo");

/// The binary with a session, as a child process.
struct ServerProcess {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl ServerProcess {
    /// Starts the binary for the service `peer`, and begins a session.
    async fn start(peer: &Peer, variables: &[(&str, &str)]) -> Self {
        let origin = format!("http://{}", peer.address());
        let base_url = format!("{origin}/api/v1");
        let own = [
            ("TAS_BASE_URL", base_url.as_str()),
            ("TAS_KNOWLEDGE_URL", origin.as_str()),
            ("TAS_API_KEY", "svc_resources"),
            ("TAS_TOOLSETS", "all"),
        ];
        let mut child = binary(&[], &[&own[..], variables].concat()).spawn().expect("the binary starts");
        let input = child.stdin.take().expect("an input");
        let output = BufReader::new(child.stdout.take().expect("an output")).lines();
        let mut process = Self { child, input, output };

        let info = json!({"name": "host", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        process.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
        process.receive().await;

        process
    }

    async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    async fn send_line(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).await.expect("the server reads");
        self.input.write_all(b"\n").await.expect("the server reads");
    }

    async fn call(&mut self, id: u64, tool: &str, arguments: Value) {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).await;
    }

    /// Sends a ping. Returns whether it is answered before anything else.
    async fn ping(&mut self, id: u64) -> Result<(), Value> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).await;
        let answer = self.receive().await;

        if answer["id"] == id { Ok(()) } else { Err(answer) }
    }

    /// Returns the next message of the server. The text of a reply has at most [`MAX_CHARS`] characters.
    async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(MESSAGE_LIMIT, self.output.next_line()).await.expect("in time");
        let line = line.expect("a line").expect("the server is there");
        let message: Value = serde_json::from_str(&line).expect("JSON");
        let text = message["result"]["content"][0]["text"].as_str().unwrap_or_default();

        assert!(text.chars().count() <= MAX_CHARS, "{} bytes", text.len());
        assert!(line.len() < 16 * MAX_CHARS || !message["result"]["content"][1].is_null(), "{}", line.len());

        message
    }

    /// Returns the largest amount of memory that the process has had so far, in MiB.
    fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(self.system_file("status")).expect("the process is there");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kibibytes / 1024
    }

    fn system_file(&self, name: &str) -> PathBuf {
        let id = self.child.id().expect("the process runs");
        PathBuf::from(format!("/proc/{id}/{name}"))
    }
}

/// Returns the same steps for every request.
fn steps(steps: Vec<Step>) -> Answers {
    Arc::new(move |_| steps.clone())
}

/// Returns a whole answer.
fn answer(status: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
