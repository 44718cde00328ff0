//! A storage host with TLS. Every storage host except those on the loopback needs TLS.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{fixture, text};
use crate::support::{stub::Stub, tls::Secure};

/// Uploads three bytes in one part to a storage host with a trusted or an untrusted certificate. Returns the result and
/// the requests to the storage host.
async fn upload(trusted: bool) -> (Result<Value, Value>, Vec<String>) {
    let head = "HTTP/1.1 200 OK\r\netag: \"t1\"\r\ncontent-length: 0\r\n\r\n";
    let mut storage = Secure::start("127.0.0.1", head.to_owned()).await;
    let url = format!("{}/part?signature=s", storage.address);
    let stub = Stub::start(move |target| {
        let answer = match target.split(' ').collect::<Vec<_>>()[..] {
            ["POST", path] if path.ends_with("/complete") => json!({"build_id": "b"}),
            ["POST", _] => {
                json!({"build_id": "b", "upload_id": "u", "object_key": "o", "total_parts": 1, "part_size": 3})
            }
            ["GET", _] => json!({"upload_urls": [{"part_number": 1, "url": url}]}),
            _ => json!({"success": true}),
        };
        std::future::ready((200, answer))
    })
    .await;

    let trust = trusted.then(|| ("TAS_CA_FILE", storage.authority()));
    let variables: Vec<_> = [("TAS_PROJECT_ID", "demo")].into_iter().chain(trust).collect();
    let mut session = fixture().variables(&variables).open_with(stub).await;
    session.write("game.apk", b"abc");

    let arguments = json!({"path": "game.apk"});
    let outcome = if trusted {
        Ok(session.host.succeed("upload_build", arguments).await)
    } else {
        Err(session.host.fail("upload_build", arguments).await)
    };

    // The server closes its connections.
    drop(session);

    (outcome, storage.requests())
}

#[tokio::test]
async fn parts_are_sent_without_the_key_to_a_storage_host_with_a_trusted_certificate() {
    let (outcome, requests) = upload(true).await;
    assert_eq!(outcome.expect("it is uploaded")["status"], "uploaded");
    let [part] = &requests[..] else { panic!("one request: {requests:?}") };
    assert!(part.starts_with("PUT /part?signature=s HTTP/1.1") && part.ends_with("\r\n\r\nabc"), "{part}");
    assert!(part.contains("\r\ncontent-type: application/octet-stream\r\n"), "{part}");
    assert!(!part.contains(keys::DEMO) && !part.to_ascii_lowercase().contains("x-api-key"), "{part}");
}

#[tokio::test]
async fn nothing_is_sent_to_a_storage_host_with_an_untrusted_certificate() {
    let (outcome, requests) = upload(false).await;
    let error = outcome.expect_err("it fails");
    assert_eq!((&error["code"], requests), (&json!("service_unavailable"), vec![]));
    assert!(text(&error["message"]).contains("certificate"), "{error}");
    assert_eq!(error["details"]["upload"], "cancelled: nothing remains at the service");
}
