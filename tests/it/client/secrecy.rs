//! Where the key is sent, and where it is masked.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{answer, run, start};
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    peer::{Event, Peer},
};

/// Two calls, one that reads and one that writes.
fn calls() -> [(&'static str, Value); 2] {
    [("get_run", run()), ("start_run", start())]
}

#[tokio::test]
async fn the_key_is_sent_only_in_its_header() {
    let mut peer = Peer::answering(answer("200 OK", "{\"ok\": true, \"multiplayer_run_id\": \"r\"}")).await;
    let mut host = Host::open(&peer.settings(keys::DEMO, &[])).await;

    for (tool, arguments) in calls() {
        host.succeed(tool, arguments).await;
    }

    for request in peer.requests() {
        let lines: Vec<_> = request.lines().filter(|line| line.contains(keys::DEMO)).collect();
        assert_eq!(lines, [format!("x-api-key: {}", keys::DEMO)], "{request}");
    }
}

#[tokio::test]
async fn a_key_that_the_service_echoes_is_masked() {
    let key = keys::DEMO;
    let escaped = key.replace('_', "\\u005f");
    let bodies = [
        json!({"error": format!("key {key} is bad"), "details": {"key": key, key: [key]}}),
        json!({"multiplayer_run_id": "r", "job_ids": [], "note": {"of": [format!("<{key}>")], key: 1}}),
        json!(format!(
            "{{\"error\": \"{escaped}\", \"multiplayer_run_id\": \"{escaped}\", \"job_ids\": []}}"
        )),
        json!(format!("<html>{key}</html>")),
        json!(format!("{}{key}", "x".repeat(990))),
    ];

    for body in bodies {
        for status in [200, 400, 500] {
            // A server that remembers a start of unknown outcome would refuse the next one.
            let Session { service, mut host, .. } = Fixture::new().open().await;
            for (tool, arguments) in calls() {
                service.fault(json!({"operation": tool, "status": status, "body": body})).await;
                let reply = host.call(tool, arguments).await.to_string();
                assert!(!reply.contains("sandbox_demo") && reply.contains("[api key]"), "{reply}");
            }
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_gets_no_key() {
    let mut target = Peer::answering(answer("200 OK", "{}")).await;
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let location = format!("http://{}/api/v1/?key={}", target.address(), keys::DEMO);
        let mut peer = Peer::answering(answer(&format!("{status}\r\nlocation: {location}"), "")).await;
        let mut host = Host::open(&peer.settings(keys::DEMO, &[])).await;

        for (tool, arguments) in calls() {
            let error = host.fail(tool, arguments).await;
            assert_eq!(error["code"], "bad_response");
            let hint = error["hint"].as_str().expect("a hint");
            assert!(hint.contains(&target.address().to_string()) && !hint.contains(keys::DEMO), "{hint}");
        }

        assert_eq!(peer.requests().len(), 2);
    }

    assert_eq!(target.requests(), [""; 0]);
}

#[tokio::test]
async fn a_changed_key_file_needs_no_restart() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let path = file.path().to_str().expect("a path");
    let write = |text: &str| std::fs::write(path, text).expect("a writable file");
    let mut peer = Peer::answering(answer("200 OK", "{\"multiplayer_run_id\": \"r\"}")).await;

    write("svc_one\n");
    let mut host = Host::open(&peer.settings("", &[("TAS_API_KEY_FILE", path)])).await;

    // Neither the length nor the modification time tells these keys apart.
    for key in ["svc_one", "svc_two", "svc_six"] {
        write(&format!("  {key}\r\n"));
        host.succeed("get_run", run()).await;
        let Event::Request(request) = peer.next().await else { panic!("no request") };
        assert!(request.contains(&format!("x-api-key: {key}\r\n")), "{request}");
        assert_eq!(peer.next().await, Event::Closed);
    }

    for (text, problem) in [("", "is empty"), ("svc one", "has characters that no key has")] {
        write(text);
        let error = host.fail("get_run", run()).await;
        assert_eq!(error["code"], "not_configured");
        assert!(error["message"].as_str().expect("a message").contains(problem), "{error}");
    }

    drop(file);

    assert_eq!(host.fail("get_run", run()).await["code"], "not_configured");
    assert_eq!(peer.requests(), [""; 0]);
}

#[tokio::test]
async fn a_bad_certificate_authority_is_reported_without_a_request() {
    let Session { service, host: _host, .. } = Fixture::new().open().await;
    for (content, problem) in [(None, "cannot be read"), (Some("no certificate"), "has no")] {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let path = file.path().to_str().expect("a path").to_owned();

        match content {
            Some(content) => std::fs::write(&path, content).expect("a writable file"),
            None => drop(file),
        }

        let mut host = Host::open(&service.settings(keys::DEMO, &[("TAS_CA_FILE", &path)])).await;
        let error = host.fail("get_run", json!({"run_id": seed::RUN_PASSED})).await;

        assert_eq!(
            (&error["code"], &error["details"]["problems"][0]["setting"]),
            (&json!("not_configured"), &json!("TAS_CA_FILE"))
        );
        assert!(
            error["details"]["problems"][0]["problem"].as_str().expect("a text").contains(problem),
            "{error}"
        );
    }

    assert_eq!(service.requests().await, [""; 0]);
}
