//! Redirects to storage.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{answering, file, player, settings_of};
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    peer::Peer,
};

/// A host that redirects everything to `location`.
async fn redirecting(location: &str) -> Peer {
    let head = format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
    Peer::answering(head).await
}

/// A chain of `count` hosts, the first one first. Each redirects to the next, and the last to `location`.
async fn chain(count: usize, location: String) -> Vec<Peer> {
    let mut peers = vec![redirecting(&location).await];
    while peers.len() < count {
        let next = redirecting(&format!("http://{}/next", peers[0].address())).await;
        peers.insert(0, next);
    }
    peers
}

async fn storage(body: &str) -> Peer {
    let length = body.len();
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\r\n{body}");
    Peer::answering(head).await
}

#[tokio::test]
async fn a_file_is_followed_to_storage_without_the_key() {
    let mut storage = storage("stored text").await;
    let address = format!("http://{}/files/a.log?signature=abc%2F", storage.address());
    let mut peer = redirecting(&address).await;
    let mut host = Host::open(&settings_of(&peer)).await;

    assert_eq!(host.succeed("get_run_artifact", file("a.log")).await["text"], "stored text");

    let (first_requests, followed) = (peer.requests(), storage.requests());

    assert_eq!((first_requests.len(), followed.len()), (1, 1));
    assert!(first_requests[0].contains(&format!("x-api-key: {}", keys::DEMO)), "{first_requests:?}");
    assert!(followed[0].starts_with("GET /files/a.log?signature=abc%2F HTTP/1.1\r\n"), "{followed:?}");
    assert!(followed[0].contains("range: bytes=0-16002\r\n"), "{followed:?}");
    assert!(!followed[0].contains("x-api-key") && !followed[0].contains(keys::DEMO), "{followed:?}");
}

#[tokio::test]
async fn the_same_host_gets_no_key_after_a_redirect() {
    let mut peer = redirecting("/elsewhere").await;
    let mut host = Host::open(&settings_of(&peer)).await;
    host.fail("get_run_artifact", file("a.log")).await;
    let requests = peer.requests();
    assert!(requests.len() > 1 && requests[1].starts_with("GET /elsewhere "), "{requests:?}");
    assert_eq!(requests.iter().filter(|request| request.contains("x-api-key")).count(), 1);
}

#[tokio::test]
async fn at_most_three_redirects_are_followed() {
    for (count, is_followed) in [(3, true), (4, false)] {
        let storage = storage("stored text").await;
        let mut peers = chain(count, format!("http://{}/a", storage.address())).await;
        let mut host = Host::open(&settings_of(&peers[0])).await;

        if is_followed {
            assert_eq!(host.succeed("get_run_artifact", file("a.log")).await["text"], "stored text");
        } else {
            let error = host.fail("get_run_artifact", file("a.log")).await;
            assert_eq!(error["code"], "bad_response");
            assert!(error["message"].as_str().expect("a message").contains("after 3 redirects"), "{error}");
        }

        assert_eq!(peers.iter_mut().map(|peer| peer.requests().len()).collect::<Vec<_>>(), vec![1; count]);
    }
}

#[tokio::test]
async fn a_redirect_without_https_is_refused_and_its_signature_is_not_shown() {
    for (location, reason) in [
        (
            "http://storage.example/a?signature=abc",
            "leads to `http://storage.example`, and is not followed: the address must use https",
        ),
        (
            "ftp://storage.example/a?signature=abc",
            "leads to `ftp://storage.example`, and is not followed: the address must use https",
        ),
        ("file:///etc/passwd", "leads to `file://`, and is not followed: the address must use https"),
        ("https://", "names no usable address in `Location`"),
    ] {
        let peer = redirecting(location).await;
        let error = Host::open(&settings_of(&peer)).await.fail("get_run_artifact", file("a.log")).await;
        assert_eq!((&error["code"], &error["status"]), (&json!("bad_response"), &json!(302)), "{location}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(reason) && !error.to_string().contains("abc"), "{message}");
    }

    let (_peer, mut host) = answering("302 Found", "").await;
    let error = host.fail("get_run_artifact", file("a.log")).await;

    assert!(
        error["message"].as_str().expect("a message").contains("names no address in `Location`"),
        "{error}"
    );
}

#[tokio::test]
async fn errors_of_the_storage_host_name_the_storage_host() {
    let xml = "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>";
    for (status, code) in
        [("403 Forbidden", "rejected"), ("404 Not Found", "not_found"), ("500 Oops", "service_unavailable")]
    {
        let body = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{xml}", xml.len());
        let storage = Peer::answering(body).await;
        let peer = redirecting(&format!("http://{}/a", storage.address())).await;
        let error = Host::open(&settings_of(&peer)).await.fail("get_run_artifact", file("a.log")).await;
        assert_eq!((&error["code"], &error["details"]["service_error"]), (&json!(code), &json!(xml)));
        assert!(error["message"].as_str().expect("a message").contains("storage host"), "{error}");
    }
}

#[tokio::test]
async fn the_sandbox_redirects_large_files_to_storage() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let reply = host.succeed("get_run_artifact", file("recording.mp4")).await;

    assert!(reply["size"].as_u64().expect("a size") >= 300_000 && reply["text"] == Value::Null);

    let requests = service.requests().await;

    assert_eq!(requests[0], format!("GET /runs/{}/artifacts/recording.mp4 302", player()));
    assert!(requests[1].starts_with(&format!("GET /storage/artifacts/{}/recording.mp4?", player())));
    assert!(requests.len() == 2 && requests[1].ends_with(" 206"), "{requests:?}");
}
