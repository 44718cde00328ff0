//! The end of a server.

use std::{
    io::Write as _,
    net::{SocketAddr, TcpStream},
    sync::Arc,
    time::Duration,
};

use serde_json::json;
use tas_mcp::sandbox::keys;
use tokio::{io::AsyncReadExt as _, sync::Semaphore};

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, json_of},
    stub::Stub,
};

#[tokio::test]
async fn calls_under_way_are_answered_before_the_end() {
    let gate = Arc::new(Semaphore::new(0));
    let permits = Arc::clone(&gate);
    let service = Stub::start(move |_| {
        let permits = Arc::clone(&permits);
        async move {
            permits.acquire().await.expect("an open gate").forget();
            (
                200,
                json!({"data": [], "pagination": {"page": 0, "page_size": 1, "total_count": 0, "total_pages": 0}}),
            )
        }
    });
    let service = service.await;
    let mut server = HttpUnderTest::start(&service.settings(keys::DEMO, &FREE_PORTS));
    let call = server.modern_request("/mcp", "tools/call", json!({"name": "list_runs", "arguments": {}}));
    let call = tokio::spawn(call.send());
    while service.requests().is_empty() {
        tokio::task::yield_now().await;
    }

    server.stop();
    while server.admin("/readyz").await.0 != 503 {}
    // A proxy that has not noticed the end yet is served, and asked to close its connection.
    let late = server.modern("/mcp", &[], "tools/list", json!({})).await;
    assert_eq!(
        (late.status().as_u16(), &late.headers()["connection"]),
        (200, &http::HeaderValue::from_static("close"))
    );

    gate.add_permits(1);
    let answer = json_of(call.await.expect("a task").expect("a response")).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    (&mut server.serving).await.expect("an end");
}

#[tokio::test]
async fn calls_that_take_too_long_are_cancelled_at_the_end() {
    let service = Stub::start(|_| std::future::pending()).await;
    let variables = [&FREE_PORTS[..], &[("TAS_HTTP_DRAIN_S", "0")]].concat();
    let mut server = HttpUnderTest::start(&service.settings(keys::DEMO, &variables));
    let call = server.modern_request("/mcp", "tools/call", json!({"name": "list_runs", "arguments": {}}));
    let call = tokio::spawn(call.send());
    while service.requests().is_empty() {
        tokio::task::yield_now().await;
    }

    server.stop();
    let answer = json_of(call.await.expect("a task").expect("a response")).await;
    assert!(answer.to_string().contains("the server is stopping"), "{answer}");
    (&mut server.serving).await.expect("an end");
}

/// More connections than the server accepts between two other events.
const WAITING_CONNECTIONS: usize = 150;

#[tokio::test]
async fn connections_that_wait_when_the_server_stops_to_listen_are_served() {
    let service = Stub::start(|_| std::future::pending()).await;
    let variables = [&FREE_PORTS[..], &[("TAS_HTTP_RATE", "1000")]].concat();
    let mut server = HttpUnderTest::start(&service.settings(keys::DEMO, &variables));
    server.stop();
    while server.admin("/readyz").await.0 != 503 {}

    // The server shares this thread, so that it accepts nothing before the time has passed.
    tokio::time::pause();
    let connections: Vec<_> = (0..WAITING_CONNECTIONS).map(|_| send_request(server.address)).collect();
    tokio::time::advance(Duration::from_secs(5)).await;
    tokio::time::resume();

    let mut answered = 0;
    for connection in connections {
        connection.set_nonblocking(true).expect("a connection");
        let mut connection = tokio::net::TcpStream::from_std(connection).expect("a connection");
        let mut answer = String::new();
        let received = connection.read_to_string(&mut answer).await;
        answered += usize::from(received.is_ok() && answer.starts_with("HTTP/1.1 405"));
    }
    assert_eq!(answered, WAITING_CONNECTIONS);
}

/// Connects and sends a request that is answered at once.
fn send_request(address: SocketAddr) -> TcpStream {
    let mut connection = TcpStream::connect(address).expect("a connection");
    connection.write_all(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("a request");
    connection
}
