//! Writing requests are not repeated, except where a repetition is harmless.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};
use tokio::net::TcpSocket;

use super::start;
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    service::settings,
};

/// Calls of every writing tool, each with the text that its hint contains after an unknown outcome.
fn calls() -> [(&'static str, Value, &'static str); 6] {
    let plan = json!({"test_plan_id": seed::PLAN_SMOKE, "deployment_config_id": seed::CONFIG_WINDOWS});
    let execution = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED});
    let run = json!({"multiplayer_run_id": seed::RUN_PASSED, "force_new_run": false});

    [
        ("start_run", start(), "`list_jobs`"),
        ("start_test_plan_run", plan, "`list_test_plan_executions`"),
        ("stop_runs", json!({"job_ids": [seed::JOB_RUNNING], "confirm": true}), "`get_job`"),
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
    // Before the service performs the request, after it, and in the middle of the answer.
    for fault in [
        json!({"reset": true}),
        json!({"reset": true, "after": true}),
        json!({"truncate": true, "after": true}),
    ] {
        let Session { service, mut host, .. } = Fixture::new().open().await;
        for (tool, arguments, advice) in calls() {
            service.fault(fault.clone()).await;
            let error = host.fail(tool, arguments).await;
            assert_eq!(error["code"], "outcome_unknown", "{tool}: {error}");
            assert!(error["hint"].as_str().expect("a hint").contains(advice), "{tool}: {error}");
        }

        assert_eq!(service.requests().await.len(), calls().len());
    }
}

#[tokio::test]
async fn after_a_timeout_the_outcome_is_unknown() {
    let Session { service, mut host, .. } = Fixture::new().variables(&[("TAS_TIMEOUT_S", "1")]).open().await;
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
        let Session { service, mut host, .. } = Fixture::new().open().await;
        for (tool, arguments, advice) in calls() {
            service.fault(json!({"status": status, "headers": {"retry-after": "0"}})).await;
            let error = host.fail(tool, arguments).await;
            assert_eq!(error["code"], code);
            // A gateway may have failed after the service has performed the request.
            let says_how_to_check = error["hint"].as_str().is_some_and(|hint| hint.contains(advice));
            assert_eq!(says_how_to_check, status >= 500, "{tool}: {error}");
        }

        assert_eq!(service.requests().await.len(), calls().len());
    }
}

#[tokio::test]
async fn an_export_without_a_new_run_is_repeated() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let arguments = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED, "force_new_run": false});
    service.fault(json!({"reset": true, "after": true})).await;
    let result = host.succeed("export_tmsys_run", arguments).await;
    assert_eq!(result["already_exported"], true, "the first request made the export");
    assert_eq!(service.requests().await.len(), 2);
}

/// The look-up of the owner takes so long that little time is left. The paused clock of Tokio skips its delay.
#[tokio::test(start_paused = true)]
async fn no_write_is_sent_shortly_before_the_time_limit_of_its_call() {
    let writes = [
        ("get_run", "export_tmsys_run", json!({"multiplayer_run_id": seed::RUN_PASSED})),
        ("get_job", "stop_runs", json!({"job_ids": [seed::JOB_RUNNING], "confirm": true})),
    ];
    for (look_up, tool, arguments) in writes {
        let variables = [("TAS_TIMEOUT_S", "45"), ("TAS_PROJECTS", "demo,arena")];
        let fixture = Fixture::new().key(keys::ORGANIZATION).variables(&variables);
        let Session { service, mut host, .. } = fixture.open().await;
        service.fault(json!({"operation": look_up, "delay_ms": 40_000, "times": 2})).await;

        let error = host.fail(tool, arguments.clone()).await;
        assert_eq!(error["code"], "timeout", "{error}");
        assert!(error["message"].as_str().expect("a message").contains("not sent"), "{error}");
        assert_eq!(service.writes().await, Vec::<String>::new());

        host.succeed(tool, arguments).await;
    }
}

/// The paused clock of Tokio skips the pauses between the attempts.
#[tokio::test(start_paused = true)]
async fn a_write_to_a_stopped_service_is_unavailable_and_not_of_unknown_outcome() {
    // A bound socket that does not listen refuses connections, and no other process can take its port.
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a free port");

    let base_url = format!("http://{}/api/v1", socket.local_addr().expect("an address"));
    let settings = settings(&[("TAS_BASE_URL", &base_url), ("TAS_API_KEY", keys::DEMO)]);
    let mut host = Host::open(&settings).await;
    let error = host.fail("start_run", start()).await;

    assert_eq!((&error["code"], &error["status"]), (&json!("service_unavailable"), &Value::Null));
    assert!(error["message"].as_str().expect("a message").contains("(4 attempts)"), "{error}");
}
