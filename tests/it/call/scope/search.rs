//! How the owner of an id is searched among many projects.

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

/// Look-ups that are under way at once, at most.
const AT_ONCE: usize = 8;

/// Twenty projects, as the setting lists them.
fn twenty() -> String {
    (0..20).map(|number| format!("p{number}")).collect::<Vec<_>>().join(",")
}

#[tokio::test]
async fn eight_projects_are_asked_at_once_and_no_more() {
    let (first_eight, under_way, most) =
        (Arc::new(Barrier::new(AT_ONCE)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (meeting, arrived, peak) = (Arc::clone(&first_eight), Arc::clone(&under_way), Arc::clone(&most));
    let seen = Arc::new(AtomicUsize::new(0));
    let stub = Stub::start(move |_| {
        let (meeting, arrived, peak) = (Arc::clone(&meeting), Arc::clone(&arrived), Arc::clone(&peak));
        let number = seen.fetch_add(1, Ordering::Relaxed);
        peak.fetch_max(arrived.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        async move {
            if number < AT_ONCE {
                meeting.wait().await;
            }
            // Time for a ninth to arrive, should there be one.
            tokio::time::sleep(Duration::from_millis(20)).await;
            arrived.fetch_sub(1, Ordering::Relaxed);
            (404, Value::Null)
        }
    })
    .await;

    let mut host = Host::open(&stub.settings("svc_org_any", &[("TAS_PROJECTS", &twenty())])).await;
    let (tool, arguments) = run("r1");
    let error = host.fail(tool, arguments).await;

    assert_eq!(error["details"]["asked"].as_array().map(Vec::len), Some(20));
    assert_eq!(stub.requests().len(), 20);
    assert_eq!(most.load(Ordering::Relaxed), AT_ONCE);
}

#[tokio::test]
async fn the_first_hit_ends_the_search() {
    let stub = Stub::start(async |target: String| {
        if !target.contains("/p3/") {
            // The others never answer.
            std::future::pending::<()>().await;
        }
        (200, json!({"multiplayer_run_id": "r1", "project_id": "p3"}))
    })
    .await;

    let mut host = Host::open(&stub.settings("svc_org_any", &[("TAS_PROJECTS", &twenty())])).await;
    let (tool, arguments) = run("r1");
    host.succeed(tool, arguments).await;

    let requests = stub.requests();

    assert!(requests.len() <= AT_ONCE, "{requests:?}");
    assert!(requests.contains(&"GET /project/p3/runs/r1".to_owned()), "{requests:?}");
}

#[tokio::test]
async fn one_found_id_leads_to_the_others_of_the_call() {
    let stub = Stub::start(async |target: String| match target.contains("/p19/") {
        true if target.starts_with("POST") => (200, json!({"success": true})),
        true => (200, json!({"multiplayer_run_id": "r", "project_id": "p19"})),
        false => (404, Value::Null),
    })
    .await;

    let mut host = Host::open(&stub.settings("svc_org_any", &[("TAS_PROJECTS", &twenty())])).await;
    let ids: Vec<_> = (0..10).map(|number| format!("r{number}")).collect();
    host.succeed("export_tmsys_run", json!({"multiplayer_run_ids": ids})).await;

    // Twenty for the first, one for each of the others, and the export.
    assert_eq!(stub.requests().len(), 20 + 9 + 1);
}
