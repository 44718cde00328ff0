//! Compares `get_run` over standard input and output with the same request to the service, sent directly.
//! `cargo bench --bench call`
#![expect(clippy::expect_used, reason = "a benchmark without a sandbox cannot run")]

mod ratio;

use std::{
    cell::RefCell,
    io::{BufRead as _, BufReader, Write as _},
    net::{Ipv4Addr, SocketAddr},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::json;
use tas_mcp::sandbox::{self, Options, keys, seed};
use tokio::runtime::{Builder, Runtime};

/// Number of calls in a measurement.
const CALLS: u32 = 50;

fn main() {
    let base_url = start_sandbox();
    let server = RefCell::new(Server::start(&base_url));
    let direct = direct_requests(&base_url);

    ratio::compare("get_run", CALLS, || server.borrow_mut().call(), ("the request alone", direct));
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Starts a sandbox on a thread of its own. Returns its address.
fn start_sandbox() -> String {
    let (sender, receiver) = std::sync::mpsc::channel();

    std::thread::spawn(move || {
        runtime().block_on(async {
            let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let sandbox = sandbox::start(listen, Options::default(), None).await.expect("a free port");
            sender.send(sandbox.base_url()).expect("a receiver");
            std::future::pending::<()>().await;
        });
    });

    receiver.recv().expect("an address")
}

/// The program as a child process.
struct Server {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Server {
    fn start(base_url: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_tas-mcp"))
            .env("TAS_BASE_URL", base_url)
            .env("TAS_API_KEY", keys::DEMO)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let input = process.stdin.take().expect("an input");
        let output = BufReader::new(process.stdout.take().expect("an output"));
        let mut server = Self { process, input, output, line: String::new() };

        server.exchange(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"},
        }}));

        server
    }

    fn call(&mut self) {
        let params = json!({"name": "get_run", "arguments": {"run_id": seed::RUN_FAILED}});
        self.exchange(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
        assert!(self.line.contains("structuredContent"), "{}", self.line);
    }

    fn exchange(&mut self, request: &serde_json::Value) {
        writeln!(self.input, "{request}").expect("the server reads");
        self.line.clear();
        self.output.read_line(&mut self.line).expect("an answer");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().expect("a process");
        self.process.wait().expect("an end");
    }
}

/// Returns the function that sends the request of a call on a connection that is kept.
fn direct_requests(base_url: &str) -> impl Fn() {
    let runtime = runtime();
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let url = format!("{base_url}/runs/{}", seed::RUN_FAILED);

    move || {
        runtime.block_on(async {
            let answer = client.get(&url).header("X-Api-Key", keys::DEMO).send().await;
            let answer = answer.and_then(reqwest::Response::error_for_status).expect("an answer");
            answer.bytes().await.expect("a body");
        });
    }
}
