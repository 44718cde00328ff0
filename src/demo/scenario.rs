//! The state of the demo, and the calls that all steps make.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::{client::McpClient, transcript::Transcript};
use crate::sandbox::Sandbox;

/// State of the demo.
pub(super) struct Scenario {
    pub(super) sandbox: Sandbox,
    pub(super) client: McpClient,
    pub(super) transcript: Transcript,
}

impl Scenario {
    /// Prints what the demo shows.
    pub(super) fn introduce(&mut self) -> Result<()> {
        let tools = self.client.tools().len();
        ensure!(tools > 0, "the server offers no tools");

        self.transcript.title("An assistant tests a game");
        self.transcript.text(&format!(
            "tas-mcp serves {tools} tools over MCP {}, in global scope, with a sandbox of the service.",
            self.client.revision()
        ));

        Ok(())
    }

    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        self.transcript.call(tool, &arguments);
        self.call_silently(tool, arguments).await
    }

    /// Calls a tool that must succeed.
    pub(super) async fn call_silently(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        match self.client.call(tool, arguments).await? {
            Ok(reply) => Ok(reply),
            Err(error) => bail!("{tool} failed: {error}"),
        }
    }
}

pub(super) fn records(list: &Value) -> Result<&Vec<Value>> {
    list.get("data").and_then(Value::as_array).context("the reply is not a list")
}

pub(super) fn text<'a>(record: &'a Value, field: &str) -> Result<&'a str> {
    record.get(field).and_then(Value::as_str).with_context(|| format!("no `{field}` in {record}"))
}
