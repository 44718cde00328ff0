//! No key goes to the route of the part addresses or to the storage host (service.md 1.2, 10.6).

use serde_json::{Value, json};

use super::{build, file, fixture, upload_build, with};
use crate::support::fixture::Session;

/// Every request with the id of its key.
async fn requests_with_keys(service: &crate::support::service::Service) -> Vec<(String, Value)> {
    let log = service.control("requests").await;
    let short = |seen: &Value| {
        let path = seen["path"].as_str().expect("a path").split('?').next().unwrap_or_default();
        let path = path.trim_start_matches("/api/v1").split('/').take(4).collect::<Vec<_>>().join("/");
        (
            format!("{} {path} {}", seen["method"].as_str().expect("a method"), seen["status"]),
            seen["key"].clone(),
        )
    };

    log["data"].as_array().expect("a list").iter().map(short).collect()
}

#[tokio::test]
async fn only_the_main_api_gets_the_key() {
    let Session { service, mut host, .. } = fixture().open().await;
    upload_build(&mut host, &file(1_500)).await;

    let (own, none) = (json!("key_demo"), Value::Null);
    let seen = requests_with_keys(&service).await;
    let build = seen.iter().find_map(|(line, _)| line.strip_prefix("PUT ")).expect("a part").to_owned();
    let build = format!("PUT {build}");
    let expected = [
        // The server looks up the project of the key once, with the key.
        ("GET /runs 200", &own),
        ("POST /project/demo/builds 200", &own),
        ("GET /project/demo/builds 200", &none),
        (&build, &none),
        (&build, &none),
        ("POST /builds/upload/complete 200", &own),
    ]
    .map(|(line, key)| (line.to_owned(), key.clone()));

    assert_eq!(seen, expected);
}

#[tokio::test]
async fn part_addresses_need_no_key_but_a_project() {
    let session = fixture().open().await;
    // The command prints no key.
    let mut host = session.another_host("", &[("TAS_API_KEY_COMMAND", "true")]).await;
    let mut owner = session.another_host(tas_mcp::sandbox::keys::DEMO, &[]).await;
    let upload = owner.succeed("initiate_build_upload", build(3)).await;
    let part =
        json!({"upload_id": upload["upload_id"], "object_key": upload["object_key"], "part_numbers": [1]});

    let addresses =
        host.succeed("get_build_upload_parts", with(part.clone(), json!({"project_id": "demo"}))).await;
    assert!(addresses["upload_urls"][0]["url"].is_string(), "{addresses}");
    assert_eq!(requests_with_keys(&session.service).await.last().expect("a request").1, Value::Null);

    let sent = session.service.requests().await.len();
    assert_eq!(host.fail("get_build_upload_parts", part).await["code"], "project_required");
    assert_eq!(host.fail("list_builds", json!({})).await["code"], "not_configured");
    assert_eq!(session.service.requests().await.len(), sent);
}
