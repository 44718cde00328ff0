//! Operations whose path must contain the project, although the key alone decides it.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{BOTH, within};
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    stub::Stub,
};

const TOOL: &str = "initiate_build_upload";

const FILES: &str = "list_knowledge_files";

fn build() -> Value {
    json!({"name": "nightly", "file_name": "app.apk", "file_size": 10, "platform": "android"})
}

/// A service of the project `demo` that answers the lists of runs and of shared steps like this.
async fn stub_of_demo(runs: (u16, Value), steps: (u16, Value)) -> Stub {
    Stub::start(move |target: String| {
        std::future::ready(match target.as_str() {
            "GET /runs?page_size=1" => runs.clone(),
            "GET /shared-steps?page_size=1" => steps.clone(),
            _ => (200, json!({"build_id": "b", "upload_id": "u"})),
        })
    })
    .await
}

/// A list with one record of the project `demo`.
fn record() -> Value {
    json!({"data": [{"project_id": "demo"}]})
}

#[tokio::test]
async fn the_project_of_the_key_is_looked_up_once() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().key(keys::ARENA).open().await;
    let upload = host.succeed(TOOL, build()).await;
    assert!(upload["object_key"].as_str().is_some_and(|key| key.starts_with("arena/")), "{upload}");
    host.succeed(TOOL, build()).await;
    assert_eq!(host.succeed(FILES, json!({})).await["projectId"], "arena");
    let upload_request = "POST /project/arena/builds/upload 200";
    let expected =
        ["GET /runs?page_size=1 200", upload_request, upload_request, "GET /file-storage/arena 200"];
    assert_eq!(service.requests().await, expected);
}

#[tokio::test]
async fn the_project_is_taken_from_shared_steps_if_the_key_cannot_read_runs() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().key(keys::POWERLESS).open().await;
    for _ in 0..2 {
        assert_eq!(host.fail(TOOL, build()).await["code"], "permission_denied");
    }

    let upload_request = "POST /project/demo/builds/upload 403";
    let look_ups = ["GET /runs?page_size=1 403", "GET /shared-steps?page_size=1 200"];

    assert_eq!(service.requests().await, [look_ups[0], look_ups[1], upload_request, upload_request]);
}

#[tokio::test]
async fn the_project_is_taken_from_shared_steps_if_it_has_no_runs() {
    let stub = stub_of_demo((200, json!({"data": []})), (200, record())).await;
    let mut host = Host::open(&stub.settings(keys::DEMO, &[("TAS_TOOLSETS", "builds")])).await;
    host.succeed(TOOL, build()).await;
    assert_eq!(stub.requests().last().map(String::as_str), Some("POST /project/demo/builds/upload"));
}

#[tokio::test]
async fn a_key_that_can_read_no_record_requires_a_project() {
    let forbidden = (403, json!({"error": "API key missing required permission: project:read-runs"}));
    for (runs, steps) in
        [(forbidden.clone(), forbidden), ((200, json!({"data": []})), (200, json!({"data": []})))]
    {
        let stub = stub_of_demo(runs, steps).await;
        let mut host = Host::open(&stub.settings(keys::DEMO, &[("TAS_TOOLSETS", "builds")])).await;
        let error = host.fail(TOOL, build()).await;
        assert_eq!(error["code"], "project_required");
        assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("project_id")), "{error}");
        assert_eq!(stub.requests(), ["GET /runs?page_size=1", "GET /shared-steps?page_size=1"]);
        host.succeed(TOOL, within("demo", build())).await;
    }
}

#[tokio::test]
async fn the_error_of_a_failed_look_up_is_reported() {
    let stub = stub_of_demo((500, json!({"error": "out of order"})), (200, record())).await;
    let mut host = Host::open(&stub.settings(keys::DEMO, &[("TAS_TOOLSETS", "builds")])).await;
    let error = host.fail(TOOL, build()).await;
    assert_eq!((&error["code"], &error["status"]), (&json!("service_unavailable"), &json!(500)));
    assert_eq!(stub.requests(), ["GET /runs?page_size=1"]);
}

#[tokio::test]
async fn an_organization_key_requires_a_project() {
    let Session { service, mut host, .. } =
        Fixture::new().all_tools().key(keys::ORGANIZATION).variables(&[BOTH]).open().await;
    let calls = [(TOOL, build()), (FILES, json!({}))];
    for (tool, arguments) in calls.clone() {
        let error = host.fail(tool, arguments).await;
        assert_eq!(error["code"], "project_required");
        assert_eq!(error["details"]["known_projects"], json!(["demo", "arena"]));
    }

    assert_eq!(service.requests().await, [""; 0]);

    for (tool, arguments) in calls {
        host.succeed(tool, within("arena", arguments)).await;
    }

    let expected = ["POST /project/arena/builds/upload 200", "GET /file-storage/arena 200"];
    assert_eq!(service.requests().await, expected);
}

#[tokio::test]
async fn a_named_project_is_not_looked_up() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    host.succeed(TOOL, within("demo", build())).await;
    assert_eq!(host.fail(TOOL, within("arena", build())).await["code"], "permission_denied");
    assert_eq!(host.fail(FILES, within("arena", json!({}))).await["code"], "permission_denied");
    let expected = [
        "POST /project/demo/builds/upload 200",
        "POST /project/arena/builds/upload 403",
        "GET /file-storage/arena 403",
    ];
    assert_eq!(service.requests().await, expected);
}

#[tokio::test]
async fn project_scope_needs_no_look_up() {
    let Session { service, mut host, .. } =
        Fixture::new().all_tools().variables(&[("TAS_PROJECT_ID", "demo")]).open().await;
    host.succeed(TOOL, build()).await;
    assert_eq!(service.requests().await, ["POST /project/demo/builds/upload 200"]);
}

#[tokio::test]
async fn the_project_of_a_changed_key_is_looked_up_again() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let path = file.path().to_str().expect("a path");
    let write = |key: &str| std::fs::write(path, key).expect("a writable file");

    // The server reads the key from the file before every call.
    write(keys::DEMO);
    let Session { service, mut host, .. } =
        Fixture::new().all_tools().key("").variables(&[("TAS_API_KEY_FILE", path)]).open().await;

    for key in [keys::DEMO, keys::ARENA, keys::ARENA] {
        write(key);
        host.succeed(TOOL, build()).await;
    }

    let (look_up, upload_request) = ("GET /runs?page_size=1 200", "POST /project/arena/builds/upload 200");
    let expected = [look_up, "POST /project/demo/builds/upload 200", look_up, upload_request, upload_request];

    assert_eq!(service.requests().await, expected);
}

#[tokio::test]
async fn addresses_of_parts_require_the_project() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let parts = json!({"upload_id": "u", "object_key": "o", "part_numbers": [1]});
    assert_eq!(host.fail("get_build_upload_parts", parts).await["code"], "rejected");
    let parts_request = "GET /project/demo/builds/upload/parts?upload_id=u&object_key=o&part_numbers=1 400";
    assert_eq!(service.requests().await, ["GET /runs?page_size=1 200", parts_request]);
}
