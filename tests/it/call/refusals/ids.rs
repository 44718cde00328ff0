//! Impossible ids, and ids of unusual characters.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::fixture;
use crate::support::fixture::Session;

/// Every tool that accepts ids of any form, with the argument of the id.
const TOOLS: [(&str, &str); 7] = [
    ("get_run", "run_id"),
    ("get_live_run", "run_id"),
    ("list_run_bugs", "run_id"),
    ("get_bug", "bug_id"),
    ("get_test_plan_execution", "test_plan_execution_id"),
    ("export_tmsys_run", "multiplayer_run_id"),
    ("export_tmsys_run", "multiplayer_run_ids"),
];

fn arguments(name: &str, id: &str) -> Value {
    let id = if name == "multiplayer_run_ids" { json!([seed::RUN_PASSED, id]) } else { json!(id) };
    json!({name: id, "project_id": "demo"})
}

#[tokio::test]
async fn an_impossible_id_is_refused_before_any_request() {
    let long = "x".repeat(1 << 15);
    for key in [keys::DEMO, keys::ORGANIZATION] {
        let Session { service, mut host, .. } = fixture().key(key).open().await;
        for id in [" ", "\t\n", ".", "..", "a/b", "../jobs", "a\\b", "%2e%2e", "%", &long] {
            for (tool, name) in TOOLS {
                let found = host.violations(tool, arguments(name, id)).await;
                let path = if name == "multiplayer_run_ids" { "multiplayer_run_ids.1" } else { name };
                assert!(found.len() == 1 && found[0].starts_with(&format!("{path}: ")), "{tool}: {found:?}");
            }
            let found = host.violations("list_runs", json!({"project_id": id})).await;
            assert!(found.len() == 1 && found[0].starts_with("project_id: "), "{found:?}");
        }

        assert_eq!(service.requests().await, [""; 0]);

        host.succeed("get_run", json!({"run_id": seed::RUN_PASSED})).await;
    }
}

#[tokio::test]
async fn an_unusual_id_is_unknown() {
    for (key, code) in [(keys::DEMO, "project_not_resolved"), (keys::ORGANIZATION, "project_not_resolved")] {
        let Session { service, mut host, .. } = fixture().key(key).open().await;
        for id in ["?state=all", "a b", "#", "\u{0}", "💥", "hui4d9ilmby-1"] {
            for (tool, name) in TOOLS {
                let error = host.fail(tool, arguments(name, id)).await;
                let expected = if tool == "get_bug" { "not_found" } else { code };
                assert_eq!(error["code"], expected, "{tool} {id}: {error}");
            }
        }

        assert_eq!(service.writes().await, [""; 0]);

        host.succeed("get_run", json!({"run_id": seed::RUN_PASSED})).await;
    }
}

#[tokio::test]
async fn without_a_look_up_the_service_refuses_unusual_ids() {
    let Session { service, mut host, .. } = fixture().open().await;
    for id in ["?state=all", "#", "\u{0}"] {
        for (tool, name) in TOOLS.into_iter().filter(|(tool, _)| *tool != "get_test_plan_execution") {
            let mut arguments = arguments(name, id);
            arguments["project_id"] = Value::Null;
            assert_eq!(host.fail(tool, arguments).await["code"], "not_found", "{tool} {id}");
        }
    }

    assert!(service.writes().await.iter().all(|request| request.ends_with(" 404")));
}
