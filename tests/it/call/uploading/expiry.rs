//! Addresses that no longer work, and uploads that took too long.

use serde_json::json;

use super::{addresses, build, file, left_over, named, open, refusal, refused, taken, with};

const MINUTE: f64 = 60.0;

#[tokio::test]
async fn an_address_is_valid_for_an_hour_and_another_one_can_be_had() {
    let (service, mut host) = open().await;
    let upload = host.succeed("initiate_build_upload", with(build(3), json!({"upload_timeout": 120}))).await;
    let urls = addresses(&mut host, &upload, &[1]).await;

    service.advance(59.0 * MINUTE);
    taken(&urls[0], b"abc").await;
    service.advance(MINUTE);

    assert_eq!(refused(&urls[0], b"xyz").await, (403, "AccessDenied".to_owned()));

    let urls = addresses(&mut host, &upload, &[1]).await;
    taken(&urls[0], b"abc").await;
}

#[tokio::test]
async fn an_address_is_good_for_its_own_part_only() {
    let (service, mut host) = open().await;
    let upload = host.succeed("initiate_build_upload", build(2_000)).await;
    let urls = addresses(&mut host, &upload, &[1, 2]).await;
    let (one, query) = urls[0].split_once('?').expect("a query");
    let (two, other_query) = urls[1].split_once('?').expect("a query");
    let tampered = [
        format!("{one}?{other_query}"),
        format!("{two}?{query}"),
        one.to_owned(),
        urls[0].replace("X-Amz-Expires=3600", "X-Amz-Expires=7200"),
        urls[0].replace("X-Amz-Date=2026", "X-Amz-Date=2027"),
    ];

    for url in tampered {
        assert_eq!(refused(&url, &file(1_000)).await, (403, "AccessDenied".to_owned()), "{url}");
    }

    assert_eq!(left_over(&service).await, (1, 0));
}

#[tokio::test]
async fn an_address_takes_a_put_of_a_known_length_only() {
    let (_service, mut host) = open().await;
    let upload = host.succeed("initiate_build_upload", build(3)).await;
    let urls = addresses(&mut host, &upload, &[1]).await;
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
    let answer = client.get(&urls[0]).send().await.expect("an answer");

    assert_eq!(refusal(answer).await, (405, "MethodNotAllowed".to_owned()));

    let head = urls[0].strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("an address");
    let request = format!(
        "PUT /{} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/octet-stream\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        head.1, head.0
    );
    let answer = super::ending::said(head.0, &request).await;

    assert!(answer.starts_with("HTTP/1.1 411 ") && answer.contains("MissingContentLength"), "{answer}");
}

#[tokio::test]
async fn an_address_takes_bytes_that_are_called_so_only() {
    let (_service, mut host) = open().await;
    let upload = host.succeed("initiate_build_upload", build(3)).await;
    let urls = addresses(&mut host, &upload, &[1]).await;
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");

    for kind in [None, Some("application/json")] {
        let request = client.put(&urls[0]).body("abc");
        let request = kind.into_iter().fold(request, |request, kind| request.header("content-type", kind));
        let answer = request.send().await.expect("an answer");
        assert_eq!(refusal(answer).await, (400, "InvalidArgument".to_owned()), "{kind:?}");
    }

    taken(&urls[0], b"abc").await;
}

#[tokio::test]
async fn an_upload_that_takes_too_long_ends_and_leaves_nothing() {
    // The defaults are 60 minutes, and 10 in one piece.
    let cases = [(json!({"upload_timeout": 5}), 5), (json!({}), 60), (json!({"multipart": false}), 10)];
    for (more, minutes) in cases {
        let (service, mut host) = open().await;
        let upload = host.succeed("initiate_build_upload", with(build(3), more)).await;
        let url = match upload["upload_url"].as_str() {
            Some(url) => url.to_owned(),
            None => addresses(&mut host, &upload, &[1]).await.remove(0),
        };

        taken(&url, b"abc").await;
        service.advance(f64::from(minutes) * MINUTE - 1.0);

        assert_eq!(left_over(&service).await, (1, 1));

        service.advance(1.0);

        assert_eq!(left_over(&service).await, (0, 0));

        let status = if minutes < 60 { (404, "NoSuchUpload") } else { (403, "AccessDenied") };

        assert_eq!(refused(&url, b"abc").await, (status.0, status.1.to_owned()));

        let error = host.fail("complete_build_upload", json!({"build_id": upload["build_id"]})).await;

        assert_eq!(error["code"], "not_found");
    }
}

#[tokio::test]
async fn an_upload_that_ended_has_no_more_addresses() {
    let (service, mut host) = open().await;
    let upload = host.succeed("initiate_build_upload", build(3)).await;
    service.advance(60.0 * MINUTE);

    let arguments = json!({
        "upload_id": upload["upload_id"], "object_key": upload["object_key"], "part_numbers": [1],
    });
    let error = host.fail("get_build_upload_parts", arguments).await;

    assert_eq!((&error["code"], &error["status"]), (&json!("rejected"), &json!(400)));
    assert_eq!(error["details"]["service_error"], "Upload not found");

    let error = host.fail("cancel_build_upload", named(&upload)).await;

    assert_eq!(error["code"], "not_found");
}
