//! The run decides the project, no file of another project is saved, and the key goes to the service's own hosts only.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{NAMES, TOOL, all_of, files_below, fixture, names_below, out, player, served};
use crate::support::{fixture::Session, peer::Peer};

const PROJECT_SCOPE: (&str, &str) = ("TAS_PROJECT_ID", "demo");
const BOTH_PROJECTS: (&str, &str) = ("TAS_PROJECTS", "demo,arena");

#[tokio::test]
async fn in_project_scope_the_run_is_confirmed_before_an_organization_key_reads_its_files() {
    let mut session = fixture().key(keys::ORGANIZATION).variables(&[PROJECT_SCOPE]).open().await;
    session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    let requests = session.service.requests().await;
    let confirmation = format!("GET /project/demo/runs/{} 200", seed::RUN_FAILED);
    let first = requests.iter().position(|line| line.contains("/artifacts/")).expect("a file");

    assert!(
        requests[..first].len() >= 2 && requests[..first].iter().all(|line| *line == confirmation),
        "{requests:?}"
    );
    assert_eq!(names_below(session.root()).len(), NAMES.len());
}

#[tokio::test]
async fn in_project_scope_a_run_of_another_project_is_not_downloaded() {
    let mut session = fixture().key(keys::ORGANIZATION).variables(&[PROJECT_SCOPE]).open().await;
    let error = session.host.fail(TOOL, all_of(seed::ARENA_RUN_FAILED)).await;
    assert_eq!(error["code"], "not_found");
    assert_eq!(
        session.service.requests().await,
        [format!("GET /project/demo/runs/{} 404", seed::ARENA_RUN_FAILED)]
    );
    assert!(!session.root().join("out").exists());
}

#[tokio::test]
async fn a_run_of_another_project_is_a_mismatch() {
    for key in [keys::DEMO, keys::ORGANIZATION] {
        let mut session = fixture().key(key).variables(&[BOTH_PROJECTS]).open().await;
        let mut arguments = all_of(seed::RUN_FAILED);
        arguments["project_id"] = json!("arena");

        let error = session.host.fail(TOOL, arguments).await;

        assert_eq!(error["code"], "project_scope_mismatch", "{error}");

        let projects = [&error["details"]["requested_project"], &error["details"]["owning_project"]];

        assert_eq!(projects, ["arena", "demo"]);
        assert!(session.service.requests().await.iter().all(|line| !line.contains("/artifacts/")));
        assert!(!session.root().join("out").exists());
    }

    let mut session = fixture().key(keys::ORGANIZATION).variables(&[PROJECT_SCOPE]).open().await;
    let mut arguments = all_of(seed::RUN_FAILED);
    arguments["project_id"] = json!("arena");

    assert_eq!(session.host.fail(TOOL, arguments).await["code"], "project_scope_mismatch");
    assert_eq!(
        session.service.requests().await,
        [format!("GET /project/demo/runs/{} 200", seed::RUN_FAILED)]
    );
}

#[tokio::test]
async fn in_global_scope_the_project_is_found_by_the_run() {
    for (key, more) in [(keys::ORGANIZATION, &[BOTH_PROJECTS][..]), (keys::ARENA, &[])] {
        let mut session = fixture().key(key).variables(more).open().await;
        let report: Value = session.host.succeed(TOOL, all_of(seed::ARENA_RUN_FAILED)).await;
        assert_eq!(report["status"], "downloaded", "{report}");
        assert!(names_below(session.root()).len() >= 4);
    }
}

#[tokio::test]
async fn a_key_without_permission_saves_nothing() {
    let mut session = fixture().key(keys::POWERLESS).open().await;
    let error = session.host.fail(TOOL, all_of(seed::RUN_FAILED)).await;
    assert_eq!(error["details"]["required_permission"], "project:read-runs");
    assert!(!session.root().join("out").exists());
}

/// Lets the service list one file of the failed run, with this address.
async fn list_file_at(session: &mut Session, url: &str, size: usize) {
    let mut run = session.host.succeed("get_run", json!({"run_id": seed::RUN_FAILED})).await;
    run["players"][0]["artifacts"] = json!([{"filename": "agent.log", "url": url, "size": size}]);
    session.service.fault(json!({"operation": "get_run", "body": run})).await;
}

/// Starts another host that gives this answer.
async fn start_other_host(status: &str, body: &str) -> Peer {
    Peer::answering(format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())).await
}

#[tokio::test]
async fn the_storage_host_gets_no_key() {
    let mut session = fixture().open().await;
    session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    let log = session.service.control("requests").await;
    let seen = log["data"].as_array().expect("a list");
    let (storage, own): (Vec<_>, Vec<_>) =
        seen.iter().partition(|one| one["path"].as_str().expect("a path").starts_with("/storage/"));

    assert!(storage.len() == 1 && own.len() == 6, "{seen:#?}");
    assert!(storage.iter().all(|one| one["key"] == Value::Null), "{storage:#?}");
    assert!(own.iter().all(|one| one["key"] == "key_demo"), "{own:#?}");
}

#[tokio::test]
async fn an_address_of_another_host_is_used_without_the_key() {
    let mut session = fixture().open().await;
    let mut peer = start_other_host("200 OK", "far away").await;
    let url = format!("http://{}/files/a?signature=abc%2F", peer.address());

    list_file_at(&mut session, &url, 8).await;
    session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    assert_eq!(files_below(&out(&session))["agent.log"], b"far away");

    let requests = peer.requests();

    assert!(requests.len() == 1 && requests[0].starts_with("GET /files/a?signature=abc%2F "), "{requests:?}");
    assert!(!requests[0].contains("x-api-key") && !requests[0].contains(keys::DEMO), "{requests:?}");
}

#[tokio::test]
async fn an_address_of_the_service_itself_is_used_with_the_key() {
    let mut session = fixture().open().await;
    let id = player(seed::RUN_FAILED, 1);
    let log = served(&session.service, &id, "agent.log").await;
    let url = format!("{}/runs/{id}/artifacts/agent.log?as=listed", session.service.knowledge_url());

    list_file_at(&mut session, &url, log.len()).await;
    session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;

    assert!(files_below(&out(&session))["agent.log"] == log);

    let seen = session.service.control("requests").await;
    let last = seen["data"].as_array().and_then(|seen| seen.last()).expect("a request").clone();
    let expected = json!(format!("/runs/{id}/artifacts/agent.log?as=listed"));

    assert_eq!((&last["path"], &last["key"]), (&expected, &json!("key_demo")));
}

#[tokio::test]
async fn a_failing_address_is_replaced_by_the_operation_itself() {
    let refusing = start_other_host("404 Not Found", "").await;
    // The first address is refused, no process listens on the second one, and the third one must not be requested.
    let addresses = [
        format!("http://{}/a", refusing.address()),
        "http://127.0.0.1:1/refused".to_owned(),
        "http://storage.example/plain".to_owned(),
        "file:///etc/passwd".to_owned(),
        "javascript:alert(1)".to_owned(),
        "no address".to_owned(),
        String::new(),
    ];

    for address in addresses {
        let mut session = fixture().open().await;
        let log = served(&session.service, &player(seed::RUN_FAILED, 1), "agent.log").await;
        list_file_at(&mut session, &address, log.len()).await;
        session.host.succeed(TOOL, all_of(seed::RUN_FAILED)).await;
        assert!(files_below(&out(&session))["agent.log"] == log, "{address}");
    }
}

#[tokio::test]
async fn a_refused_redirect_is_reported_without_its_query() {
    let mut session = fixture().open().await;
    let headers = json!({"location": "http://storage.example/a?signature=abc"});
    let fault = json!({"operation": "get_run_artifact", "status": 302, "headers": headers, "times": 5});

    session.service.fault(fault).await;
    let error = session.host.fail(TOOL, all_of(seed::RUN_FAILED)).await;

    assert_eq!(error["code"], "bad_response");

    let message = error["message"].as_str().expect("a message");

    assert!(message.contains("`http://storage.example`") && !error.to_string().contains("abc"), "{error}");
    assert!(files_below(session.root()).is_empty());
}
