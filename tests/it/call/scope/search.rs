//! Search for the owner of an id among many projects.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::Barrier;

use super::run;
use crate::support::{host::Host, stub::Stub};

/// Maximum number of concurrent look-ups.
const MAX_CONCURRENT: usize = 8;

/// Twenty projects, as the setting lists them.
fn twenty_projects() -> String {
    (0..20).map(|number| format!("p{number}")).collect::<Vec<_>>().join(",")
}

#[tokio::test]
async fn at_most_eight_projects_are_searched_at_once() {
    let concurrent = Arc::new(AtomicUsize::new(0));
    let peak = Arc::new(AtomicUsize::new(0));
    let peak_of_stub = Arc::clone(&peak);
    let first_eight = Arc::new(Barrier::new(MAX_CONCURRENT));
    let count = Arc::new(AtomicUsize::new(0));

    let stub = Stub::start(move |_| {
        let (first_eight, concurrent) = (Arc::clone(&first_eight), Arc::clone(&concurrent));
        let number = count.fetch_add(1, Ordering::Relaxed);
        peak_of_stub.fetch_max(concurrent.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);

        async move {
            // The first eight look-ups are answered together, which shows that eight are concurrent.
            if number < MAX_CONCURRENT {
                first_eight.wait().await;
            }
            // A ninth concurrent look-up would arrive during this pause.
            tokio::time::sleep(Duration::from_millis(20)).await;
            concurrent.fetch_sub(1, Ordering::Relaxed);

            (404, Value::Null)
        }
    })
    .await;

    let mut host = Host::open(&stub.settings("svc_org_any", &[("TAS_PROJECTS", &twenty_projects())])).await;
    let (tool, arguments) = run("r1");
    let error = host.fail(tool, arguments).await;

    assert_eq!(error["details"]["asked"].as_array().map(Vec::len), Some(20));
    assert_eq!(stub.requests().len(), 20);
    assert_eq!(peak.load(Ordering::Relaxed), MAX_CONCURRENT);
}

#[tokio::test]
async fn the_search_ends_when_the_owner_is_found() {
    let stub = Stub::start(async |target: String| {
        if !target.contains("/p3/") {
            // The other projects never answer, so that only the owner can end the search.
            std::future::pending::<()>().await;
        }
        (200, json!({"multiplayer_run_id": "r1", "project_id": "p3"}))
    })
    .await;

    let mut host = Host::open(&stub.settings("svc_org_any", &[("TAS_PROJECTS", &twenty_projects())])).await;
    let (tool, arguments) = run("r1");
    host.succeed(tool, arguments).await;

    let requests = stub.requests();

    assert!(requests.len() <= MAX_CONCURRENT + 1, "the look-ups and the call: {requests:?}");
    assert!(requests.contains(&"GET /project/p3/runs/r1".to_owned()), "{requests:?}");
}

#[tokio::test]
async fn the_owner_of_one_id_is_tried_first_for_the_other_ids() {
    let stub = Stub::start(async |target: String| match target.contains("/p19/") {
        true if target.starts_with("POST") => (200, json!({"success": true})),
        true => (200, json!({"multiplayer_run_id": "r", "project_id": "p19"})),
        false => (404, Value::Null),
    })
    .await;

    let mut host = Host::open(&stub.settings("svc_org_any", &[("TAS_PROJECTS", &twenty_projects())])).await;
    let ids: Vec<_> = (0..10).map(|number| format!("r{number}")).collect();
    host.succeed("export_tmsys_run", json!({"multiplayer_run_ids": ids})).await;

    // Twenty look-ups for the first id, one for each of the nine others, and the export.
    assert_eq!(stub.requests().len(), 20 + 9 + 1);
}
