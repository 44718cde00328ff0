//! Answers that are longer than a reply may be.

use serde_json::{Value, json};
use tas_mcp::tools::catalog;

use crate::support::{
    fixture::{Fixture, Session},
    listed_tool,
};

mod failures;
mod selecting;

const MAX_CHARS: usize = 4_000;

const ID: &str = "00000000-0000-4000-8000-000000000000";

/// The reply of a tool to this answer of the service, with replies limited to [`MAX_CHARS`] characters.
async fn reply(operation: &str, arguments: Value, answer: Value) -> Value {
    let limit = MAX_CHARS.to_string();
    let fixture = Fixture::new().variables(&[("TAS_MAX_REPLY_CHARS", &limit)]);
    let Session { service, mut host, .. } = fixture.open().await;

    service.fault(json!({"operation": operation, "body": answer})).await;
    host.succeed(operation, arguments).await
}

fn length(reply: &Value) -> usize {
    reply.to_string().chars().count()
}

#[tokio::test]
async fn a_reply_within_the_limit_is_unchanged() {
    let answer = json!({"multiplayer_run_id": "x", "players": [{"steps": ["s".repeat(3_000)]}]});
    let reply = reply("get_run", json!({"run_id": "x"}), answer.clone()).await;
    assert_eq!(reply, answer);
}

#[tokio::test]
async fn a_long_list_is_cut_between_records_and_continues_with_the_first_that_was_cut() {
    let records: Vec<_> = (0..100).map(|index| json!({"id": index, "name": "n".repeat(90)})).collect();
    let pagination = json!({"page": 0, "page_size": 100, "total_count": 150, "total_pages": 2});
    let reply = reply(
        "list_tests",
        json!({"page_size": 100, "fields": "id,name"}),
        json!({"data": records, "pagination": pagination}),
    )
    .await;

    assert!(length(&reply) <= MAX_CHARS, "{}", length(&reply));

    let kept = reply["data"].as_array().expect("records");

    assert!(kept.len() > 10);
    assert_eq!(kept.as_slice(), &records[..kept.len()]);
    assert_eq!(reply["pagination"], pagination);
    let after =
        json!({"page": 1, "page_size": kept.len(), "remaining_pages": 150_usize.div_ceil(kept.len()) - 1});
    assert_eq!(reply["next"], after);

    let cut = &reply["truncated"]["cuts"][0];

    assert_eq!(*cut, json!({"path": "/data", "kept": kept.len(), "omitted": 100 - kept.len()}));
    let first: Vec<_> = reply.as_object().expect("an object").keys().take(2).collect();
    assert_eq!(first, ["incomplete", "truncated"], "a cut reply says so first");
}

#[tokio::test]
async fn the_hint_of_a_cut_names_only_arguments_of_the_tool() {
    let records: Vec<_> = (0..100).map(|index| json!({"id": index, "title": "n".repeat(90)})).collect();
    let bugs = json!({"data": records, "pagination": {"page": 0, "page_size": 100, "total_count": 150}});
    let start = json!({"multiplayer_test_id": ID, "deployment_config_id": ID, "project_id": "demo"});
    let cases = [
        ("list_run_bugs", json!({"run_id": "x"}), bugs),
        ("list_tests", json!({"fields": "*"}), json!({"data": records})),
        ("start_run", start, json!({"success": true, "job_ids": ["x".repeat(5_000)]})),
    ];

    for (tool, arguments, answer) in cases {
        let reply = reply(tool, arguments, answer).await;
        let takes = |name: &str| {
            let tool = listed_tool(catalog::find_tool(tool).expect("a tool"), false);
            tool["inputSchema"]["properties"].get(name).is_some()
        };
        let hint = reply["truncated"]["hint"].as_str().expect("a hint");

        for name in ["page", "page_size", "fields", "next"].iter().filter(|name| !takes(name)) {
            assert!(!hint.contains(&format!("`{name}")), "{tool}: {hint}");
        }

        assert_eq!(hint.contains("`fields`"), takes("fields"), "{tool}: {hint}");
        assert_eq!(reply.get("next"), None, "{tool}");
    }
}

#[tokio::test]
async fn a_tool_without_paging_names_no_next_page() {
    // The service has a second page, although the tool cannot request it.
    let pagination = json!({"page": 0, "page_size": 1, "total_count": 2, "total_pages": 2});
    let answer = json!({"data": [{"id": "x", "bug_id": "x"}], "pagination": pagination});
    assert_eq!(reply("list_run_bugs", json!({"run_id": "x"}), answer.clone()).await, answer);
}

#[tokio::test]
async fn a_long_record_is_cut_at_the_ends_of_its_longest_lists_first() {
    let steps: Vec<_> =
        (0..200).map(|index| json!({"step_number": index, "report": "ok ".repeat(20)})).collect();
    let answer =
        json!({"multiplayer_run_id": "x", "tags": ["a", "b"], "players": [{"id": "x-1", "steps": steps}]});
    let reply = reply("get_run", json!({"run_id": "x"}), answer).await;

    assert!(length(&reply) <= MAX_CHARS, "{}", length(&reply));

    let kept = reply["players"][0]["steps"].as_array().expect("steps").len();

    assert!(kept > 5);
    assert_eq!(reply["players"][0]["steps"][0]["step_number"], 0);
    assert_eq!(reply["tags"], json!(["a", "b"]));

    let cut = &reply["truncated"]["cuts"][0];

    assert_eq!(*cut, json!({"path": "/players/0/steps", "kept": kept, "omitted": 200 - kept}));
}

#[tokio::test]
async fn the_longest_strings_of_a_record_are_cut_next_with_a_mark() {
    let answer =
        json!({"multiplayer_run_id": "x", "template_data": {"a/b~c": "é".repeat(9_000), "short": "kept"}});
    let reply = reply("get_run", json!({"run_id": "x"}), answer).await;

    assert!(length(&reply) <= MAX_CHARS, "{}", length(&reply));

    let text = reply["template_data"]["a/b~c"].as_str().expect("text");

    assert!(text.ends_with("… [cut]"));
    assert_eq!(reply["template_data"]["short"], "kept");
    let kept = text.chars().filter(|character| *character == 'é').count();
    assert!(kept >= 500, "{kept}");
    assert_eq!(
        reply["truncated"]["cuts"][0],
        json!({"path": "/template_data/a~1b~0c", "omitted_characters": 9_000 - kept})
    );
}
