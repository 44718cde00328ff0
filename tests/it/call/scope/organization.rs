//! Global scope with the key of an organization.

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use super::{BOTH, run, within};
use crate::support::fixture::{Fixture, Session};

const START: (&str, &str) = (seed::TEST_PASSES, seed::CONFIG_WINDOWS);

#[tokio::test]
async fn the_listed_projects_are_searched_for_the_owner_of_an_id() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).variables(&[BOTH]).open().await;
    let (tool, arguments) = run(seed::ARENA_RUN_PASSED);
    host.succeed(tool, arguments).await;

    let requests = service.requests().await;
    let owner = format!("GET /project/arena/runs/{}", seed::ARENA_RUN_PASSED);
    let look_ups = requests.iter().filter(|request| request.starts_with(&owner)).count();

    assert_eq!(look_ups, 2, "the look-up and the call: {requests:?}");
    assert!(requests.len() <= 3 && requests.iter().all(|one| one.contains(" /project/")), "{requests:?}");
}

#[tokio::test]
async fn a_known_owner_is_not_looked_up_again() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).variables(&[BOTH]).open().await;
    let (tool, arguments) = run(seed::RUN_PASSED);
    host.succeed(tool, arguments.clone()).await;

    let earlier = service.requests().await.len();
    host.succeed(tool, arguments.clone()).await;
    host.succeed("list_run_bugs", arguments).await;

    let call = format!("GET /project/demo/runs/{}", seed::RUN_PASSED);

    assert_eq!(service.requests().await[earlier..], [format!("{call} 200"), format!("{call}/bugs 200")]);
}

#[tokio::test]
async fn ids_of_an_answer_are_looked_up_before_a_write_only() {
    let Session { service, mut host, .. } = Fixture::new().key(keys::ORGANIZATION).all_tools().open().await;
    let plan = json!({"test_plan_id": seed::PLAN_SMOKE, "deployment_config_id": START.1});
    let started = host.succeed("start_run", within("demo", plan)).await;
    let jobs: Vec<_> = started["job_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let execution = started["test_plan_execution_id"].as_str().unwrap();

    host.succeed("get_job", json!({"job_id": jobs[3]})).await;
    host.succeed("get_test_plan_execution", json!({"test_plan_execution_id": execution})).await;
    let reads = service.requests().await;
    host.succeed("stop_runs", json!({"job_ids": jobs, "confirm": true})).await;

    let read = |id| format!("GET /project/demo/jobs/{id} 200");
    let execution = format!("GET /project/demo/test-plan-executions/{execution} 200");
    assert_eq!(reads, ["POST /project/demo/runs 201".to_owned(), read(jobs[3]), execution]);

    let mut look_ups = service.requests().await.split_off(reads.len());
    assert_eq!(look_ups.pop().as_deref(), Some("POST /project/demo/runs/stop 200"));
    // Look-ups run concurrently, so that their order varies.
    look_ups.sort();
    let mut expected: Vec<_> = jobs.into_iter().map(read).collect();
    expected.sort();
    assert_eq!(look_ups, expected);
}

#[tokio::test]
async fn a_project_that_answered_is_searched_for_later_ids() {
    let Session { service: _service, mut host, .. } = Fixture::new().key(keys::ORGANIZATION).open().await;
    let (tool, arguments) = run(seed::ARENA_RUN_PASSED);
    let error = host.fail(tool, arguments.clone()).await;
    assert_eq!((&error["code"], &error["details"]["asked"]), (&json!("project_not_resolved"), &json!([])));
    host.succeed("list_runs", within("arena", json!({}))).await;
    host.succeed(tool, arguments).await;
}

#[tokio::test]
async fn a_named_project_is_used_although_it_is_not_listed() {
    let Session { service, mut host, .. } = Fixture::new().key(keys::ORGANIZATION).open().await;
    let (tool, arguments) = run(seed::RUN_PASSED);
    host.succeed(tool, within("demo", arguments)).await;
    let call = format!("GET /project/demo/runs/{} 200", seed::RUN_PASSED);
    assert_eq!(service.requests().await, [call.clone(), call], "the look-up and the call");
}

#[tokio::test]
async fn several_ids_of_one_project_are_sent_in_one_request() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).variables(&[("TAS_PROJECTS", "demo")]).open().await;
    let ids = [seed::RUN_PASSED, seed::RUN_FAILED, seed::RUN_BLOCKED];
    host.succeed("export_tmsys_run", json!({"multiplayer_run_ids": ids})).await;

    let mut expected = ids.map(|id| format!("GET /project/demo/runs/{id} 200"));
    let mut requests = service.requests().await;

    assert_eq!(requests.pop().as_deref(), Some("POST /project/demo/runs/export/tmsys 200"));

    // Look-ups run concurrently, so that their order varies.
    requests.sort();
    expected.sort();

    assert_eq!(requests, expected);
}

#[tokio::test]
async fn without_ids_a_project_is_required_and_the_known_ones_are_listed() {
    for (projects, known) in [("", json!([])), ("demo,arena", json!(["demo", "arena"]))] {
        let Session { service, mut host, .. } =
            Fixture::new().key(keys::ORGANIZATION).variables(&[("TAS_PROJECTS", projects)]).open().await;
        let start = json!({"multiplayer_test_id": START.0, "deployment_config_id": START.1});
        for (tool, arguments) in [("list_runs", json!({})), ("start_run", start)] {
            let error = host.fail(tool, arguments).await;
            assert_eq!(error["code"], "project_required");
            assert_eq!(error["details"]["known_projects"], known);
        }
        assert_eq!(service.requests().await, [""; 0]);
    }
}

#[tokio::test]
async fn a_project_that_answered_decides_no_later_call_without_ids() {
    let Session { service: _service, mut host, .. } = Fixture::new().key(keys::ORGANIZATION).open().await;
    host.succeed("list_runs", within("arena", json!({}))).await;

    let start = json!({"multiplayer_test_id": START.0, "deployment_config_id": START.1});
    for (tool, arguments) in [("list_runs", json!({})), ("start_run", start)] {
        assert_eq!(host.fail(tool, arguments).await["code"], "project_required");
    }
}

#[tokio::test]
async fn the_only_known_project_need_not_be_named() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).variables(&[("TAS_PROJECTS", "arena")]).open().await;
    let list = host.succeed("list_tests", json!({})).await;
    assert_eq!(list["project_id"], "arena", "the reply says which project has answered");
    assert_eq!(service.requests().await, ["GET /project/arena/tests 200"]);
}
