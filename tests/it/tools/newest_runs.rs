//! `list_runs` with `newest`.

use std::sync::Arc;

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use crate::support::{
    fixture::{Fixture, Session},
    stub::Stub,
    time::SimulatedClock,
};

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

#[tokio::test]
async fn the_newest_runs_on_a_device_are_those_with_its_name_among_all_runs() {
    let Session { service: _service, mut host, .. } = Fixture::new().open().await;
    let fields = "created_at,device";
    let all = host.succeed("list_runs", json!({"newest": 50, "fields": fields})).await;
    let device = |run: &Value| run["device"].as_str().unwrap_or_default().to_owned();
    let oldest = all["data"].as_array().and_then(|runs| runs.last()).map(device).expect("a run");

    // A part of the name is enough, in any letter case.
    let part = oldest.to_uppercase()[..oldest.len() - 1].to_owned();
    let found = host.succeed("list_runs", json!({"newest": 1, "device": part, "fields": fields})).await;
    let expected: Vec<_> =
        all["data"].as_array().expect("a list").iter().filter(|run| device(run) == oldest).collect();

    assert_eq!(found["data"].as_array().expect("a list").iter().collect::<Vec<_>>(), expected[..1]);
    assert_eq!(
        (&found["runs_read"], &found["older_runs"]),
        (&json!(expected.len()), &json!(expected.len() - 1))
    );
    // A page alone does not show the runs of a device.
    assert_eq!(host.violations("list_runs", json!({"device": part})).await.len(), 1);
}

#[tokio::test]
async fn queued_jobs_are_listed_like_the_runs_that_they_will_have() {
    let mut session = Fixture::new().open().await;
    let jobs = session.host.succeed("list_jobs", json!({"status": "queued"})).await;
    let mut lean = session.another_host(keys::DEMO, &[("TAS_TOOLSETS", "lean")]).await;
    let queued = lean.succeed("list_runs", json!({"queued": true})).await;

    let (runs, jobs) = (&queued["data"], &jobs["data"]);
    assert_eq!(runs.as_array().map(Vec::len), jobs.as_array().map(Vec::len));
    for (run, job) in [("job_id", "job_id"), ("state", "status"), ("device", "platform")] {
        assert_eq!(runs[0][run], jobs[0][job], "{run}");
    }
    assert_eq!(runs[0]["test"]["name"], jobs[0]["test_name"]);

    let newest = lean.succeed("list_runs", json!({"queued": true, "newest": 1})).await;
    assert!(runs.as_array().expect("a list").contains(&newest["data"][0]), "{newest}");
    let of_runs = json!({"queued": true, "job_id": jobs[0]["job_id"], "bugs": true});
    assert_eq!(lean.violations("list_runs", of_runs).await.len(), 2);
}
