//! `list_runs` with `newest`.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::{fixture::Fixture, stub::Stub, time::SimulatedClock};

/// Returns the values of the field `created_at`.
fn times(list: &Value) -> Vec<&str> {
    let records = list["data"].as_array().expect("a list").iter();
    records.map(|record| record["created_at"].as_str().expect("a time")).collect()
}

#[tokio::test]
async fn the_newest_runs_of_all_pages_are_returned_newest_first() {
    let mut session = Fixture::new().open().await;
    let all = session.host.succeed("list_runs", json!({"page_size": 100, "fields": "created_at"})).await;
    let mut expected = times(&all);
    expected.sort_unstable();
    expected.reverse();

    let newest = session.host.succeed("list_runs", json!({"newest": 3})).await;

    assert_eq!(times(&newest), expected[..3]);
    assert_eq!(newest["runs_read"], expected.len());
    assert!(newest["unread"].is_null() && newest["next"].is_null(), "{newest}");
}

#[tokio::test]
async fn the_newest_runs_say_how_far_they_reach_back_and_how_many_are_older() {
    let mut session = Fixture::new().open().await;
    for fields in ["id,created_at", "id"] {
        let newest = session.host.succeed("list_runs", json!({"newest": 3, "fields": fields})).await;
        let all = session.host.succeed("list_runs", json!({"newest": 50, "fields": "created_at"})).await;

        assert_eq!(newest["reaches_back_to"], times(&all)[2], "{newest}");
        assert_eq!(newest["older_runs"].as_u64(), newest["runs_read"].as_u64().map(|read| read - 3));
    }
}

/// `newest` refuses `page` and `page_size`.
#[tokio::test]
async fn a_cut_list_of_the_newest_runs_advises_fewer_of_them_and_still_says_how_far_it_reaches() {
    let mut session = Fixture::new().variables(&[("TAS_MAX_REPLY_CHARS", "4000")]).open().await;
    let newest = session.host.succeed("list_runs", json!({"newest": 50})).await;
    let (kept, hint) = (times(&newest), newest["truncated"]["hint"].as_str().expect("a hint"));

    assert!(hint.contains(&format!("`newest: {}`", kept.len())) && !hint.contains("page"), "{hint}");
    assert_eq!(newest["reaches_back_to"], *kept.last().expect("a run"));
    let counted = newest["older_runs"].as_u64().map(|older| older + kept.len() as u64);
    assert_eq!(counted, newest["runs_read"].as_u64());
}

#[tokio::test]
async fn filters_and_fields_apply_to_the_newest_runs() {
    let mut session = Fixture::new().open().await;
    let arguments = json!({"newest": 50, "state": "completed", "fields": "state"});
    let newest = session.host.succeed("list_runs", arguments).await;

    let records = newest["data"].as_array().expect("a list");
    assert!(
        !records.is_empty() && records.iter().all(|record| *record == json!({"state": "COMPLETED"})),
        "{newest}"
    );
}

#[tokio::test]
async fn a_page_that_cannot_be_read_is_reported() {
    let stub = Stub::start(async |target: String| {
        let run = |number: usize| json!({"multiplayer_run_id": format!("r{number}"), "created_at": format!("2026-01-0{number}T00:00:00Z")});
        if target.contains("page=1&") {
            (500, json!({"error": "broken"}))
        } else {
            (200, json!({"data": [run(1), run(2)], "pagination": {"total_pages": 2}}))
        }
    })
    .await;
    let mut session = Fixture::new().open_with(stub).await;
    let newest = session.host.succeed("list_runs", json!({"newest": 1})).await;

    assert_eq!(newest["data"][0]["multiplayer_run_id"], "r2");
    assert_eq!(newest["unread"][0]["what"], "list_runs, page 1");
    assert_eq!(
        newest.as_object().and_then(|fields| fields.keys().next()).map(String::as_str),
        Some("incomplete")
    );
}

#[tokio::test]
async fn the_newest_runs_have_no_pages() {
    let mut session = Fixture::new().open().await;

    for arguments in [json!({"newest": 5, "page": 1}), json!({"newest": 51}), json!({"newest": 0})] {
        let violations = session.host.violations("list_runs", arguments).await;
        assert_eq!(violations.len(), 1, "{violations:?}");
    }
}

#[tokio::test]
async fn pages_that_are_not_read_within_the_time_limit_are_reported() {
    let clock = Arc::<SimulatedClock>::default();
    let expiring = Arc::clone(&clock);
    let stub = Stub::start(move |target: String| {
        let clock = Arc::clone(&expiring);
        async move {
            if target.contains("page=1&") {
                clock.set_time_limits_expire(true);
                std::future::pending::<()>().await;
            }
            let run = json!({"multiplayer_run_id": "r1", "created_at": "2026-01-01T00:00:00Z"});
            (200, json!({"data": [run], "pagination": {"total_pages": 2}}))
        }
    })
    .await;
    let mut session = Fixture::new().simulated_time_by(clock).open_with(stub).await;
    let newest = session.host.succeed("list_runs", json!({"newest": 5})).await;

    assert_eq!(newest["data"][0]["multiplayer_run_id"], "r1");
    assert_eq!(newest["unread"][0]["what"], "list_runs, page 1");
}
