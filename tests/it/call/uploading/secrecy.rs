//! The route of the part addresses takes no key (service.md 1.2, 10.6).

use serde_json::{Value, json};

use super::{build, fixture, with};

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
    let seen = session.service.control("requests").await;
    assert_eq!(seen["data"].as_array().and_then(|all| all.last()).expect("a request")["key"], Value::Null);

    let sent = session.service.requests().await.len();
    assert_eq!(host.fail("get_build_upload_parts", part).await["code"], "project_required");
    assert_eq!(host.fail("list_builds", json!({})).await["code"], "not_configured");
    assert_eq!(session.service.requests().await.len(), sent);
}
