//! Knowledge files, which another host than that of the main API serves.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    peer::Peer,
};

/// The paths of listed files.
fn paths(listing: &Value) -> Vec<&str> {
    let files = listing["files"].as_array().into_iter().flatten();
    files.filter_map(|file| file["path"].as_str()).collect()
}

#[tokio::test]
async fn the_files_of_the_project_are_always_listed() {
    let Session { service, mut host, .. } =
        Fixture::new().all_tools().variables(&[("TAS_PROJECT_ID", "demo")]).open().await;
    let listing = host.succeed("list_knowledge_files", json!({})).await;

    assert_eq!((&listing["projectId"], &listing["count"]), (&json!("demo"), &json!(3)));

    let sections = listing["sections"].as_array().expect("sections");

    assert_eq!(sections.len(), 1);
    assert_eq!(sections[0]["scope"], "project");
    assert_eq!(paths(&sections[0]), ["guides/controls.md", "guides/worlds/world-1.csv", "overview.md"]);
    assert_eq!(service.requests().await, ["GET /file-storage/demo 200"]);
}

#[tokio::test]
async fn files_of_an_agent_and_a_test_are_listed_on_request() {
    let Session { service, mut host, .. } =
        Fixture::new().all_tools().variables(&[("TAS_PROJECT_ID", "demo")]).open().await;
    let both =
        json!({"agent_id": seed::AGENT_CAREFUL, "test_case_id": seed::TEST_PASSES, "include_metadata": true});
    let listing = host.succeed("list_knowledge_files", both).await;
    let scopes: Vec<_> = listing["sections"].as_array().expect("sections").iter().collect();
    let ids = [&Value::Null, &json!(seed::AGENT_CAREFUL), &json!(seed::TEST_PASSES)];

    assert_eq!(scopes.iter().map(|one| &one["id"]).collect::<Vec<_>>(), ids);
    assert_eq!(paths(scopes[1]), ["habits.txt"]);
    assert_eq!(scopes[1]["files"][0]["metadata"]["summary"], "Never skips a dialog.");
    assert_eq!((&scopes[2]["count"], &scopes[2]["files"]), (&json!(0), &json!([])));
    assert_eq!(listing["count"], 4);

    let query =
        format!("agent_id={}&test_case_id={}&include_metadata=true", seed::AGENT_CAREFUL, seed::TEST_PASSES);

    assert_eq!(service.requests().await, [format!("GET /file-storage/demo?{query} 200")]);
}

#[tokio::test]
async fn each_scope_has_a_list_of_its_own() {
    let Session { service, mut host, .. } =
        Fixture::new().all_tools().variables(&[("TAS_PROJECT_ID", "demo")]).open().await;
    let project = host.succeed("list_project_knowledge_files", json!({})).await;
    let agent = host.succeed("list_agent_knowledge_files", json!({"agent_id": seed::AGENT_CAREFUL})).await;
    let test = json!({"test_case_id": seed::TEST_FAILS, "include_metadata": true});
    let test = host.succeed("list_test_case_knowledge_files", test).await;

    assert_eq!(project["files"][0]["metadata"], Value::Null, "metadata is not requested");
    assert_eq!((paths(&agent), &agent["agentId"]), (vec!["habits.txt"], &json!(seed::AGENT_CAREFUL)));
    assert_eq!((paths(&test), &test["scope"]), (vec!["steps/known-trouble.md"], &json!("test_case")));

    let expected = [
        "GET /file-storage/demo/project 200".to_owned(),
        format!("GET /file-storage/demo/agent/{} 200", seed::AGENT_CAREFUL),
        format!("GET /file-storage/demo/test_case/{}?include_metadata=true 200", seed::TEST_FAILS),
    ];

    assert_eq!(service.requests().await, expected);
}

#[tokio::test]
async fn a_project_that_would_lead_elsewhere_is_refused() {
    let Session { service, mut host, .. } = Fixture::new().key(keys::ORGANIZATION).all_tools().open().await;
    host.fail("list_knowledge_files", json!({"project_id": "demo/agent?x"})).await;
    assert!(service.requests().await.is_empty());
}

#[tokio::test]
async fn the_knowledge_host_gets_the_key_and_the_main_api_gets_no_request() {
    let answer = "{\"sections\": []}";
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}", answer.len());
    let mut peer = Peer::answering(answer).await;
    let mut main = Peer::answering("").await;
    let knowledge = format!("http://{}/below/", peer.address());
    let variables = [("TAS_KNOWLEDGE_URL", knowledge.as_str()), ("TAS_PROJECT_ID", "demo")];
    let mut host = Host::open(&main.settings(keys::DEMO, &variables)).await;

    host.succeed("list_knowledge_files", json!({})).await;
    let requests = peer.requests();

    assert_eq!(requests.len(), 1);
    assert!(requests[0].starts_with("GET /below/file-storage/demo HTTP/1.1\r\n"), "{requests:?}");
    assert!(requests[0].contains(&format!("x-api-key: {}\r\n", keys::DEMO)), "{requests:?}");
    assert_eq!(main.requests(), [""; 0]);
}
