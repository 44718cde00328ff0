//! A host that speaks raw JSON-RPC with the server, so that no library decides what is on the wire.

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

/// After this a missing message fails the test instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Room in the pipe, in bytes.
const PIPE: usize = 1 << 20;

/// A host connected to a server in this process, over the same transport as standard input and output.
pub(crate) struct Host {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    input: WriteHalf<DuplexStream>,
    next_id: AtomicU64,
}

impl Host {
    /// Connected, nothing said yet.
    pub(crate) fn connect(settings: &Settings) -> Self {
        Self::to(Server::from_settings(settings))
    }

    /// Connected to this server, nothing said yet.
    pub(crate) fn to(server: Server) -> Self {
        let (near, far) = tokio::io::duplex(PIPE);
        let (their_input, their_output) = tokio::io::split(far);
        tokio::spawn(mcp::serve_stdio(server, their_input, their_output));
        let (output, input) = tokio::io::split(near);
        Self { lines: BufReader::new(output).lines(), input, next_id: AtomicU64::new(1) }
    }

    /// Connected and initialized.
    pub(crate) async fn open(settings: &Settings) -> Self {
        let mut host = Self::connect(settings);
        host.initialize("2025-11-25").await;
        host
    }

    /// Says `initialize` in this revision and gives the result.
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

    /// The next message of the server.
    pub(crate) async fn receive(&mut self) -> Value {
        let line =
            tokio::time::timeout(PATIENCE, self.lines.next_line()).await.expect("the server says something");
        let line = line.expect("a line").expect("the server is there");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Sends a request and gives the answer to it, whatever else comes before.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params).await;
        self.answer(id).await
    }

    /// Sends a request and gives its id.
    pub(crate) async fn start(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().await;
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Calls a tool; the whole result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(answer["error"].is_null(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool that succeeds; its structured content.
    pub(crate) async fn succeed(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().expect("a text block");
        let text: Value = serde_json::from_str(text).expect("the text is JSON");
        assert_eq!(text, result["structuredContent"], "text and structure say the same");
        text
    }

    /// Calls a tool that fails; what is under `error`.
    pub(crate) async fn fail(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert!(result["structuredContent"].is_null(), "a failure has no structure");
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1));
        let text = result["content"][0]["text"].as_str().expect("a text block");
        serde_json::from_str::<Value>(text).expect("the text is JSON")["error"].take()
    }

    /// Calls a tool with arguments that break rules; each violation as `path: rule`.
    pub(crate) async fn violations(&mut self, tool: &str, arguments: Value) -> Vec<String> {
        let error = self.fail(tool, arguments).await;
        assert_eq!(error["code"], "invalid_arguments", "{error}");
        let said =
            |one: &Value| [&one["path"], &one["rule"]].map(|text| text.as_str().expect("a text").to_owned());
        let listed = error["details"]["violations"].as_array().expect("a list");
        listed.iter().map(said).map(|[path, rule]| format!("{path}: {rule}")).collect()
    }
}
