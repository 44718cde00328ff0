//! Proxies from environment variables. These tests run the binary, because the environment belongs to the process.

use std::process::Stdio;

use serde_json::json;
use tokio::{
    io::{self, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};
use tokio_rustls::TlsAcceptor;

use super::{answer, run};
use crate::support::{
    binary::HOME_VARIABLES,
    peer::{Event, Peer},
    tls::{self, Secure},
};

/// A run, as the service answers it.
const RUN: &str = "{\"multiplayer_run_id\": \"r\"}";

/// Starts the binary for `base_url`, with this proxy for every scheme, and sends it a call of `get_run`.
async fn spawn_and_request_run(base_url: &str, proxy: &str, more: &[(&str, &str)]) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tas-mcp"))
        .env_clear()
        .envs(HOME_VARIABLES)
        .envs([("TAS_BASE_URL", base_url), ("TAS_API_KEY", "svc_any")])
        .envs(["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, proxy)))
        .envs(more.iter().copied())
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

/// Returns the answer to the call.
async fn call_answer(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stdout.take().expect("an output")).lines();

    loop {
        let line = lines.next_line().await.expect("a line").expect("it is there");
        if line.contains("\"id\":2") {
            return line;
        }
    }
}

/// Starts a proxy that connects to `target`, whatever it is asked for. Returns its host and port, and the requests.
async fn start_tunnel(target: String, tls: Option<TlsAcceptor>) -> (String, UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let (sender, requests) = unbounded_channel();

    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (target, sender) = (TcpStream::connect(&target).await.expect("a target"), sender.clone());
            match &tls {
                Some(tls) => {
                    let stream = tls.accept(stream).await.expect("a secure connection");
                    tokio::spawn(tunnel(stream, target, sender));
                }
                None => drop(tokio::spawn(tunnel(stream, target, sender))),
            }
        }
    });

    (address, requests)
}

async fn tunnel(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    mut target: TcpStream,
    requests: UnboundedSender<String>,
) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.expect("a request"));
    }
    requests.send(String::from_utf8(request).expect("a text")).expect("the test is waiting");

    stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await.expect("the client reads");
    drop(io::copy_bidirectional(&mut stream, &mut target).await);
}

#[tokio::test]
async fn requests_reach_the_service_through_a_proxy_that_needs_credentials() {
    for scheme in ["http", "https"] {
        let mut service = Secure::start("service.example", answer("200 OK", RUN)).await;
        let (acceptor, proxy_authority) = tls::acceptor("127.0.0.1");
        let acceptor = (scheme == "https").then_some(acceptor);
        let target = service.address.trim_start_matches("https://").to_owned();
        let (address, mut requests) = start_tunnel(target, acceptor).await;

        let authorities = tempfile::NamedTempFile::new().expect("a file");
        let service_authority = std::fs::read_to_string(service.authority()).expect("a certificate");
        std::fs::write(authorities.path(), service_authority + proxy_authority).expect("a writable file");

        let proxy = format!("{scheme}://name:planted@{address}");
        let trusted = [("TAS_CA_FILE", authorities.path().to_str().expect("a path"))];
        let mut child = spawn_and_request_run("https://service.example/api/v1", &proxy, &trusted).await;
        let answer = call_answer(&mut child).await;

        assert!(answer.contains("multiplayer_run_id") && answer.contains("\"isError\":false"), "{answer}");

        let request = requests.recv().await.expect("a request").to_ascii_lowercase();

        assert!(request.starts_with("connect service.example:443 http/1.1\r\n"), "{request}");
        // `name:planted` in Base64.
        assert!(request.contains("proxy-authorization: basic bmftztpwbgfudgvk\r\n"), "{request}");
        assert!(service.requests().iter().any(|request| request.contains("svc_any")));
    }
}

#[tokio::test]
async fn https_requests_use_the_proxy_and_do_not_send_it_the_key() {
    let mut proxy = Peer::answering(answer("403 Forbidden", "")).await;
    let address = format!("http://{}", proxy.address());
    let _child = spawn_and_request_run("https://service.example/api/v1", &address, &[]).await;
    let Event::Request(request) = proxy.next().await else { panic!("no request") };
    assert!(request.starts_with("CONNECT service.example:443 "), "{request}");
    assert!(!request.contains("svc_any"));
}

#[tokio::test]
async fn requests_to_the_loopback_do_not_use_the_proxy() {
    let mut proxy = Peer::answering(answer("403 Forbidden", "")).await;
    let service = Peer::answering(answer("200 OK", RUN)).await;
    let (base_url, address) = (format!("http://{}/api/v1", service.address()), proxy.address());
    let mut child = spawn_and_request_run(&base_url, &format!("http://{address}"), &[]).await;
    let answer = call_answer(&mut child).await;

    assert!(answer.contains("multiplayer_run_id") && answer.contains("\"isError\":false"), "{answer}");
    assert_eq!(proxy.requests(), [""; 0]);
}
