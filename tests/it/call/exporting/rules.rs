//! Rules for the arguments of an export.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::TOOL;
use crate::support::fixture::{Fixture, Session};

/// Asserts that each call is refused with exactly these violations, and that no request is sent.
async fn assert_refused(cases: &[(Value, &[&str])]) {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    for (arguments, expected) in cases {
        assert_eq!(host.violations(TOOL, arguments.clone()).await, *expected, "{arguments}");
    }
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn a_list_has_one_to_a_hundred_different_ids() {
    let ids = |count: usize| json!((0..count).map(|number| format!("r{number}")).collect::<Vec<_>>());

    assert_refused(&[
        (json!({"multiplayer_run_ids": []}), &["multiplayer_run_ids: must not be empty"]),
        (
            json!({"multiplayer_run_ids": ids(101)}),
            &["multiplayer_run_ids: must have at most 100 entries, got 101"],
        ),
        (
            json!({"multiplayer_run_ids": ["r1", "r2", "r1"]}),
            &["multiplayer_run_ids.2: must not repeat an earlier entry"],
        ),
        (json!({"multiplayer_run_ids": ["r1", ""]}), &["multiplayer_run_ids.1: must not be empty"]),
    ])
    .await;

    let Session { service, mut host, .. } = Fixture::new().open().await;

    // The list is accepted. The service answers 404, because none of these runs exists.
    assert_eq!(host.fail(TOOL, json!({"multiplayer_run_ids": ids(100)})).await["code"], "not_found");
    assert_eq!(service.writes().await, ["POST /runs/export/tmsys 404"]);
}

#[tokio::test]
async fn a_name_has_1_to_250_characters_without_surrounding_spaces() {
    let named = |name: &str| json!({"multiplayer_run_id": seed::RUN_PASSED, "custom_run_name": name});
    let rule =
        |length| format!("custom_run_name: must have 1 to 250 characters after trimming, got {length}");
    let (none, too_many) = (rule(0), rule(251));

    assert_refused(&[
        (named(" \t\n "), &[&none]),
        (named(&"x".repeat(251)), &[&too_many]),
        (named(&"é".repeat(251)), &[&too_many]),
    ])
    .await;

    let Session { service: _service, mut host, .. } = Fixture::new().open().await;
    // The limit counts characters and not bytes, and ignores surrounding spaces.
    for name in ["x".to_owned(), "é".repeat(250), "🚀".repeat(250), format!("  {}  ", "x".repeat(250))] {
        let result = host.succeed(TOOL, named(&name)).await;
        assert_eq!(result["tmsys_run_name"], name.trim());
    }
}
