//! Refusals of artifacts, and their messages.

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use super::{answering, file, part};
use crate::support::fixture::{Fixture, Session};

#[tokio::test]
async fn the_id_of_a_run_stands_for_its_only_player() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    for (tool, file) in [("list_run_artifacts", json!({})), ("get_run_artifact", file("agent.log"))] {
        let call = |id: String| {
            let mut arguments = file.clone();
            arguments["run_id"] = id.into();
            arguments
        };
        let of_player = host.succeed(tool, call(format!("{}-1", seed::RUN_FAILED))).await;
        assert_eq!(host.succeed(tool, call(seed::RUN_FAILED.to_owned())).await, of_player);

        let several = format!("the run has {0}-1, {0}-2", seed::RUN_TWO_PLAYERS);
        let refused = host.violations(tool, call(seed::RUN_TWO_PLAYERS.to_owned())).await;
        assert!(refused.len() == 1 && refused[0].contains(&several), "{refused:?}");
    }

    let files = async || service.requests().await.iter().filter(|line| line.contains("/artifacts")).count();
    let before = files().await;
    for id in [seed::JOB_FAILED, "r-", "-1", "r-0", "r-x"] {
        let error = host.fail("list_run_artifacts", json!({"run_id": id})).await;
        assert!(
            ["not_found", "invalid_arguments"].contains(&error["code"].as_str().expect("a code")),
            "{id}: {error}"
        );
    }
    assert_eq!(files().await, before);
}

#[tokio::test]
async fn names_outside_the_run_are_refused_before_any_request() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    for name in ["..", "../agent.log", "a/../../b", "/etc/passwd", "a//b", "a/", "."] {
        let found = host.violations("get_run_artifact", file(name)).await;
        assert!(found.len() == 1 && found[0].starts_with("filename: "), "{name}: {found:?}");
    }
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn offset_and_length_have_limits() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let mut arguments = part("agent.log", 0, 1_000_001);
    arguments["offset"] = json!(-1);

    let expected = ["offset: must be 0 or more, got -1", "length: must be from 1 to 1000000, got 1000001"];

    assert_eq!(host.violations("get_run_artifact", arguments).await, expected);
    assert_eq!(
        host.violations("get_run_artifact", part("a", 0, 0)).await,
        ["length: must be from 1 to 1000000, got 0"]
    );
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn an_unknown_file_is_not_found() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    let error = host.fail("get_run_artifact", file("agent.log/nothing")).await;
    assert_eq!(
        (&error["code"], &error["details"]["service_error"]),
        (&json!("not_found"), &json!("artifact not found"))
    );
}

#[tokio::test]
async fn an_offset_beyond_the_end_is_refused_with_the_size_of_the_file() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let total = super::bytes_in_sandbox(&service, "agent.log").await.len();

    for offset in [total as u64, total as u64 + 7, u64::MAX] {
        let error = host.fail("get_run_artifact", part("agent.log", offset, 10)).await;
        assert_eq!((&error["code"], &error["status"]), (&json!("rejected"), &json!(416)));
        assert_eq!(error["details"]["total_bytes"], total);
    }

    let (_peer, mut host) = answering("200 OK", "0123").await;
    let error = host.fail("get_run_artifact", part("a.log", 4, 10)).await;

    assert_eq!((&error["code"], &error["details"]["total_bytes"]), (&json!("rejected"), &json!(4)));
}

#[tokio::test]
async fn another_part_than_the_requested_one_is_a_bad_response() {
    for head in ["206 Partial Content\r\ncontent-range: bytes 0-3/9", "304 Not Modified"] {
        let (_peer, mut host) = answering(head, if head.starts_with('2') { "0123" } else { "" }).await;
        assert_eq!(
            host.fail("get_run_artifact", part("a.log", 4, 4)).await["code"],
            "bad_response",
            "{head}"
        );
    }
}

#[tokio::test]
async fn keys_without_permission_are_refused_after_one_request() {
    for (key, code, status) in [
        (keys::ARENA, "permission_denied", 403),
        (keys::POWERLESS, "permission_denied", 403),
        (keys::EXPIRED, "unauthenticated", 403),
        ("svc_wrong", "unauthenticated", 401),
    ] {
        let Session { service, mut host, .. } = Fixture::new().key(key).all_tools().open().await;
        let error = host.fail("get_run_artifact", file("agent.log")).await;
        assert_eq!((&error["code"], &error["status"]), (&json!(code), &json!(status)), "{key}");
        assert_eq!(service.requests().await.len(), 1);
    }
}

#[tokio::test]
async fn reading_is_retried_until_the_host_answers() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let fault =
        json!({"operation": "get_run_artifact", "status": 503, "headers": {"retry-after": "0"}, "times": 2});
    service.fault(fault).await;
    service.fault(json!({"operation": "get_run_artifact", "truncate": true})).await;
    host.succeed("get_run_artifact", file("deliverables/report.json")).await;

    assert_eq!(service.requests().await.len(), 4);
}
