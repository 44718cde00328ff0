//! Faults that are ordered for the storage host.

use std::time::Duration;

use serde_json::json;

use super::{addresses, build, left_over, open, put, refused, taken};
use crate::support::{host::Host, service::Service};

/// An upload of one part, and the address of that part.
async fn begun() -> (Service, Host, String) {
    let (service, mut host) = open().await;
    let upload = host.succeed("initiate_build_upload", build(3)).await;
    let url = addresses(&mut host, &upload, &[1]).await.remove(0);
    (service, host, url)
}

#[tokio::test]
async fn a_status_comes_as_often_as_ordered_and_nothing_is_kept() {
    let (service, mut host, url) = begun().await;
    service.fault(json!({"operation": "put_part", "status": 503, "times": 2})).await;
    host.succeed("list_builds", json!({})).await;

    for _ in 0..2 {
        assert_eq!(refused(&url, b"abc").await, (503, "SlowDown".to_owned()));
    }

    assert_eq!(left_over(&service).await, (1, 0));

    taken(&url, b"abc").await;

    assert_eq!(left_over(&service).await, (1, 1));
}

#[tokio::test]
async fn a_part_is_kept_before_its_answer_is_lost() {
    for fault in [json!({"reset": true}), json!({"status": 500})] {
        for (after, files) in [(false, 0), (true, 1)] {
            let (service, _host, url) = begun().await;
            let mut order = fault.clone();
            order["operation"] = json!("put_part");
            order["after"] = json!(after);
            service.fault(order).await;

            match put(&url, b"abc").await {
                Ok(answer) => assert_eq!((answer.status().as_u16(), &fault["reset"]), (500, &json!(null))),
                Err(_) => assert_eq!(fault["reset"], true),
            }

            assert_eq!(left_over(&service).await, (1, files), "{fault} {after}");
        }
    }
}

#[tokio::test]
async fn an_answer_can_lack_its_etag_and_have_other_headers() {
    let (service, _host, url) = begun().await;
    service.fault(json!({"operation": "put_part", "status": 200})).await;

    let answer = put(&url, b"abc").await.expect("an answer");

    assert_eq!((answer.status().as_u16(), answer.headers().get("etag")), (200, None));

    service.fault(json!({"operation": "put_part", "headers": {"etag": "W/\"other\""}})).await;

    assert_eq!(taken(&url, b"abc").await, "W/\"other\"");
    assert_eq!(left_over(&service).await, (1, 1));
}

#[tokio::test]
async fn a_delay_alone_leaves_the_answer_as_it_is() {
    let (service, _host, url) = begun().await;
    let delay = Duration::from_millis(30);
    service.fault(json!({"operation": "put_part", "delay_ms": 30})).await;

    let begun = std::time::Instant::now();

    // MD5 of `abc`, RFC 1321, A.5.
    assert_eq!(taken(&url, b"abc").await, "\"900150983cd24fb0d6963f7d28e17f72\"");
    assert!(begun.elapsed() >= delay);
}

#[tokio::test]
async fn the_storage_host_is_in_the_list_of_requests() {
    let (service, _host, url) = begun().await;
    taken(&url, b"abc").await;

    let log = service.control("requests").await;
    let last = log["data"].as_array().and_then(|seen| seen.last()).expect("a request");
    let path = &url[url.find("/storage/").expect("a path")..];
    let expected =
        json!({"operation": "put_part", "method": "PUT", "path": path, "status": 200, "key": null});

    assert_eq!(*last, expected);
}
