//! The pages and projects that values are read from, and the records that are left out.

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use super::{RUN, completion_request, open, prompt, runs, template};

#[tokio::test]
async fn the_last_page_of_an_unsorted_list_is_read_too() {
    let mut session = open(keys::DEMO, &[]).await;
    let page = |minutes: &[usize]| {
        let mut page = runs(minutes);
        page["pagination"]["total_count"] = json!(203);
        page["pagination"]["total_pages"] = json!(3);
        page
    };

    for minutes in [[1, 2], [90, 91]] {
        session.service.fault(json!({"operation": "list_runs", "body": page(&minutes)})).await;
    }

    let completion = session.host.complete(template(RUN), "run", "").await;

    assert_eq!(completion, json!({"values": ["run-91", "run-90", "run-2", "run-1"], "hasMore": true}));

    let log = session.service.control("requests").await.to_string();

    assert!(session.service.requests().await.len() == 2 && log.contains("page=2"), "{log}");
}

#[tokio::test]
async fn a_report_can_be_compared_with_the_previous_or_another_started_execution() {
    let mut session = open(keys::DEMO, &[]).await;
    let given = json!({"test_plan_execution_id": seed::EXECUTION_IN_PROGRESS});
    let request = completion_request(&prompt("nightly_report"), "compare_with", "", &given);
    let answer = session.host.request("completion/complete", request).await;
    let values = &answer["result"]["completion"]["values"];

    assert_eq!(values[0], "previous");

    let said = values.to_string();

    assert!(said.contains(seed::EXECUTION_COMPLETED), "{said}");
    assert!(!said.contains(seed::EXECUTION_QUEUED) && !said.contains(seed::EXECUTION_IN_PROGRESS), "{said}");

    let executions = session.host.values(prompt("nightly_report"), "test_plan_execution_id", "").await;

    assert!(executions.contains(&seed::EXECUTION_QUEUED.to_owned()), "{executions:?}");
}

#[tokio::test]
async fn ids_that_decide_their_project_are_read_from_all_known_projects() {
    let mut session = open(keys::ORGANIZATION, &[("TAS_PROJECTS", "demo,arena")]).await;
    for (name, argument, ids) in [
        ("triage_run", "run_id", [seed::RUN_FAILED, seed::ARENA_RUN_FAILED]),
        ("nightly_report", "test_plan_execution_id", [seed::EXECUTION_COMPLETED, seed::ARENA_EXECUTION]),
    ] {
        let values = session.host.values(prompt(name), argument, "").await;
        assert!(ids.iter().all(|id| values.iter().any(|value| value == id)), "{argument}: {values:?}");
    }

    // The id of a build does not decide its project.
    assert_eq!(session.host.values(prompt("test_this_build"), "build_id", "").await, [""; 0]);

    let mut session = open(keys::ORGANIZATION, &[("TAS_PROJECTS", "demo,arena")]).await;
    session.service.fault(json!({"operation": "list_runs", "status": 403, "body": {"error": "no"}})).await;

    assert!(!session.host.values(prompt("triage_run"), "run_id", "").await.is_empty());
}
