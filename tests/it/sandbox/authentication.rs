//! Keys and permissions (service.md 1.2).

use reqwest::Method;
use tas_mcp::sandbox::{
    keys,
    seed::{ARENA_RUN_PASSED, BUILD_ANDROID, RUN_PASSED},
};

use super::client::{Answer, Client, error};

async fn get_with_key(key: &'static str, path: &str) -> Answer {
    Client::demo().await.key(key).get(path).await
}

#[tokio::test]
async fn authentication_errors_have_the_fixed_texts() {
    let missing = Client::demo().await.without_key().get("/runs").await;

    assert_eq!(missing, error(401, "API key required"));
    assert_eq!(get_with_key("svc_nobody", "/runs").await, error(401, "Invalid API key"));
    assert_eq!(get_with_key(keys::EXPIRED, "/runs").await, error(403, "API key expired"));
    assert_eq!(get_with_key(keys::DISABLED, "/runs").await, error(403, "API key is disabled"));

    let lacking = error(403, "API key missing required permission: project:read-runs");

    assert_eq!(get_with_key(keys::POWERLESS, "/runs").await, lacking);
}

#[tokio::test]
async fn a_read_only_key_cannot_write() {
    let client = Client::demo().await.key(keys::READ_ONLY);
    client.read("/runs").await;

    let build = format!("/builds/{BUILD_ANDROID}");
    for (permission, method, paths) in [
        ("operate-runs", Method::POST, &["/runs", "/runs/stop", "/runs/export/tmsys"][..]),
        ("edit-tests", Method::POST, &["/test-folders", "/test-plans", "/shared-steps", "/tests"]),
        ("edit-tests", Method::PATCH, &["/test-plans/x", "/shared-steps/x", "/tests/x"]),
        ("edit-tests", Method::DELETE, &["/test-plans/x", "/shared-steps/x", "/tests/x"]),
        ("manage-build-storage", Method::POST, &["/builds/upload", "/builds/upload/complete"]),
        ("manage-build-storage", Method::DELETE, &["/builds/upload?build_id=x&object_key=y", &build]),
    ] {
        let lacking = error(403, &format!("API key missing required permission: project:{permission}"));
        for path in paths {
            assert_eq!(client.answer(method.clone(), path).await, lacking, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn an_organization_key_works_on_project_routes_only() {
    let client = Client::demo().await.key(keys::ORGANIZATION);
    assert_eq!(client.get("/runs").await.status, 401);
    client.read(&format!("/project/demo/runs/{RUN_PASSED}")).await;
    client.read(&format!("/project/arena/runs/{ARENA_RUN_PASSED}")).await;
}

#[tokio::test]
async fn a_key_of_another_project_has_no_access() {
    let foreign = get_with_key(keys::ARENA, "/project/demo/runs").await;
    assert_eq!(foreign, error(403, "API key does not match the project"));
}

#[tokio::test]
async fn an_unknown_project_is_forbidden_for_every_key() {
    for key in [keys::DEMO, keys::ORGANIZATION] {
        assert_eq!(get_with_key(key, "/project/nowhere/runs").await.status, 403);
    }
}

#[tokio::test]
async fn the_project_is_inferred_from_the_key() {
    let client = Client::demo().await.key(keys::ARENA);
    assert_eq!(client.read("/runs").await["data"][0]["project_id"], "arena");
}
