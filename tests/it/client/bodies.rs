//! Answers that are malformed, too long, or not of the operation.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{answer, run, start};
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    peer::Peer,
};

/// Upper bound for a call whose answer is abandoned; far above the time that it takes.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Bodies that no operation answers with, and the reason that the error gives for each.
fn wrong_bodies() -> [(Value, &'static str); 8] {
    [
        (json!("<html><body>It works!</body></html>"), "is not JSON"),
        (json!("{\"multiplayer_run_id\": \"r\", \"job_ids\": ["), "is not JSON"),
        (json!("{} {}"), "is not JSON"),
        (json!(""), "is not JSON"),
        (json!("null"), "is not a JSON object"),
        (json!([]), "is not a JSON object"),
        (json!({}), "has none of the fields of this operation"),
        (json!({"name": "another service", "version": 7}), "has none of the fields of this operation"),
    ]
}

#[tokio::test]
async fn a_body_that_the_operation_cannot_answer_is_a_bad_response() {
    for (body, reason) in wrong_bodies() {
        let Session { service, mut host, .. } = Fixture::new().open().await;
        for (tool, arguments) in [("get_run", run()), ("start_run", start())] {
            service.fault(json!({"operation": tool, "status": 200, "body": body})).await;
            let error = host.fail(tool, arguments).await;
            assert_eq!((&error["code"], &error["status"]), (&json!("bad_response"), &json!(200)), "{body}");
            assert!(error["message"].as_str().expect("a message").contains(reason), "{body}: {error}");
            let is_in_doubt =
                error["hint"].as_str().expect("a hint").contains("the service accepted the request");
            assert_eq!(is_in_doubt, tool == "start_run", "{error}");
        }

        assert_eq!(service.requests().await.len(), 2, "no request is repeated");

        host.succeed("get_run", run()).await;
    }
}

#[tokio::test]
async fn a_list_without_records_is_a_bad_response() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    service.fault(json!({"operation": "list_runs", "body": {"pagination": {"page": 0}}})).await;
    let error = host.fail("list_runs", json!({})).await;
    assert_eq!(error["code"], "bad_response");
    assert!(error["message"].as_str().expect("a message").contains("lacks `data`"));
}

#[tokio::test]
async fn an_error_that_is_not_json_is_quoted_and_cut() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let page = format!("<html>{}</html>", "é".repeat(5_000));
    service
        .fault(json!({"operation": "get_run", "status": 500, "body": page, "content_type": "text/html"}))
        .await;

    let error = host.fail("get_run", run()).await;

    assert_eq!((&error["code"], &error["status"]), (&json!("service_unavailable"), &json!(500)));

    let quotation = error["details"]["service_error"].as_str().expect("a quotation");

    assert!(quotation.starts_with("<html>é") && quotation.ends_with(" [cut]"));
    assert_eq!(quotation.chars().count(), 1_000 + " [cut]".len());
}

#[tokio::test]
async fn an_answer_that_is_truncated_on_every_attempt_is_a_bad_response() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    service.fault(json!({"operation": "get_run", "truncate": true, "times": 4})).await;
    let error = host.fail("get_run", run()).await;
    assert_eq!(error["code"], "bad_response", "{error}");
    host.succeed("get_run", run()).await;
}

#[tokio::test]
async fn an_answer_above_the_size_limit_is_a_bad_response() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    // The peer only states a length; the sandbox sends that many bytes. Neither body may be read to its end.
    let too_long = answer("200 OK", "").replace("length: 0", "length: 100000000");
    let peer = Peer::answering(too_long).await;
    let mut host_of_peer = Host::open(&peer.settings(keys::DEMO, &[])).await;

    service.fault(json!({"operation": "get_run", "bytes": 100_000_000})).await;
    for host in [&mut host, &mut host_of_peer] {
        let error = tokio::time::timeout(TIME_LIMIT, host.fail("get_run", run())).await.expect("in time");
        assert_eq!(error["code"], "bad_response");
        assert!(error["message"].as_str().expect("a message").contains("longer than 16 MiB"), "{error}");
    }

    host.succeed("get_run", run()).await;
}

#[tokio::test]
async fn bytes_that_are_not_utf_8_are_replaced_and_spoil_nothing_else() {
    let mut body = answer("200 OK", "{\"multiplayer_run_id\": \"??\"}").into_bytes();
    body.iter_mut().filter(|byte| **byte == b'?').for_each(|byte| *byte = 0xff);
    let peer = Peer::answering(body).await;
    let mut host = Host::open(&peer.settings(keys::DEMO, &[])).await;
    assert_eq!(host.succeed("get_run", run()).await["multiplayer_run_id"], "\u{FFFD}\u{FFFD}");
}

#[tokio::test]
async fn unknown_fields_pass_through_in_order() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let text = "{\"zeta\":1,\"multiplayer_run_id\":\"r\",\"alpha\":{\"b\":1.50,\"a\":null},\"project_id\":12345678901234567890}";
    service.fault(json!({"operation": "get_run", "body": text})).await;
    let result = host.call("get_run", run()).await;
    assert_eq!(result["content"], json!([{"type": "text", "text": text}]));
    assert_eq!(result["structuredContent"].to_string(), text);
}
