//! A host that sends raw JSON-RPC, so that no library changes the messages.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use tas_mcp::{
    mcp::{self, Server},
    settings::Settings,
};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// Longest wait for a message. After this a test fails instead of hanging. It leaves room for a busy machine.
const MESSAGE_LIMIT: Duration = Duration::from_secs(120);

/// Size of the pipe in bytes.
const PIPE_SIZE: usize = 1 << 20;

/// A host connected to a server in this process, over the same transport as standard input and output.
pub(crate) struct Host {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    input: WriteHalf<DuplexStream>,
    next_id: AtomicU64,
}

impl Host {
    /// Starts a server with these settings. The host has sent nothing yet.
    pub(crate) fn connect(settings: &Settings) -> Self {
        Self::to(Server::from_settings(settings))
    }

    /// Connects to this server. The host has sent nothing yet.
    pub(crate) fn to(server: Server) -> Self {
        let (host_end, server_end) = tokio::io::duplex(PIPE_SIZE);
        let (server_input, server_output) = tokio::io::split(server_end);
        tokio::spawn(mcp::serve_stdio(server, server_input, server_output));
        let (output, input) = tokio::io::split(host_end);
        Self { lines: BufReader::new(output).lines(), input, next_id: AtomicU64::new(1) }
    }

    /// Starts a server with these settings and initializes the session.
    pub(crate) async fn open(settings: &Settings) -> Self {
        let mut host = Self::connect(settings);
        host.initialize("2025-11-25").await;
        host
    }

    /// Initializes the session in this revision and returns the result.
    pub(crate) async fn initialize(&mut self, revision: &str) -> Value {
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}});
        let result = self.request("initialize", params).await["result"].clone();
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        result
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    pub(crate) async fn send_line(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).await.expect("the server reads");
        self.input.write_all(b"\n").await.expect("the server reads");
    }

    /// Returns the next message of the server.
    pub(crate) async fn receive(&mut self) -> Value {
        let line =
            tokio::time::timeout(MESSAGE_LIMIT, self.lines.next_line()).await.expect("a message in time");
        let line = line.expect("a line").expect("the server is there");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Sends a request and returns the answer. Other messages before it are dropped.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params).await;
        self.answer(id).await
    }

    /// Sends a request and returns its id.
    pub(crate) async fn start(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Returns the answer to a request. Other messages before it are dropped.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().await;
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Calls a tool and returns the result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(answer["error"].is_null(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool, which must succeed, and returns the structured content.
    pub(crate) async fn succeed(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().expect("a text block");
        let text: Value = serde_json::from_str(text).expect("the text is JSON");
        assert_eq!(text, result["structuredContent"], "text and structure are equal");
        text
    }

    /// Calls a tool, which must fail, and returns the error.
    pub(crate) async fn fail(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert!(result["structuredContent"].is_null(), "a failure has no structure");
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1));
        let text = result["content"][0]["text"].as_str().expect("a text block");
        serde_json::from_str::<Value>(text).expect("the text is JSON")["error"].take()
    }

    /// Calls a tool with invalid arguments. Returns each violation as `path: rule`.
    pub(crate) async fn violations(&mut self, tool: &str, arguments: Value) -> Vec<String> {
        let error = self.fail(tool, arguments).await;
        assert_eq!(error["code"], "invalid_arguments", "{error}");
        let fields =
            |one: &Value| [&one["path"], &one["rule"]].map(|text| text.as_str().expect("a text").to_owned());
        let listed = error["details"]["violations"].as_array().expect("a list");
        listed.iter().map(fields).map(|[path, rule]| format!("{path}: {rule}")).collect()
    }
}
