//! Where values are looked for: pages, projects, and which records are of use.

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use super::{RUN, asked, open, prompt, runs, template};

#[tokio::test]
async fn of_a_list_without_a_stated_order_the_last_page_is_read_too() {
    let mut scene = open(keys::DEMO, &[]).await;
    let page = |minutes: &[usize]| {
        let mut page = runs(minutes);
        page["pagination"]["total_count"] = json!(203);
        page["pagination"]["total_pages"] = json!(3);
        page
    };

    for minutes in [[1, 2], [90, 91]] {
        scene.service.fault(json!({"operation": "list_runs", "body": page(&minutes)})).await;
    }

    let completion = scene.host.complete(template(RUN), "run", "").await;

    assert_eq!(completion, json!({"values": ["run-91", "run-90", "run-2", "run-1"], "hasMore": true}));

    let log = scene.service.control("requests").await.to_string();

    assert!(scene.service.requests().await.len() == 2 && log.contains("page=2"), "{log}");
}

#[tokio::test]
async fn what_to_compare_with_is_the_previous_execution_or_another_that_has_begun() {
    let mut scene = open(keys::DEMO, &[]).await;
    let given = json!({"test_plan_execution_id": seed::EXECUTION_IN_PROGRESS});
    let request = asked(&prompt("nightly_report"), "compare_with", "", &given);
    let answer = scene.host.request("completion/complete", request).await;
    let values = &answer["result"]["completion"]["values"];

    assert_eq!(values[0], "previous");

    let said = values.to_string();

    assert!(said.contains(seed::EXECUTION_COMPLETED), "{said}");
    assert!(!said.contains(seed::EXECUTION_QUEUED) && !said.contains(seed::EXECUTION_IN_PROGRESS), "{said}");

    let of_report = scene.host.values(prompt("nightly_report"), "test_plan_execution_id", "").await;

    assert!(of_report.contains(&seed::EXECUTION_QUEUED.to_owned()), "{of_report:?}");
}

#[tokio::test]
async fn ids_that_say_their_project_are_found_in_all_that_are_known() {
    let mut scene = open(keys::ORGANIZATION, &[("TAS_PROJECTS", "demo,arena")]).await;
    for (name, argument, ids) in [
        ("triage_run", "run_id", [seed::RUN_FAILED, seed::ARENA_RUN_FAILED]),
        ("nightly_report", "test_plan_execution_id", [seed::EXECUTION_COMPLETED, seed::ARENA_EXECUTION]),
    ] {
        let values = scene.host.values(prompt(name), argument, "").await;
        assert!(ids.iter().all(|id| values.iter().any(|value| value == id)), "{argument}: {values:?}");
    }

    // A build does not say it.
    assert_eq!(scene.host.values(prompt("test_this_build"), "build_id", "").await, [""; 0]);

    let mut scene = open(keys::ORGANIZATION, &[("TAS_PROJECTS", "demo,arena")]).await;
    scene.service.fault(json!({"operation": "list_runs", "status": 403, "body": {"error": "no"}})).await;

    assert!(!scene.host.values(prompt("triage_run"), "run_id", "").await.is_empty());
}
