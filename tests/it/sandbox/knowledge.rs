//! Knowledge files (service.md 13).

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::client::{Answer, Client, error};

const ALL: &str = "/file-storage/demo";

async fn get_with_key(key: &'static str, path: &str) -> Answer {
    Client::demo().await.key(key).get(path).await
}

fn names(listing: &Value) -> Vec<(&str, &str)> {
    let files = listing["files"].as_array().expect("files").iter();
    files.map(|file| (file["filename"].as_str().unwrap(), file["path"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn files_have_a_name_and_a_path_with_directories() {
    let listing = Client::demo().await.read(&format!("{ALL}/project")).await;
    let expected = [
        ("controls.md", "guides/controls.md"),
        ("world-1.csv", "guides/worlds/world-1.csv"),
        ("overview.md", "overview.md"),
    ];

    assert_eq!(names(&listing), expected);
    assert_eq!((&listing["scope"], &listing["count"]), (&json!("project"), &json!(3)));
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
async fn a_section_appears_for_each_requested_scope() {
    let client = Client::demo().await;
    let (agent, test) = (seed::AGENT_CURIOUS, seed::TEST_FAILS);

    for (query, expected) in [
        (String::new(), vec![("project", Value::Null, 3)]),
        (format!("?agent_id={agent}"), vec![("project", Value::Null, 3), ("agent", json!(agent), 0)]),
        (format!("?test_case_id={test}"), vec![("project", Value::Null, 3), ("test_case", json!(test), 1)]),
        (
            format!("?test_case_id={test}&agent_id=nobody"),
            vec![("project", Value::Null, 3), ("agent", json!("nobody"), 0), ("test_case", json!(test), 1)],
        ),
    ] {
        let listing = client.read(&format!("{ALL}{query}")).await;
        let sections = listing["sections"].as_array().unwrap();
        let fields = |one: &Value| (one["scope"].clone(), one["id"].clone(), one["count"].clone());
        let expected: Vec<_> =
            expected.into_iter().map(|(scope, id, count)| (json!(scope), id, json!(count))).collect();
        assert_eq!(sections.iter().map(fields).collect::<Vec<_>>(), expected, "{query}");
        assert!(sections.iter().all(|one| one["files"].as_array().map(Vec::len)
            == one["count"].as_u64().map(|count| usize::try_from(count).unwrap())));
        let total: u64 = sections.iter().filter_map(|one| one["count"].as_u64()).sum();
        assert_eq!(listing["count"], total);
    }
}

#[tokio::test]
async fn the_list_of_one_scope_contains_the_id_of_the_scope() {
    let client = Client::demo().await;
    let (agent, test) = (seed::AGENT_CAREFUL, seed::TEST_PASSES);
    let of_agent = client.read(&format!("{ALL}/agent/{agent}")).await;

    assert_eq!(
        (&of_agent["scope"], &of_agent["agentId"], &of_agent["count"]),
        (&json!("agent"), &json!(agent), &json!(1))
    );
    assert_eq!(of_agent.get("testCaseId"), None);

    let of_test = client.read(&format!("{ALL}/test_case/{test}")).await;

    assert_eq!(
        of_test,
        json!({"projectId": "demo", "scope": "test_case", "testCaseId": test, "count": 0, "files": []})
    );
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
