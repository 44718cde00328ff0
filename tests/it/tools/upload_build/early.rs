//! A storage host that answers before it has read the part.

use std::{fs::File, time::Duration};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::fixture;
use crate::support::stub::Stub;

/// Size of the part in bytes. It is larger than the buffers of a connection.
const SIZE: u64 = 64 << 20;

/// Starts a storage host that refuses every request after its head and does not read the body. Returns the address of a
/// part.
async fn start_refusing_storage() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("http://{}/part", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        // Connections stay open: a closed connection would end the transfer too.
        let mut connections = Vec::new();
        while let Ok((mut peer, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(peer.read_u8().await.expect("a head"));
            }
            let answer = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
            peer.write_all(answer).await.expect("it can be answered");
            connections.push(peer);
        }
    });

    address
}

#[tokio::test]
async fn an_early_refusal_ends_the_transfer() {
    let address = start_refusing_storage().await;
    let stub = Stub::start(move |target| {
        let initiation = json!({
            "build_id": "b", "upload_id": "u", "object_key": "o", "total_parts": 1, "part_size": SIZE,
        });
        let answer = match target.split(' ').next() {
            Some("POST") => initiation,
            Some("GET") => json!({"upload_urls": [{"part_number": 1, "url": address}]}),
            _ => json!({"success": true}),
        };
        std::future::ready((200, answer))
    })
    .await;

    let mut session = fixture().variables(&[("TAS_PROJECT_ID", "demo")]).open_with(stub).await;
    let file = File::create(session.root().join("game.apk")).expect("a file");
    file.set_len(SIZE).expect("a sparse file");

    let arguments = json!({"path": "game.apk"});
    let upload = session.host.fail("upload_build", arguments);
    let error = tokio::time::timeout(Duration::from_secs(20), upload).await.expect("it ends at once");

    assert_eq!((&error["code"], &error["status"]), (&json!("rejected"), &json!(403)), "{error}");
}
