//! What the grants of a person allow.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{TeamServer, code_of};

/// A grant for reading the runs of the demo project.
const READ_DEMO: &str = "projects = [\"demo\"]\npermissions = [\"project:read-runs\"]";

const ALL_TOOLS: (&str, &str) = ("TAS_TOOLSETS", "all");

#[tokio::test]
async fn a_grant_serves_calls_with_its_key() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[]).await;
    let result = team.call("/mcp", json!({}), "list_runs", json!({"page_size": 1})).await;

    assert_eq!(result["isError"], false, "{result}");
    let requests = format!("{:?}", team.service.requests().await);
    assert!(!requests.contains("Bearer"), "{requests}");
}

#[tokio::test]
async fn a_call_that_no_grant_covers_is_not_sent() {
    let team = TeamServer::start(&[(keys::ORGANIZATION, READ_DEMO)], &[]).await;
    let foreign = json!({"project_id": "arena", "page_size": 1});
    let cases = [
        ("/mcp", "list_runs", foreign),
        ("/mcp/arena", "list_runs", json!({})),
        ("/mcp", "start_run", json!({"multiplayer_test_id": seed::TEST_FAILS})),
        ("/mcp", "delete_test", json!({"test_id": seed::TEST_FAILS})),
    ];

    for (path, tool, arguments) in cases {
        let result = team.call(path, json!({}), tool, arguments).await;
        assert_eq!(code_of(&result), "permission_denied", "{path} {tool}");
    }
    assert!(team.service.requests().await.is_empty());
}

#[tokio::test]
async fn tools_that_no_grant_allows_are_not_listed() {
    let grants = [(keys::DEMO, READ_DEMO), (keys::ARENA, "projects = [\"arena\"]")];
    let team = TeamServer::start(&grants, &[]).await;
    let has = |tools: &[String], name: &str| tools.iter().any(|tool| tool == name);

    let demo = team.tools("/mcp/demo", json!({})).await;
    assert!(has(&demo, "list_runs") && !has(&demo, "start_run"), "{demo:?}");
    for path in ["/mcp", "/mcp/arena"] {
        assert!(has(&team.tools(path, json!({})).await, "start_run"), "{path}");
    }
    assert!(!has(&team.tools("/mcp/other", json!({})).await, "list_runs"));
}

#[tokio::test]
async fn one_single_grant_must_cover_project_and_permission() {
    let grants = [
        (keys::ORGANIZATION, READ_DEMO),
        (keys::ORGANIZATION, "projects = [\"arena\"]\npermissions = [\"project:operate-runs\"]"),
    ];
    let team = TeamServer::start(&grants, &[]).await;
    let start = json!({"multiplayer_test_id": seed::TEST_FAILS, "project_id": "demo"});

    assert_eq!(code_of(&team.call("/mcp", json!({}), "start_run", start).await), "permission_denied");
    let read = team.call("/mcp", json!({}), "list_runs", json!({"project_id": "arena"})).await;
    assert_eq!(code_of(&read), "permission_denied");
}

#[tokio::test]
async fn ids_decide_between_the_keys_of_a_person() {
    let demo_first = [(keys::DEMO, "projects = [\"demo\"]"), (keys::ARENA, "projects = [\"arena\"]")];
    let without_projects = [(keys::DEMO, ""), (keys::ARENA, "")];
    for grants in [demo_first, without_projects] {
        let team = TeamServer::start(&grants, &[]).await;
        let foreign = first_run(&team, "arena").await;
        for run in [seed::RUN_FAILED, foreign.as_str()] {
            let result =
                team.call("/mcp", json!({}), "get_run", json!({"run_id": run, "fields": "result"})).await;
            assert_eq!(result["isError"], false, "{run}: {result}");
        }
    }
}

/// Returns the id of a run of a project.
async fn first_run(team: &TeamServer, project: &str) -> String {
    let listed = team.call(&format!("/mcp/{project}"), json!({}), "list_runs", json!({"page_size": 1})).await;
    let run = &listed["structuredContent"]["data"][0]["multiplayer_run_id"];
    run.as_str().unwrap_or_else(|| panic!("no run: {listed}")).to_owned()
}

#[tokio::test]
async fn every_request_of_a_tool_needs_the_permission_of_its_grant() {
    let grants = [(keys::DEMO, READ_DEMO), (keys::DEMO, "permissions = [\"project:manage-build-storage\"]")];
    let team = TeamServer::start(&grants, &[]).await;

    let search = json!({"names": ["Windows PC"], "kinds": ["deployment_config"]});
    let refused = team.call("/mcp", json!({}), "find_by_name", search).await;
    assert_eq!(code_of(&refused), "permission_denied");
    assert!(team.service.requests().await.is_empty());
}

#[tokio::test]
async fn an_organization_key_stays_inside_the_projects_of_the_grant() {
    let all = TeamServer::start(&[(keys::ORGANIZATION, "")], &[]).await;
    let foreign = first_run(&all, "arena").await;

    for projects in ["projects = [\"demo\"]", "projects = [\"demo\", \"other\"]"] {
        let team = TeamServer::start(&[(keys::ORGANIZATION, projects)], &[ALL_TOOLS]).await;
        for (tool, arguments) in [
            ("get_run", json!({"run_id": foreign})),
            ("get_run", json!({"run_id": foreign, "project_id": "arena"})),
            ("list_run_artifacts", json!({"run_id": format!("{foreign}-1")})),
        ] {
            let result = team.call("/mcp", json!({}), tool, arguments.clone()).await;
            assert_eq!(result["isError"], true, "{projects} {tool} {arguments}: {result}");
        }
    }
}

#[tokio::test]
async fn a_changed_key_of_a_grant_counts() {
    let team = TeamServer::start(&[(keys::EXPIRED, "")], &[]).await;
    let list = async || team.call("/mcp", json!({}), "list_runs", json!({"page_size": 1})).await;
    assert_eq!(code_of(&list().await), "unauthenticated");

    std::fs::write(team.directory.path().join("0.key"), keys::DEMO).expect("a key");
    assert_eq!(list().await["isError"], false);
}

#[tokio::test]
async fn persons_with_one_key_share_no_confirmations() {
    let team = TeamServer::start(&[(keys::DEMO, "")], &[ALL_TOOLS]).await;
    let delete = json!({"test_id": seed::TEST_FAILS});
    let asked = team.call("/mcp", json!({"sub": "alice"}), "delete_test", delete.clone()).await;
    let state = asked["requestState"].as_str().unwrap_or_else(|| panic!("no question: {asked}"));
    let answers = json!({"confirm": {"action": "accept", "content": {"confirm": true}}});

    let answer = |person: &str| {
        let params = json!({
            "name": "delete_test", "arguments": delete, "requestState": state, "inputResponses": answers,
        });
        let token = team.issuer.token(super::AUDIENCE, &json!({"sub": person}));
        (token, params)
    };
    let (token, params) = answer("bob");
    let refused: Value =
        crate::support::http_client::json_of(team.request(&token, "tools/call", params).await).await;
    assert_eq!(code_of(&refused["result"]), "invalid_arguments", "{refused}");

    let (token, params) = answer("alice");
    let done = crate::support::http_client::json_of(team.request(&token, "tools/call", params).await).await;
    // The service has got the call, and refuses it.
    assert_eq!(code_of(&done["result"]), "conflict", "{done}");
}
