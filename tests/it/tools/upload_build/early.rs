//! A storage host that answers before it has read what is sent to it.

use std::{fs::File, time::Duration};

use serde_json::json;
use tas_mcp::sandbox::keys;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::{UploadFixture, short_pauses, text_of};
use crate::support::{host::Host, stub::Stub};

/// Bytes of the part: more than connections hold by themselves.
const SIZE: u64 = 64 << 20;

/// Refuses every request when its head has come, and reads nothing more; gives its address.
async fn refusing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("http://{}/part", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Ok((mut peer, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(peer.read_u8().await.expect("a head"));
            }
            let answer = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
            peer.write_all(answer).await.expect("it can be answered");
            kept.push(peer);
        }
    });

    address
}

#[tokio::test]
async fn an_early_refusal_ends_the_transfer() {
    let address = refusing().await;
    let stub = Stub::start(move |target| {
        let initiated = json!({
            "build_id": "b", "upload_id": "u", "object_key": "o", "total_parts": 1, "part_size": SIZE,
        });
        let answer = match target.split(' ').next() {
            Some("POST") => initiated,
            Some("GET") => json!({"upload_urls": [{"part_number": 1, "url": address}]}),
            _ => json!({"success": true}),
        };
        std::future::ready((200, answer))
    })
    .await;

    let fixture = UploadFixture::open().await;
    let file = File::create(fixture.root.path().join("game.apk")).expect("a file");
    file.set_len(SIZE).expect("a sparse file");

    let (root, state) = (text_of(&fixture.root), text_of(&fixture.state));
    let own =
        [("TAS_FILES_ROOT", root.as_str()), ("TAS_STATE_DIR", state.as_str()), ("TAS_PROJECT_ID", "demo")];
    let mut host = Host::open(&stub.settings(keys::DEMO, &own).with_upload_timing(short_pauses())).await;
    let arguments = json!({"path": "game.apk", "checksum": false});
    let failing = host.fail("upload_build", arguments);
    let error = tokio::time::timeout(Duration::from_secs(20), failing).await.expect("it ends at once");

    assert_eq!((&error["code"], &error["status"]), (&json!("rejected"), &json!(403)), "{error}");
}
