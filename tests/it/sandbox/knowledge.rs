//! Knowledge files (service.md 13).

use serde_json::json;
use tas_mcp::sandbox::keys;

use super::client::{Answer, Client, error};

const ALL: &str = "/file-storage/demo";

async fn get_with_key(key: &'static str, path: &str) -> Answer {
    Client::demo().await.key(key).get(path).await
}

#[tokio::test]
async fn metadata_comes_from_the_hidden_file_and_only_on_request() {
    let client = Client::demo().await;
    let without = client.read(&format!("{ALL}/project?include_metadata=false")).await;

    assert!(without["files"].as_array().unwrap().iter().all(|file| file.get("metadata").is_none()));

    let with = client.read(&format!("{ALL}/project?include_metadata=true")).await;
    let metadata = |index: usize| with["files"][index].get("metadata");
    let controls = json!({
        "description": "Controls of the game", "summary": "Gestures, keys and gamepad buttons of every action.",
        "keywords": ["controls", "gestures", "gamepad"],
    });

    assert_eq!(metadata(0), Some(&controls));
    assert_eq!(metadata(1), Some(&json!({"summary": "How many lanterns each level of world 1 has."})));
    assert_eq!(metadata(2), None, "the file has no metadata");
}

#[tokio::test]
async fn every_key_of_the_project_may_list_and_other_keys_may_not() {
    for key in [keys::DEMO, keys::POWERLESS, keys::READ_ONLY, keys::ORGANIZATION] {
        assert_eq!(get_with_key(key, ALL).await.status, 200, "{key}");
    }

    assert_eq!(get_with_key(keys::ARENA, ALL).await, error(403, "API key does not match the project"));
    assert_eq!(get_with_key(keys::ORGANIZATION, "/file-storage/nowhere").await.status, 403);
    assert_eq!(get_with_key(keys::EXPIRED, ALL).await, error(403, "API key expired"));
    assert_eq!(get_with_key("svc_nobody", ALL).await, error(401, "Invalid API key"));
    assert_eq!(Client::demo().await.without_key().get(ALL).await, error(401, "API key required"));
}
