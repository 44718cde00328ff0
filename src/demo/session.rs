//! A session with the real server: this binary as a child, JSON-RPC over its standard streams.

use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

/// Revision that is asked for: what most hosts speak.
const REVISION: &str = "2025-11-25";

/// A connected host.
pub(super) struct Session {
    server: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    revision: String,
    tools: Vec<Value>,
    last_id: u64,
}

impl Session {
    /// Starts the server with these variables and no other settings.
    pub(super) async fn start(environment: &[(&str, String)]) -> Result<Self> {
        let binary = std::env::current_exe().context("the server's binary cannot be found")?;
        let mut command = Command::new(binary);

        for setting in crate::settings::SETTINGS.iter().filter(|setting| !setting.variable.is_empty()) {
            command.env_remove(setting.variable);
        }

        let variables = environment.iter().map(|(name, value)| (name, value));
        command.envs(variables).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);

        let mut server = command.spawn().context("the server cannot be started")?;
        let input = server.stdin.take().context("the server has no input")?;
        let output = BufReader::new(server.stdout.take().context("the server has no output")?).lines();
        let mut session =
            Self { server, input, output, revision: String::new(), tools: Vec::new(), last_id: 0 };

        session.initialize().await?;

        Ok(session)
    }

    async fn initialize(&mut self) -> Result<()> {
        let client = json!({"name": "demo", "version": env!("CARGO_PKG_VERSION")});
        let parameters = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client});
        let result = self.request("initialize", parameters).await?;

        result["protocolVersion"].as_str().context("no revision")?.clone_into(&mut self.revision);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;

        let list = self.request("tools/list", json!({})).await?;
        list["tools"].as_array().context("no tools")?.clone_into(&mut self.tools);

        Ok(())
    }

    pub(super) fn revision(&self) -> &str {
        &self.revision
    }

    pub(super) fn tools(&self) -> &[Value] {
        &self.tools
    }

    /// Calls a tool: its structured content, or the error that it answered.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> Result<Result<Value, Value>> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        if result["isError"] == true {
            let text = result["content"][0]["text"].as_str().context("an error without words")?;
            let error: Value = serde_json::from_str(text)?;
            return Ok(Err(error["error"].clone()));
        }

        Ok(Ok(result["structuredContent"].clone()))
    }

    /// Closes the input, and waits for the server to end by itself.
    pub(super) async fn end(mut self) -> Result<()> {
        drop(self.input);
        let status = self.server.wait().await?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }

    async fn request(&mut self, method: &str, parameters: Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})).await?;

        loop {
            let line = self
                .output
                .next_line()
                .await?
                .with_context(|| format!("the server ended during {method}"))?;
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                ensure!(message["error"].is_null(), "{method}: {}", message["error"]);
                return Ok(message["result"].clone());
            }
        }
    }

    async fn send(&mut self, message: &Value) -> Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(self.input.flush().await?)
    }
}
