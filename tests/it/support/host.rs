//! A host that sends raw JSON-RPC, so that no library changes the messages.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tas_mcp::{
    mcp::{self, Server},
    settings::Settings,
};
mod over_http;

use self::over_http::HostOverHttp;
use super::HANG_LIMIT;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// Size of the pipe in bytes.
const PIPE_SIZE: usize = 1 << 20;

/// Variable that lets the hosts of this test binary use HTTP instead of a pipe, if its value is `http`.
pub(crate) const TRANSPORT: &str = "TAS_TEST_TRANSPORT";

/// A host connected to a server in this process.
pub(crate) struct Host {
    connection: Connection,
    next_id: AtomicU64,
}

enum Connection {
    /// The transport on standard input and output.
    Pipe {
        lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
        input: WriteHalf<DuplexStream>,
    },
    Http(HostOverHttp),
}

impl Host {
    /// Starts a server with these settings. The host has sent nothing yet.
    pub(crate) fn connect(settings: &Settings) -> Self {
        Self::to(Server::from_settings(settings))
    }

    /// Connects to this server. The host has sent nothing yet.
    pub(crate) fn to(server: Server) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a switch of the tests, not a setting")]
        let uses_http = std::env::var_os(TRANSPORT).is_some_and(|transport| transport == "http");
        let connection = if uses_http {
            Connection::Http(HostOverHttp::to(server))
        } else {
            Connection::over_pipe(server)
        };

        Self { connection, next_id: AtomicU64::new(1) }
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
        match &mut self.connection {
            Connection::Pipe { .. } => self.send_line(&message.to_string()).await,
            Connection::Http(host) => host.send(message),
        }
    }

    /// Sends a line, which need not be a message, over a pipe.
    pub(crate) async fn send_line(&mut self, line: &str) {
        let Connection::Pipe { input, .. } = &mut self.connection else { panic!("HTTP has no lines") };
        input.write_all(format!("{line}\n").as_bytes()).await.expect("the server reads");
    }

    /// Returns the next message of the server.
    pub(crate) async fn receive(&mut self) -> Value {
        let message = async {
            match &mut self.connection {
                Connection::Pipe { lines, .. } => {
                    lines.next_line().await.expect("a line").expect("the server is there")
                }
                Connection::Http(host) => host.receive().await,
            }
        };
        let message = tokio::time::timeout(HANG_LIMIT, message).await.expect("a message in time");
        serde_json::from_str(&message).expect("JSON")
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

    /// Calls a tool, which must succeed, and returns the reply.
    pub(crate) async fn succeed(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        reply_of(&result)
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

impl Connection {
    fn over_pipe(server: Server) -> Self {
        let (host_end, server_end) = tokio::io::duplex(PIPE_SIZE);
        let (server_input, server_output) = tokio::io::split(server_end);
        tokio::spawn(mcp::serve_stdio(server, Box::new(server_input), Box::new(server_output)));
        let (output, input) = tokio::io::split(host_end);
        Self::Pipe { lines: BufReader::new(output).lines(), input }
    }
}

/// Returns the reply in a result as every host shows it: some show the structure alone, without pictures and links beside it.
pub(crate) fn reply_of(result: &Value) -> Value {
    let blocks = result["content"].as_array().expect("blocks");
    let text = serde_json::from_str(blocks[0]["text"].as_str().expect("a text")).expect("the text is JSON");
    let structure = if blocks.len() == 1 { &text } else { &Value::Null };
    assert_eq!(
        &result["structuredContent"], structure,
        "the structure is the text of a result without blocks"
    );
    text
}
