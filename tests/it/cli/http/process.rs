//! `tas-mcp http` as a process.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::{Child, ChildStderr},
};

use crate::support::binary::binary;

/// Flags that let a server listen on free ports.
const FLAGS: [&str; 5] = ["http", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"];

/// A server as a process.
pub(super) struct HttpProcess {
    child: Child,
    errors: BufReader<ChildStderr>,
    /// Address of the endpoint.
    pub(super) url: String,
    pub(super) client: reqwest::Client,
}

impl HttpProcess {
    /// Starts a server with a log in JSON that ends without a pause.
    pub(super) async fn start(variables: &[(&str, &str)]) -> Self {
        Self::start_with(&["--drain-s", "0"], variables).await
    }

    /// Starts a server with a log in JSON, and with further flags.
    pub(super) async fn start_with(flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let arguments = [&FLAGS[..], &["--log-format", "json"], flags].concat();
        let mut child = binary(&arguments, variables).spawn().expect("the binary starts");
        let mut errors = BufReader::new(child.stderr.take().expect("an output"));
        let mut line = String::new();
        let url = loop {
            line.clear();
            let length = errors.read_line(&mut line).await.expect("UTF-8");
            assert!(length > 0, "the server has ended");
            let entry: Value = serde_json::from_str(&line).unwrap_or_default();
            if let Some(url) = entry["message"].as_str().and_then(|text| text.strip_prefix("listening on ")) {
                break url.to_owned();
            }
        };

        let client = crate::support::plain_client().build().expect("a client");
        Self { child, errors, url, client }
    }

    /// Returns host and port of the endpoint.
    pub(super) fn address(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }

    /// Calls a tool at a path below the endpoint, with one header. Returns the status.
    pub(super) async fn call(&self, path: &str, header: (&str, &str), params: &Value) -> u16 {
        self.send(path, header, params).await.status().as_u16()
    }

    pub(super) async fn send(&self, path: &str, header: (&str, &str), params: &Value) -> reqwest::Response {
        let message = json!({"jsonrpc": "2.0", "id": "planted-id", "method": "tools/call", "params": params});
        let request = self.client.post(format!("{}{path}", self.url)).header(header.0, header.1);
        let request = request.header("content-type", "application/json").body(message.to_string());
        request.send().await.expect("a response")
    }

    /// Sends a signal to the server.
    pub(super) fn signal(&self, name: &str) {
        let process = self.child.id().expect("a process").to_string();
        std::process::Command::new("kill").args(["-s", name, &process]).status().expect("kill");
    }

    /// Ends the server with a signal. Returns the text of the log, and its access lines.
    pub(super) async fn end(mut self, signal: &str) -> (String, Vec<Value>) {
        self.signal(signal);
        let mut log = String::new();
        self.errors.read_to_string(&mut log).await.expect("UTF-8");
        assert_eq!(self.child.wait().await.expect("an end").code(), Some(0), "{log}");

        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let access = lines.filter(|line| line["target"] == "access").collect();
        (log, access)
    }
}
