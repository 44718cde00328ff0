//! An MCP client that runs the real server: this binary as a child process, with JSON-RPC over its standard streams.
#![expect(clippy::indexing_slicing, reason = "an index into a JSON value returns null for a missing field")]

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::settings::{HOME_VARIABLES, SETTINGS};

/// Protocol revision that the client requests. Most hosts support it.
const REVISION: &str = "2025-11-25";

/// A client that is connected to a server process.
pub(super) struct McpClient {
    server: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    /// Working directory of the server: without files of settings.
    _directory: TempDir,
    revision: String,
    tools: Vec<Value>,
    last_id: u64,
}

impl McpClient {
    /// Starts the server with these variables and no other settings, and initializes the session.
    pub(super) async fn start(environment: &[(&str, String)]) -> Result<Self> {
        let binary = std::env::current_exe().context("the path of this program cannot be found")?;
        let mut command = Command::new(binary);
        // Settings of the user must not change the demo.
        for setting in SETTINGS.iter().filter(|setting| !setting.variable.is_empty()) {
            command.env_remove(setting.variable);
        }

        let directory = tempfile::tempdir().context("a temporary directory cannot be created")?;
        let home = directory.path().join("home");
        command.current_dir(directory.path()).envs(HOME_VARIABLES.map(|variable| (variable, &home)));

        let variables = environment.iter().map(|(name, value)| (name, value));
        command.envs(variables).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);

        let mut server = command.spawn().context("the server cannot be started")?;
        let input = server.stdin.take().context("the server has no input")?;
        let output = BufReader::new(server.stdout.take().context("the server has no output")?).lines();
        let mut client = Self {
            server,
            input,
            output,
            _directory: directory,
            revision: String::new(),
            tools: Vec::new(),
            last_id: 0,
        };

        client.initialize().await?;

        Ok(client)
    }

    async fn initialize(&mut self) -> Result<()> {
        let client_info = json!({"name": "demo", "version": env!("CARGO_PKG_VERSION")});
        let parameters = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client_info});
        // The server may select another revision than the requested one.
        let result = self.request("initialize", parameters).await?;
        result["protocolVersion"].as_str().context("no revision")?.clone_into(&mut self.revision);

        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;

        let list = self.request("tools/list", json!({})).await?;
        list["tools"].as_array().context("no tools")?.clone_into(&mut self.tools);

        Ok(())
    }

    /// Returns the protocol revision that the server has selected.
    pub(super) fn revision(&self) -> &str {
        &self.revision
    }

    /// Returns the tools that the server offers.
    pub(super) fn tools(&self) -> &[Value] {
        &self.tools
    }

    /// Calls a tool. Returns the structured content of its result, or the error in its result.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> Result<Result<Value, Value>> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        if result["isError"] == true {
            let text = result["content"][0]["text"].as_str().context("an error without text")?;
            let error: Value = serde_json::from_str(text)?;
            return Ok(Err(error["error"].clone()));
        }

        Ok(Ok(result["structuredContent"].clone()))
    }

    /// Closes the input and waits until the server has ended by itself.
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

        // Notifications that arrive before the response are skipped.
        loop {
            let line = self.output.next_line().await?;
            let line = line.with_context(|| format!("the server ended during {method}"))?;
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
