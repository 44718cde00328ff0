//! `list_bugs` with the newest occurrence of each bug, which only the single record has.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use crate::support::fixture::{Fixture, Session};

const TOOL: &str = "list_bugs";

#[tokio::test]
async fn a_list_of_bugs_has_the_newest_occurrence_of_each_if_it_is_asked() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let list = host.succeed(TOOL, json!({"fields": "id,newest_occurrence"})).await;
    let bugs = list["data"].as_array().expect("a list");
    assert!(bugs.iter().any(|bug| bug["id"] == seed::BUG_ACTIVE), "{list}");

    for bug in bugs {
        let whole = host.succeed("get_bug", json!({"bug_id": bug["id"]})).await;
        let time = |one: &&Value| one["detected_at"].as_str().unwrap_or_default().to_owned();
        let newest = whole["occurrences"].as_array().into_iter().flatten().max_by_key(time).expect("one");
        let player = newest["player_index"].as_u64().expect("a number") + 1;
        let run = newest["multiplayer_run_id"].as_str().expect("an id");
        let found = &bug["newest_occurrence"];
        assert_eq!(found["run_id"], run, "{bug}");
        assert_eq!(found["player_id"], format!("{run}-{player}"));
    }

    let sent = service.requests().await.len();
    let list = host.succeed(TOOL, json!({})).await;
    assert_eq!(service.requests().await.len(), sent + 1);
    assert!(list["left_out"].to_string().ends_with("; newest_occurrence: only by name\""), "{list}");
}

#[tokio::test]
async fn a_bug_that_cannot_be_read_is_named_and_the_others_have_their_occurrence() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    service.fault(json!({"operation": "get_bug", "status": 404})).await;
    let list = host.succeed(TOOL, json!({"fields": "id,newest_occurrence"})).await;

    let bugs = list["data"].as_array().expect("a list");
    assert_eq!(bugs.iter().filter(|bug| bug["newest_occurrence"].is_object()).count() + 1, bugs.len());
    assert!(list["unread"][0]["what"].as_str().expect("a text").starts_with("occurrences of bug"), "{list}");

    let body = json!({"data": vec![json!({"id": "b"}); 101], "pagination": {}});
    service.fault(json!({"operation": TOOL, "body": body})).await;
    let list = host.succeed(TOOL, json!({"fields": "id,newest_occurrence"})).await;
    assert!(list["unread"].to_string().contains("after the first 100"), "{list}");
}
