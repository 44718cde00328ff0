//! Faults that a test injects into the storage host.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use super::{build, fixture, part_urls, put, put_accepted, put_refused, uploads_and_files};
use crate::support::{fixture::Session, host::Host, service::Service};

/// An upload of one part, and the address of that part.
async fn begin_upload() -> (Arc<Service>, Host, String) {
    let Session { service, mut host, .. } = fixture().open().await;
    let upload = host.succeed("initiate_build_upload", build(3)).await;
    let url = part_urls(&mut host, &upload, &[1]).await.remove(0);
    (service, host, url)
}

#[tokio::test]
async fn a_status_is_answered_as_often_as_injected_and_nothing_is_kept() {
    let (service, mut host, url) = begin_upload().await;
    service.fault(json!({"operation": "put_part", "status": 503, "times": 2})).await;
    host.succeed("list_builds", json!({})).await;

    for _ in 0..2 {
        assert_eq!(put_refused(&url, b"abc").await, (503, "InjectedFault".to_owned()));
    }

    assert_eq!(uploads_and_files(&service).await, (1, 0));

    put_accepted(&url, b"abc").await;

    assert_eq!(uploads_and_files(&service).await, (1, 1));
}

#[tokio::test]
async fn a_part_is_kept_before_its_answer_is_lost() {
    for fault in [json!({"reset": true}), json!({"status": 500})] {
        for (after, files) in [(false, 0), (true, 1)] {
            let (service, _host, url) = begin_upload().await;
            let mut fault_of_part = fault.clone();
            fault_of_part["operation"] = json!("put_part");
            fault_of_part["after"] = json!(after);
            service.fault(fault_of_part).await;

            match put(&url, b"abc").await {
                Ok(answer) => assert_eq!((answer.status().as_u16(), &fault["reset"]), (500, &json!(null))),
                Err(_) => assert_eq!(fault["reset"], true),
            }

            assert_eq!(uploads_and_files(&service).await, (1, files), "{fault} {after}");
        }
    }
}

#[tokio::test]
async fn an_injected_answer_can_lack_the_etag_or_have_other_headers() {
    let (service, _host, url) = begin_upload().await;
    service.fault(json!({"operation": "put_part", "status": 200})).await;

    let answer = put(&url, b"abc").await.expect("an answer");

    assert_eq!((answer.status().as_u16(), answer.headers().get("etag")), (200, None));

    service.fault(json!({"operation": "put_part", "headers": {"etag": "W/\"other\""}})).await;

    assert_eq!(put_accepted(&url, b"abc").await, "W/\"other\"");
    assert_eq!(uploads_and_files(&service).await, (1, 1));
}

#[tokio::test]
async fn a_delay_alone_does_not_change_the_answer() {
    let (service, _host, url) = begin_upload().await;
    let delay = Duration::from_millis(30);
    service.fault(json!({"operation": "put_part", "delay_ms": 30})).await;

    let started = std::time::Instant::now();

    assert_eq!(put_accepted(&url, b"abc").await, "\"e71fa2190541574b\"");
    assert!(started.elapsed() >= delay);
}

#[tokio::test]
async fn the_storage_host_is_in_the_list_of_requests() {
    let (service, _host, url) = begin_upload().await;
    put_accepted(&url, b"abc").await;

    let log = service.control("requests").await;
    let last = log["data"].as_array().and_then(|seen| seen.last()).expect("a request");
    let path = &url[url.find("/storage/").expect("a path")..];
    let expected =
        json!({"operation": "put_part", "method": "PUT", "path": path, "status": 200, "key": null});

    assert_eq!(*last, expected);
}
