//! Operations whose path has to name the project, although the key alone would decide it.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{BOTH, open, within};
use crate::support::{host::Host, stub::Stub};

const TOOL: &str = "initiate_build_upload";

fn build() -> Value {
    json!({"name": "nightly", "file_name": "app.apk", "file_size": 10, "platform": "android"})
}

/// The service of project `demo`, whose lists show so much of it.
async fn stub(runs: (u16, Value), steps: (u16, Value)) -> Stub {
    Stub::start(move |target: String| {
        std::future::ready(match target.as_str() {
            "GET /runs?page_size=1" => runs.clone(),
            "GET /shared-steps?page_size=1" => steps.clone(),
            _ => (200, json!({"build_id": "b", "upload_id": "u"})),
        })
    })
    .await
}

fn record() -> Value {
    json!({"data": [{"project_id": "demo"}]})
}

#[tokio::test]
async fn the_project_of_the_key_is_learned_once() {
    let (service, mut host) = open(keys::ARENA, &[]).await;
    let upload = host.succeed(TOOL, build()).await;
    assert!(upload["object_key"].as_str().is_some_and(|key| key.starts_with("arena/")), "{upload}");
    host.succeed(TOOL, build()).await;
    let begun = "POST /project/arena/builds/upload 200";
    assert_eq!(service.requests().await, ["GET /runs?page_size=1 200", begun, begun]);
}

#[tokio::test]
async fn a_key_that_may_not_read_runs_is_told_by_its_shared_steps() {
    let (service, mut host) = open(keys::POWERLESS, &[]).await;
    for _ in 0..2 {
        assert_eq!(host.fail(TOOL, build()).await["code"], "permission_denied");
    }

    let begun = "POST /project/demo/builds/upload 403";
    let asked = ["GET /runs?page_size=1 403", "GET /shared-steps?page_size=1 200"];

    assert_eq!(service.requests().await, [asked[0], asked[1], begun, begun]);
}

#[tokio::test]
async fn a_project_without_runs_is_told_by_its_shared_steps() {
    let stub = stub((200, json!({"data": []})), (200, record())).await;
    let mut host = Host::open(&stub.settings(keys::DEMO, &[])).await;
    host.succeed(TOOL, build()).await;
    assert_eq!(stub.requests().last().map(String::as_str), Some("POST /project/demo/builds/upload"));
}

#[tokio::test]
async fn a_key_that_can_read_no_record_needs_the_project_named() {
    let forbidden = (403, json!({"error": "API key missing required permission: project:read-runs"}));
    for (runs, steps) in
        [(forbidden.clone(), forbidden), ((200, json!({"data": []})), (200, json!({"data": []})))]
    {
        let stub = stub(runs, steps).await;
        let mut host = Host::open(&stub.settings(keys::DEMO, &[])).await;
        let error = host.fail(TOOL, build()).await;
        assert_eq!(error["code"], "project_required");
        assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("project_id")), "{error}");
        assert_eq!(stub.requests(), ["GET /runs?page_size=1", "GET /shared-steps?page_size=1"]);
        host.succeed(TOOL, within("demo", build())).await;
    }
}

#[tokio::test]
async fn a_look_up_that_fails_is_what_is_reported() {
    let stub = stub((500, json!({"error": "out of order"})), (200, record())).await;
    let mut host = Host::open(&stub.settings(keys::DEMO, &[])).await;
    let error = host.fail(TOOL, build()).await;
    assert_eq!((&error["code"], &error["status"]), (&json!("service_unavailable"), &json!(500)));
    assert_eq!(stub.requests(), ["GET /runs?page_size=1"]);
}

#[tokio::test]
async fn an_organization_key_needs_the_project_named() {
    let (service, mut host) = open(keys::ORGANIZATION, &[BOTH]).await;
    let error = host.fail(TOOL, build()).await;

    assert_eq!(error["code"], "project_required");
    assert_eq!(error["details"]["known_projects"], json!(["demo", "arena"]));
    assert_eq!(service.requests().await, [""; 0]);

    host.succeed(TOOL, within("arena", build())).await;

    assert_eq!(service.requests().await, ["POST /project/arena/builds/upload 200"]);
}

#[tokio::test]
async fn a_named_project_is_not_looked_up() {
    let (service, mut host) = open(keys::DEMO, &[]).await;
    host.succeed(TOOL, within("demo", build())).await;
    assert_eq!(host.fail(TOOL, within("arena", build())).await["code"], "permission_denied");
    let posted = ["demo/builds/upload 200", "arena/builds/upload 403"];
    assert_eq!(service.requests().await, posted.map(|rest| format!("POST /project/{rest}")));
}

#[tokio::test]
async fn project_scope_needs_no_look_up() {
    let (service, mut host) = open(keys::DEMO, &[("TAS_PROJECT_ID", "demo")]).await;
    host.succeed(TOOL, build()).await;
    assert_eq!(service.requests().await, ["POST /project/demo/builds/upload 200"]);
}

#[tokio::test]
async fn the_project_of_a_new_key_is_learned_again() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let path = file.path().to_str().expect("a path");
    let write = |key: &str| std::fs::write(path, key).expect("a writable file");

    write(keys::DEMO);
    let (service, mut host) = open("", &[("TAS_API_KEY_FILE", path)]).await;

    for key in [keys::DEMO, keys::ARENA, keys::ARENA] {
        write(key);
        host.succeed(TOOL, build()).await;
    }

    let (looked, begun) = ("GET /runs?page_size=1 200", "POST /project/arena/builds/upload 200");
    let expected = [looked, "POST /project/demo/builds/upload 200", looked, begun, begun];

    assert_eq!(service.requests().await, expected);
}

#[tokio::test]
async fn addresses_of_parts_need_the_project_too() {
    let (service, mut host) = open(keys::DEMO, &[]).await;
    let parts = json!({"upload_id": "u", "object_key": "o", "part_numbers": [1]});
    assert_eq!(host.fail("get_build_upload_parts", parts).await["code"], "rejected");
    let asked = "GET /project/demo/builds/upload/parts?upload_id=u&object_key=o&part_numbers=1 400";
    assert_eq!(service.requests().await, ["GET /runs?page_size=1 200", asked]);
}
