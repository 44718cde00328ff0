//! Retries of reading requests.

use std::time::{Duration, Instant};

use serde_json::json;

use super::run;
use crate::support::fixture::{Fixture, Session};

#[tokio::test]
async fn a_reading_request_is_repeated_until_it_succeeds() {
    for status in [429, 502, 503, 504] {
        let Session { service, mut host, .. } = Fixture::new().open().await;
        let fault =
            json!({"operation": "get_run", "status": status, "headers": {"retry-after": "0"}, "times": 3});
        service.fault(fault).await;
        host.succeed("get_run", run()).await;
        assert_eq!(service.requests().await.len(), 4);
    }
}

#[tokio::test]
async fn at_most_four_requests_are_sent() {
    for (status, code) in [
        (429, "rate_limited"),
        (502, "service_unavailable"),
        (503, "service_unavailable"),
        (504, "service_unavailable"),
    ] {
        let Session { service, mut host, .. } = Fixture::new().open().await;
        let fault =
            json!({"operation": "get_run", "status": status, "headers": {"retry-after": "0"}, "times": 9});
        service.fault(fault).await;

        let error = host.fail("get_run", run()).await;
        assert_eq!((&error["code"], &error["status"]), (&json!(code), &json!(status)));
        assert!(error["message"].as_str().expect("a message").contains("(4 attempts)"), "{error}");
        assert_eq!(service.requests().await.len(), 4);
    }
}

#[tokio::test]
async fn other_refusals_are_final() {
    let refusals = [
        (400, "rejected"),
        (401, "unauthenticated"),
        (402, "quota_exceeded"),
        (403, "permission_denied"),
        (404, "not_found"),
        (409, "conflict"),
        (413, "too_large"),
        (418, "rejected"),
        (500, "service_unavailable"),
        (501, "service_unavailable"),
    ];

    let Session { service, mut host, .. } = Fixture::new().open().await;
    for (status, code) in refusals {
        service
            .fault(json!({"operation": "get_run", "status": status, "headers": {"retry-after": "0"}}))
            .await;
        let error = host.fail("get_run", run()).await;
        assert_eq!((&error["code"], &error["status"]), (&json!(code), &json!(status)));
    }

    assert_eq!(service.requests().await.len(), refusals.len());
}

#[tokio::test]
async fn a_lost_connection_is_opened_again_after_a_pause() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    for fault in [json!({"reset": true}), json!({"truncate": true, "body": {"multiplayer_run_id": "r"}})] {
        service.fault(fault).await;
        let started = Instant::now();
        let found = host.succeed("get_run", run()).await;
        assert_eq!(found["multiplayer_run_id"], run()["run_id"]);
        assert!(started.elapsed() >= Duration::from_millis(125), "at least half of the first pause");
    }

    assert_eq!(service.requests().await.len(), 4);
}

#[tokio::test]
async fn a_connection_that_is_lost_every_time_ends_the_call() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    service.fault(json!({"operation": "get_run", "reset": true, "times": 9})).await;
    let error = host.fail("get_run", run()).await;
    assert_eq!((&error["code"], &error["status"]), (&json!("service_unavailable"), &json!(null)));
    assert_eq!(service.requests().await.len(), 4);
}

#[tokio::test]
async fn the_pause_of_retry_after_is_observed() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    service.fault(json!({"operation": "get_run", "status": 429, "headers": {"retry-after": "1"}})).await;
    let started = Instant::now();
    host.succeed("get_run", run()).await;
    assert!(started.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_pause_beyond_the_limit_of_the_call_is_reported_at_once() {
    // 46 seconds are just above the time limit of a call.
    let longest = u64::MAX.to_string();
    let waits = [("3600", json!(3600)), (&longest, json!(u64::MAX)), ("46", json!(46))];

    for (status, code) in [(429, "rate_limited"), (503, "service_unavailable")] {
        for (wait, reported) in &waits {
            let Session { service, mut host, .. } = Fixture::new().open().await;
            service
                .fault(json!({"operation": "get_run", "status": status, "headers": {"retry-after": wait}}))
                .await;
            let error = host.fail("get_run", run()).await;
            assert_eq!((&error["code"], &error["details"]["retry_after_s"]), (&json!(code), reported));
            assert_eq!(service.requests().await.len(), 1);
        }
    }

    let Session { service, mut host, .. } = Fixture::new().open().await;
    let date = json!({"retry-after": "Thu, 31 Dec 2099 23:59:59 GMT"});
    service.fault(json!({"operation": "get_run", "status": 429, "headers": date})).await;
    let wait = host.fail("get_run", run()).await["details"]["retry_after_s"].as_u64();
    assert!(wait.is_some_and(|wait| wait > 1_000_000_000), "{wait:?}");
}
