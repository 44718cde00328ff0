//! Requests byte by byte: what clients and proxies send that break HTTP, and what HTTP allows but is rare.

use tas_mcp::sandbox::keys;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest},
    service::Service,
};

/// A message that is answered at once, so that a client that closes its half of the connection still gets the answer.
const MESSAGE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

async fn start() -> (Service, HttpUnderTest) {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings(keys::DEMO, &FREE_PORTS));
    (service, server)
}

/// Sends bytes on a connection of their own, closes the sending half, and returns everything that the server sends.
async fn exchange(server: &HttpUnderTest, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).await.expect("a connection");
    // The server may refuse a request, and close the connection, before it has read all of it.
    drop(stream.write_all(bytes).await);
    drop(stream.shutdown().await);
    let mut received = Vec::new();
    drop(stream.read_to_end(&mut received).await);
    String::from_utf8_lossy(&received).into_owned()
}

/// Returns a request with these lines of the head, and a body with its length.
fn request(line: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("{line}\r\n{headers}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
}

#[tokio::test]
async fn every_request_has_the_status_that_http_defines() {
    let (_service, server) = start().await;
    let host = "host: localhost\r\n";
    let chunked = |body: &str| {
        let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n";
        format!("{head}\r\n{body}")
    };
    let chunk = format!("{:x}\r\n{MESSAGE}\r\n0\r\n\r\n", MESSAGE.len());
    let cases = [
        (request("POST /mcp HTTP/1.1", host, MESSAGE), "200"),
        (request("POST http://localhost/mcp HTTP/1.1", host, MESSAGE), "200"),
        (request("POST http://attacker.example/mcp HTTP/1.1", host, MESSAGE), "403"),
        (request("POST /mcp HTTP/1.0", host, MESSAGE), "200"),
        (request("POST /mcp HTTP/1.0", "", MESSAGE), "400"),
        (request("POST /mcp HTTP/1.1", "", MESSAGE), "400"),
        (request("POST /mcp HTTP/1.1", "host: localhost\r\nhost: localhost\r\n", MESSAGE), "400"),
        (request("POST * HTTP/1.1", host, MESSAGE), "404"),
        (request("POST /mcp HTTP/3.0", host, MESSAGE), "400"),
        (request("post /mcp HTTP/1.1", host, MESSAGE), "405"),
        (request("POST  /mcp HTTP/1.1", host, MESSAGE), "400"),
        (request("POST /mcp HTTP/1.1", "host: localhost\r\nbad header: x\r\n", MESSAGE), "400"),
        (request("POST /mcp HTTP/1.1", "host: localhost\r\ncontent-length: 3\r\n", MESSAGE), "400"),
        (
            request(
                "POST /mcp HTTP/1.1",
                "host: localhost\r\nx-api-key: svc_aaaaaa\r\nx-api-key: svc_bbbbbb\r\n",
                MESSAGE,
            ),
            "400",
        ),
        (chunked(&chunk), "200"),
        (chunked("zz\r\n"), "400"),
        ("\0\0\0\0\r\n\r\n".to_owned(), "400"),
    ];

    for (bytes, status) in cases {
        let received = exchange(&server, bytes.as_bytes()).await;
        let line = received.lines().next().unwrap_or_default();
        assert_eq!(line.split(' ').nth(1), Some(status), "{bytes}\n{received}");
    }
}

/// Each chunk costs time, however short it is.
#[tokio::test]
async fn a_body_of_many_small_chunks_is_refused() {
    let (_service, server) = start().await;
    let head =
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let chunk = format!("{:x}\r\n{MESSAGE}\r\n0\r\n\r\n", MESSAGE.len());
    for (spaces, status) in [(100, "200"), (1_000, "400")] {
        let chunks = "1\r\n \r\n".repeat(spaces) + &chunk;
        let mut stream = TcpStream::connect(server.address).await.expect("a connection");
        let request = format!("{head}transfer-encoding: chunked\r\n\r\n{chunks}");
        stream.write_all(request.as_bytes()).await.expect("an open connection");
        let mut received = String::new();
        drop(stream.read_to_string(&mut received).await);
        assert_eq!(received.split(' ').nth(1), Some(status), "{received}");
    }
}

/// A proxy and the server must not disagree where a request ends.
#[tokio::test]
async fn a_length_beside_a_transfer_encoding_smuggles_no_request() {
    let (_service, server) = start().await;
    let smuggled = request("POST /mcp/x/lean HTTP/1.1", "host: localhost\r\n", MESSAGE);
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let both = format!("{head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}");
    let received = exchange(&server, both.as_bytes()).await;

    let responses = received.matches("HTTP/1.1 ").count();
    assert_eq!(responses, 1, "{received}");
    assert!(received.starts_with("HTTP/1.1 400"), "{received}");
}

#[tokio::test]
async fn requests_on_one_connection_are_answered_in_order() {
    let (_service, server) = start().await;
    let message = |id: u64| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let host = "host: localhost\r\n";
    let mut bytes: String = (1..20).map(|id| request("POST /mcp HTTP/1.1", host, &message(id))).collect();
    bytes += &request("POST /mcp HTTP/1.1", &format!("{host}connection: close\r\n"), &message(20));

    // A client that closes its half of the connection cancels the requests that are not answered yet.
    let mut stream = TcpStream::connect(server.address).await.expect("a connection");
    stream.write_all(bytes.as_bytes()).await.expect("an open connection");
    let mut received = String::new();
    stream.read_to_string(&mut received).await.expect("text");

    let ids: Vec<_> = received.lines().filter_map(|line| line.split_once(r#""id":"#)).collect();
    let ids: Vec<u64> = ids
        .iter()
        .map(|(_, rest)| rest.split(',').next().expect("an id").parse().expect("a number"))
        .collect();
    assert_eq!(ids, (1..=20).collect::<Vec<_>>());
}

#[tokio::test]
async fn half_a_request_and_a_long_head_end_the_connection_only() {
    let (_service, server) = start().await;
    let complete = request("POST /mcp HTTP/1.1", "host: localhost\r\n", MESSAGE);
    for end in [4, complete.len() / 2, complete.len() - 1] {
        let received = exchange(&server, &complete.as_bytes()[..end]).await;
        assert!(received.is_empty() || received.starts_with("HTTP/1.1 400"), "{end}: {received}");
    }

    // The connection may be closed before the client reads the response.
    for headers in [format!("x-long: {}\r\n", "x".repeat(200_000)), "x-many: 1\r\n".repeat(200)] {
        let long = request("POST /mcp HTTP/1.1", &format!("host: localhost\r\n{headers}"), MESSAGE);
        let received = exchange(&server, long.as_bytes()).await;
        assert!(received.is_empty() || received.starts_with("HTTP/1.1 431"), "{received}");
    }

    assert!(exchange(&server, complete.as_bytes()).await.starts_with("HTTP/1.1 200"));
}
