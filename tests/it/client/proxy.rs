//! Proxies from environment variables. These tests run the binary, because the environment belongs to the process.

use std::process::Stdio;

use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
};

use super::{answer, run};
use crate::support::{
    binary::HOME_VARIABLES,
    peer::{Event, Peer},
};

/// Starts the binary for `base_url`, with this proxy for every scheme, and sends it a call of `get_run`.
async fn spawn_and_request_run(base_url: &str, proxy: &Peer) -> Child {
    let address = format!("http://{}", proxy.address());
    let mut child = Command::new(env!("CARGO_BIN_EXE_tas-mcp"))
        .env_clear()
        .envs(HOME_VARIABLES)
        .envs([("TAS_BASE_URL", base_url), ("TAS_API_KEY", "svc_any")])
        .envs(["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, &address)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the binary starts");

    let info = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "get_run", "arguments": run()}}),
    ];
    let lines = messages.map(|message| message.to_string()).join("\n") + "\n";

    child.stdin.as_mut().expect("an input").write_all(lines.as_bytes()).await.expect("it reads");

    child
}

#[tokio::test]
async fn https_requests_use_the_proxy_and_do_not_send_it_the_key() {
    let mut proxy = Peer::answering(answer("403 Forbidden", "")).await;
    let _child = spawn_and_request_run("https://service.example/api/v1", &proxy).await;
    let Event::Request(request) = proxy.next().await else { panic!("no request") };
    assert!(request.starts_with("CONNECT service.example:443 "), "{request}");
    assert!(!request.contains("svc_any"));
}

#[tokio::test]
async fn requests_to_the_loopback_do_not_use_the_proxy() {
    let mut proxy = Peer::answering(answer("403 Forbidden", "")).await;
    let service = Peer::answering(answer("200 OK", "{\"multiplayer_run_id\": \"r\"}")).await;
    let mut child = spawn_and_request_run(&format!("http://{}/api/v1", service.address()), &proxy).await;
    let mut lines = BufReader::new(child.stdout.take().expect("an output")).lines();
    let mut last = String::new();

    while !last.contains("\"id\":2") {
        last = lines.next_line().await.expect("a line").expect("it is there");
    }

    assert!(last.contains("multiplayer_run_id") && last.contains("\"isError\":false"), "{last}");
    assert_eq!(proxy.requests(), [""; 0]);
}
