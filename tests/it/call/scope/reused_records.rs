//! The record that an owner look-up has read is the answer of a call that requests the same record.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{BOTH, within};
use crate::support::fixture::{Fixture, Session};

/// Calls that read one record of the project `demo`, with the path of the record.
fn reads() -> [(&'static str, Value, String); 3] {
    let execution = seed::EXECUTION_COMPLETED;
    [
        ("get_run", json!({"run_id": seed::RUN_PASSED}), format!("runs/{}", seed::RUN_PASSED)),
        ("get_job", json!({"job_id": seed::JOB_PASSED}), format!("jobs/{}", seed::JOB_PASSED)),
        (
            "get_test_plan_execution",
            json!({"test_plan_execution_id": execution}),
            format!("test-plan-executions/{execution}"),
        ),
    ]
}

#[tokio::test]
async fn a_record_of_the_only_project_takes_one_request() {
    for (tool, arguments, path) in reads() {
        let Session { service, mut host, .. } = Fixture::new()
            .key(keys::ORGANIZATION)
            .all_tools()
            .variables(&[("TAS_PROJECTS", "demo")])
            .open()
            .await;
        host.succeed(tool, arguments).await;
        assert_eq!(service.requests().await, [format!("GET /project/demo/{path} 200")]);
    }
}

#[tokio::test]
async fn a_record_found_among_several_projects_takes_only_the_look_ups() {
    for (tool, arguments, path) in reads() {
        let Session { service, mut host, .. } = Fixture::new()
            .key(keys::ORGANIZATION)
            .all_tools()
            .variables(&[("TAS_PROJECTS", "arena,demo")])
            .open()
            .await;
        host.succeed(tool, arguments).await;

        let requests = service.requests().await;
        let look_ups = ["arena", "demo"].map(|project| format!("GET /project/{project}/{path}"));

        assert!(requests.contains(&format!("{} 200", look_ups[1])), "{requests:?}");

        // The look-up in the other project is cancelled if the owner answers first.
        for look_up in look_ups {
            let count = requests.iter().filter(|request| request.starts_with(&look_up)).count();
            assert!(count <= 1, "{requests:?}");
        }
    }
}

#[tokio::test]
async fn a_record_of_a_named_project_takes_one_request_with_any_key() {
    for key in [keys::DEMO, keys::ORGANIZATION] {
        for (tool, arguments, path) in reads() {
            let Session { service, mut host, .. } = Fixture::new().key(key).all_tools().open().await;
            host.succeed(tool, within("demo", arguments)).await;
            assert_eq!(service.requests().await, [format!("GET /project/demo/{path} 200")]);
        }
    }
}

#[tokio::test]
async fn a_reply_made_of_a_look_up_is_the_reply_of_a_request() {
    for (tool, mut arguments, path) in reads() {
        let Session { service, mut host, .. } =
            Fixture::new().key(keys::ORGANIZATION).all_tools().variables(&[BOTH]).open().await;
        let looked_up = host.succeed(tool, arguments.clone()).await;
        let earlier = service.requests().await.len();

        // The owner is known now, so that the second call requests the record itself.
        assert_eq!(host.succeed(tool, arguments.clone()).await, looked_up);
        assert_eq!(service.requests().await[earlier..], [format!("GET /project/demo/{path} 200")]);

        arguments["fields"] = json!("status,unknown");
        let selected = host.succeed(tool, arguments.clone()).await;
        let Session { service: _service, mut host, .. } =
            Fixture::new().key(keys::ORGANIZATION).all_tools().variables(&[BOTH]).open().await;
        assert_eq!(host.succeed(tool, arguments).await, selected);
    }
}

#[tokio::test]
async fn another_operation_with_the_same_id_is_sent() {
    let Session { service, mut host, .. } = Fixture::new()
        .key(keys::ORGANIZATION)
        .all_tools()
        .variables(&[("TAS_PROJECTS", "demo")])
        .open()
        .await;
    host.succeed("list_run_bugs", json!({"run_id": seed::RUN_PASSED})).await;

    let run = format!("GET /project/demo/runs/{}", seed::RUN_PASSED);

    assert_eq!(service.requests().await, [format!("{run} 200"), format!("{run}/bugs 200")]);
}

#[tokio::test]
async fn a_record_found_in_a_list_is_not_requested_again() {
    let Session { service, mut host, .. } = Fixture::new()
        .key(keys::ORGANIZATION)
        .all_tools()
        .variables(&[("TAS_PROJECTS", "demo")])
        .open()
        .await;
    let (tool, arguments, path) = reads().into_iter().last().expect("an execution");
    // A service without the operation shows an execution only in the list.
    service.fault(json!({"operation": tool, "status": 405, "times": 100})).await;
    host.succeed(tool, arguments).await;

    let list = "GET /project/demo/test-plan-executions?page=0&page_size=100 200".to_owned();

    assert_eq!(service.requests().await, [format!("GET /project/demo/{path} 405"), list]);
}
