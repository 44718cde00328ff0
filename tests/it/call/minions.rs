//! The installer of Minions: the tool answers with its address and downloads nothing (service.md 14).

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    peer::Peer,
};

const TOOL: &str = "get_minion_download";

/// Arguments for a platform that has an installer.
fn linux() -> Value {
    json!({"platform": "linux-x86_64"})
}

/// A service that redirects to `location`, and a server in front of it.
async fn redirecting(location: &str) -> (Peer, Host) {
    let head = format!("HTTP/1.1 307 Temporary Redirect\r\n{location}content-length: 0\r\n\r\n");
    let peer = Peer::answering(head).await;
    let host = Host::open(&peer.settings(keys::DEMO, &[])).await;
    (peer, host)
}

#[tokio::test]
async fn each_platform_has_an_address_that_works_without_a_key_for_a_day() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    for platform in ["windows-x86_64", "linux-x86_64", "darwin-aarch64"] {
        let installer = host.succeed(TOOL, json!({"platform": platform})).await;
        let address = installer["download_url"].as_str().expect("an address");
        assert!(address.starts_with(&service.knowledge_url()) && address.contains(platform), "{address}");
        // The sandbox's clock stands at 2026-03-02T09:15:00.
        assert_eq!(installer["expires_at"], "2026-03-03T09:15:00Z");
        assert!(service.fetch(address, "").await.starts_with(b"PK"), "{address}");
        let requests = service.requests().await;
        assert!(requests.iter().any(|one| *one == format!("GET /minions/download?platform={platform} 307")));
    }
}

#[tokio::test]
async fn the_redirect_is_not_followed_and_storage_gets_no_key() {
    let mut storage = Peer::answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let address = format!("http://{}/minion.zip?signature=abc", storage.address());
    let (mut peer, mut host) = redirecting(&format!("location: {address}\r\n")).await;
    assert_eq!(host.succeed(TOOL, linux()).await["download_url"], address);
    assert_eq!(peer.requests().len(), 1);
    assert_eq!(storage.requests(), [""; 0]);
}

#[tokio::test]
async fn the_expiry_is_taken_from_the_address_or_is_a_day_from_now() {
    let stated =
        "https://storage.example/minion.exe?X-Amz-Date=20260302T091500Z&X-Amz-Expires=3600&X-Amz-Signature=a";
    let (_peer, mut host) = redirecting(&format!("location: {stated}\r\n")).await;

    assert_eq!(host.succeed(TOOL, linux()).await["expires_at"], "2026-03-02T10:15:00Z");

    for unstated in [
        "https://storage.example/minion/setup.exe?signature=abc",
        "https://storage.example/a?X-Amz-Date=yesterday&X-Amz-Expires=3600",
        "https://storage.example/a?X-Amz-Date=20260302T091500Z&X-Amz-Expires=soon",
    ] {
        let (_peer, mut host) = redirecting(&format!("location: {unstated}\r\n")).await;
        // The real clock of this process decides, so that the expiry lies between two readings.
        let in_a_day = || Timestamp::now() + 24.hours();
        let earliest = in_a_day() - 1.second();
        let installer = host.succeed(TOOL, linux()).await;
        let expires: Timestamp = installer["expires_at"].as_str().expect("a time").parse().expect("ISO 8601");
        assert!(earliest <= expires && expires <= in_a_day(), "{unstated}: {expires}");
        assert_eq!(installer["download_url"], unstated);
    }
}

#[tokio::test]
async fn a_relative_address_is_resolved_against_the_service() {
    let (peer, mut host) = redirecting("location: ../files/minion.zip?signature=abc\r\n").await;
    let expected = format!("http://{}/api/v1/files/minion.zip?signature=abc", peer.address());
    assert_eq!(host.succeed(TOOL, linux()).await["download_url"], expected);
}

#[tokio::test]
async fn a_redirect_without_a_usable_address_is_a_bad_response() {
    for location in [
        "",
        "location: https://\r\n",
        "location: http://storage.example/minion.exe\r\n",
        "location: file:///minion.exe\r\n",
        "location: javascript:alert(1)\r\n",
    ] {
        let (_peer, mut host) = redirecting(location).await;

        let error = host.fail(TOOL, linux()).await;
        assert_eq!((&error["code"], &error["status"]), (&json!("bad_response"), &json!(307)), "{location}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains("names no https address in `Location`"), "{message}");
        let blames_the_setting = error["hint"].as_str().expect("a hint").contains("TAS_BASE_URL");
        assert_eq!(blames_the_setting, location.is_empty(), "{error}");
    }
}

#[tokio::test]
async fn a_presigned_address_is_given_as_the_service_writes_it() {
    let address = "https://storage.example/it's.zip?a='b'&signature=a%2fb~";
    let (_peer, mut host) = redirecting(&format!("location: {address}\r\n")).await;
    assert_eq!(host.succeed(TOOL, linux()).await["download_url"], address);
}

#[tokio::test]
async fn a_platform_without_an_installer_has_no_id_to_check() {
    let peer =
        Peer::answering("HTTP/1.1 404 Not Found\r\ncontent-length: 19\r\n\r\n{\"error\":\"no file\"}").await;
    let error = Host::open(&peer.settings(keys::DEMO, &[])).await.fail(TOOL, linux()).await;

    assert_eq!(error["code"], "not_found");
    assert_eq!(error["hint"], "no installer is released for this platform: try later, or another platform");
}

#[tokio::test]
async fn an_answer_that_is_no_redirect_is_a_bad_response() {
    let peer = Peer::answering("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await;
    let error = Host::open(&peer.settings(keys::DEMO, &[])).await.fail(TOOL, linux()).await;
    assert_eq!(error["status"], 200, "{error}");
    assert_eq!(error["code"], "bad_response", "{error}");
}

#[tokio::test]
async fn the_refusal_of_an_organization_key_is_explained() {
    for variables in [&[][..], &[("TAS_PROJECT_ID", "demo")], &[("TAS_PROJECTS", "demo,arena")]] {
        let Session { service, mut host, .. } =
            Fixture::new().key(keys::ORGANIZATION).variables(variables).open().await;
        let error = host.fail(TOOL, linux()).await;
        assert_eq!((&error["code"], &error["status"]), (&json!("unauthenticated"), &json!(401)));
        assert!(error["hint"].as_str().expect("a hint").contains("project keys"), "{error}");
        assert_eq!(service.requests().await, ["GET /minions/download?platform=linux-x86_64 401"]);
    }
}

#[tokio::test]
async fn error_details_of_the_service_are_kept() {
    let failures = [
        (400, "rejected", "unsupported platform"),
        (404, "not_found", "no release available"),
        (500, "service_unavailable", "invalid release metadata"),
        (503, "service_unavailable", "minion downloads unavailable"),
    ];
    for (status, code, service_error) in failures {
        let Session { service, mut host, .. } = Fixture::new().open().await;
        let body = json!({"error": service_error, "code": "SOME_CODE", "details": {"platform": "amiga"}});
        let headers = json!({"retry-after": "0"});

        service
            .fault(json!({"operation": TOOL, "status": status, "body": body, "headers": headers, "times": 4}))
            .await;
        let error = host.fail(TOOL, linux()).await;

        assert_eq!((&error["code"], &error["status"]), (&json!(code), &json!(status)));

        let details = &error["details"];

        assert_eq!(
            (&details["service_error"], &details["code"]),
            (&json!(service_error), &json!("SOME_CODE"))
        );
        assert_eq!(details["details"], json!({"platform": "amiga"}));
        assert_eq!(service.requests().await.len(), if status == 503 { 4 } else { 1 });
    }
}
