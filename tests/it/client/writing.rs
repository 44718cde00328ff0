//! When a writing request is sent again: as good as never.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};
use tokio::net::TcpSocket;

use super::{open, start};
use crate::support::host::Host;

/// Every writing tool, and what its hint has to say when nobody knows the outcome.
fn calls() -> [(&'static str, Value, &'static str); 6] {
    let plan = json!({"test_plan_id": seed::PLAN_SMOKE, "deployment_config_id": seed::CONFIG_WINDOWS});
    let execution = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED});
    let run = json!({"multiplayer_run_id": seed::RUN_PASSED, "force_new_run": false});

    [
        ("start_run", start(), "`list_jobs`"),
        ("start_test_plan_run", plan, "`list_test_plan_executions`"),
        ("stop_runs", json!({"job_ids": [seed::JOB_RUNNING]}), "`get_job`"),
        (
            "export_tmsys_run",
            json!({"multiplayer_run_id": seed::RUN_PASSED}),
            "check the test-management system",
        ),
        ("export_tmsys_run", run, "check the test-management system"),
        ("export_tmsys_run", execution, "`force_new_run: false`"),
    ]
}

#[tokio::test]
async fn after_a_lost_connection_the_outcome_is_unknown() {
    // Before and after the service has done it, and in the middle of the answer.
    for order in [
        json!({"reset": true}),
        json!({"reset": true, "after": true}),
        json!({"truncate": true, "after": true}),
    ] {
        let (service, mut host) = open(&[]).await;
        for (tool, arguments, advice) in calls() {
            service.fault(order.clone()).await;
            let error = host.fail(tool, arguments).await;
            assert_eq!(error["code"], "outcome_unknown", "{tool}: {error}");
            assert!(error["hint"].as_str().expect("a hint").contains(advice), "{tool}: {error}");
        }
        assert_eq!(service.requests().await.len(), calls().len());
    }
}

#[tokio::test]
async fn after_a_time_out_the_outcome_is_unknown() {
    let (service, mut host) = open(&[("TAS_TIMEOUT_S", "1")]).await;
    service.fault(json!({"operation": "start_run", "delay_ms": 60_000})).await;
    let error = host.fail("start_run", start()).await;
    assert_eq!(error["code"], "outcome_unknown", "{error}");
    assert_eq!(service.requests().await.len(), 1);
}

#[tokio::test]
async fn a_refusal_is_final_and_not_repeated() {
    for (status, code) in [
        (429, "rate_limited"),
        (500, "service_unavailable"),
        (502, "service_unavailable"),
        (503, "service_unavailable"),
        (504, "service_unavailable"),
    ] {
        let (service, mut host) = open(&[]).await;
        for (tool, arguments, _) in calls() {
            service.fault(json!({"status": status, "headers": {"retry-after": "0"}})).await;
            assert_eq!(host.fail(tool, arguments).await["code"], code);
        }
        assert_eq!(service.requests().await.len(), calls().len());
    }
}

#[tokio::test]
async fn an_export_that_is_stated_to_be_safe_is_repeated() {
    let (service, mut host) = open(&[]).await;
    let arguments = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED, "force_new_run": false});
    service.fault(json!({"reset": true, "after": true})).await;
    let result = host.succeed("export_tmsys_run", arguments).await;
    assert_eq!(result["already_exported"], true, "the first request had done it");
    assert_eq!(service.requests().await.len(), 2);
}

/// The clock jumps over the pauses: nothing else is waited for.
#[tokio::test(start_paused = true)]
async fn a_service_that_is_down_is_unavailable_and_nothing_is_in_doubt() {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a free port");

    let base_url = format!("http://{}/api/v1", socket.local_addr().expect("an address"));
    let settings =
        crate::support::service::settings(&[("TAS_BASE_URL", &base_url), ("TAS_API_KEY", keys::DEMO)]);
    let mut host = Host::open(&settings).await;
    let error = host.fail("start_run", start()).await;

    assert_eq!((&error["code"], &error["status"]), (&json!("service_unavailable"), &Value::Null));
    assert!(error["message"].as_str().expect("a message").contains("(4 attempts)"), "{error}");
}
