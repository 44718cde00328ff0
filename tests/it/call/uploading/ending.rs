//! Uploads that are given up, broken off or completed twice.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{addresses, build, file, left_over, named, open, put_all, refused, taken, text, uploaded, with};
use crate::support::{host::Host, service::Service};

/// Writes a request as it stands and reads the answer to its end.
pub(super) async fn said(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("the sandbox is up");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer
}

#[tokio::test]
async fn a_cancelled_upload_leaves_nothing() {
    let (service, mut host) = open().await;
    let upload = host.succeed("initiate_build_upload", build(2_500)).await;
    let parts = put_all(&mut host, &upload, &file(2_500)).await;

    assert_eq!(left_over(&service).await, (1, 3));

    let urls = addresses(&mut host, &upload, &[1]).await;

    assert_eq!(host.succeed("cancel_build_upload", named(&upload)).await, json!({"success": true}));
    assert_eq!(left_over(&service).await, (0, 0));
    assert_eq!(refused(&urls[0], &file(1_000)).await, (404, "NoSuchUpload".to_owned()));

    for (tool, arguments) in [
        ("cancel_build_upload", named(&upload)),
        ("complete_build_upload", with(named(&upload), json!({"parts": parts}))),
    ] {
        let error = host.fail(tool, arguments).await;
        assert_eq!(error["code"], "not_found");
        let said = [&error["details"]["service_error"], &error["details"]["code"]];
        assert_eq!(said, ["Upload not found", "UPLOAD_NOT_FOUND"]);
    }
}

#[tokio::test]
async fn an_upload_in_one_piece_is_cancelled_without_an_upload_id() {
    let (service, mut host) = open().await;
    let single = with(build(3), json!({"multipart": false}));
    let upload = host.succeed("initiate_build_upload", single).await;

    taken(text(&upload["upload_url"]), b"abc").await;
    let arguments = json!({"build_id": upload["build_id"], "object_key": upload["object_key"]});
    host.succeed("cancel_build_upload", arguments).await;

    assert_eq!(left_over(&service).await, (0, 0));
}

#[tokio::test]
async fn only_the_upload_that_is_named_in_full_is_cancelled() {
    let (service, mut host) = open().await;
    let upload = host.succeed("initiate_build_upload", build(3)).await;
    let without_upload = json!({"build_id": upload["build_id"], "object_key": upload["object_key"]});
    let wrong = [
        without_upload,
        with(named(&upload), json!({"upload_id": "upl_other"})),
        with(named(&upload), json!({"object_key": "other"})),
        with(named(&upload), json!({"build_id": "6d5c4b3a-2918-4706-a5f4-e3d2c1b0a998"})),
    ];

    for arguments in wrong {
        assert_eq!(host.fail("cancel_build_upload", arguments).await["code"], "not_found");
    }

    assert_eq!(left_over(&service).await, (1, 0));
}

#[tokio::test]
async fn an_upload_is_completed_once() {
    let (service, mut host) = open().await;
    let upload = host.succeed("initiate_build_upload", build(3)).await;
    let parts = put_all(&mut host, &upload, b"abc").await;
    let urls = addresses(&mut host, &upload, &[1]).await;
    let completion = with(named(&upload), json!({"parts": parts}));

    host.succeed("complete_build_upload", completion.clone()).await;

    assert_eq!(host.fail("complete_build_upload", completion).await["code"], "not_found");
    assert_eq!(host.fail("cancel_build_upload", named(&upload)).await["code"], "not_found");
    assert_eq!(refused(&urls[0], b"xyz").await, (404, "NoSuchUpload".to_owned()));
    assert_eq!(service.content(text(&upload["build_id"])).await, Some(b"abc".to_vec()));
}

/// Sends the head and the first half of a part of 1,000 bytes, and waits until the sandbox writes it.
async fn half_a_part(service: &Service, host: &mut Host, upload: &Value) -> TcpStream {
    let url = addresses(host, upload, &[1]).await.remove(0);
    let (address, target) =
        url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("an address");
    let head = format!(
        "PUT /{target} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/octet-stream\r\ncontent-length: 1000\r\n\r\n"
    );
    let mut stream = TcpStream::connect(address).await.expect("the sandbox is up");

    stream.write_all(&[head.as_bytes(), &file(500)].concat()).await.expect("it reads");
    while left_over(service).await != (1, 1) {
        tokio::task::yield_now().await;
    }

    stream
}

#[tokio::test]
async fn a_part_that_breaks_off_is_not_kept() {
    let (service, mut host) = open().await;
    let upload = host.succeed("initiate_build_upload", build(1_000)).await;
    drop(half_a_part(&service, &mut host, &upload).await);

    while left_over(&service).await != (1, 0) {
        tokio::task::yield_now().await;
    }

    assert_eq!(service.control("uploads").await["data"][0]["parts"], json!([]));
}

#[tokio::test]
async fn a_part_whose_upload_ends_meanwhile_is_not_kept() {
    let (service, mut host) = open().await;
    let upload = host.succeed("initiate_build_upload", build(1_000)).await;
    let mut stream = half_a_part(&service, &mut host, &upload).await;

    host.succeed("cancel_build_upload", named(&upload)).await;
    stream.write_all(&file(500)).await.expect("it reads");

    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");

    assert!(answer.starts_with("HTTP/1.1 404 ") && answer.contains("NoSuchUpload"), "{answer}");
    assert_eq!(left_over(&service).await, (0, 0));
}

#[tokio::test]
async fn the_files_go_with_the_sandbox() {
    let (service, mut host) = open().await;

    assert_eq!(service.control("uploads").await["directory"], Value::Null);

    uploaded(&mut host, &file(10)).await;
    let directory = service.control("uploads").await["directory"].as_str().expect("a path").to_owned();

    assert!(std::fs::read_dir(&directory).is_ok_and(|files| files.count() == 1));

    drop(service);

    assert!(!std::path::Path::new(&directory).exists());
}
