//! Looks that fail.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::{
    call::gateway::Gateway,
    client::RETRY_POLICY,
    failure::Failure,
    sandbox::{
        keys,
        seed::{JOB_PASSED, JOB_RUNNING},
    },
    service::result_kind::{ResultId, ResultKind},
    tools::{
        caller::CallerContext,
        waiting::{Completion, Status, Wait, WaitTarget},
    },
};

use super::{Scene, TOOL, open};

/// Lets so many looks at a job fail, with all their retries.
async fn fail(scene: &Scene, looks: u32, status: u16) {
    let fault = json!({
        "operation": "get_job", "status": status, "headers": {"retry-after": "0"}, "times": looks * RETRY_POLICY.attempts,
    });
    scene.service.fault(fault).await;
}

#[tokio::test]
async fn a_look_that_fails_does_not_end_the_wait() {
    for status in [503, 429] {
        for looks in [1, 4] {
            let mut scene = open().await;
            fail(&scene, looks, status).await;
            let end = scene.wait(json!({"job_id": JOB_PASSED})).await;
            assert_eq!((&end["status"], &end["polls"]), (&json!("completed"), &json!(looks + 1)));
            assert_eq!(end["last_failure"], Value::Null);
        }
    }
}

/// A wait that may last for two hours, with so many seconds between looks.
async fn long(scene: &Scene, job: &str, interval: u64) -> Result<Completion, Failure> {
    let gateway =
        Gateway::new(scene.service.settings(keys::DEMO, &[]).tools_config().map(|config| config.call))
            .with_clock(scene.clock.clone());
    let wait = Wait {
        target: WaitTarget::Single(ResultId::new(ResultKind::Job, job)),
        named: Vec::new(),
        project: None,
        timeout: Duration::from_secs(7_200),
        interval: Some(Duration::from_secs(interval)),
    };

    wait.run(&gateway, &CallerContext::silent()).await
}

/// A service that is restarted comes back.
#[tokio::test]
async fn a_long_wait_outlasts_a_short_outage() {
    let scene = open().await;
    fail(&scene, 12, 503).await;
    let end = long(&scene, JOB_PASSED, 10).await.expect("an end");
    assert_eq!((end.status, end.polls, end.last_failure), (Status::Completed, 13, None));
}

#[tokio::test]
async fn five_in_a_row_and_two_minutes_end_it() {
    for (interval, polls) in [(10, 13), (30, 5), (60, 5)] {
        let scene = open().await;
        fail(&scene, 100, 503).await;

        let error = json!(long(&scene, JOB_PASSED, interval).await.expect_err("an outage"));

        assert_eq!(
            (&error["code"], &error["details"]["polls"]),
            (&json!("service_unavailable"), &json!(polls))
        );

        let said = error["message"].as_str().expect("a text");

        assert!(said.contains(&format!("{polls} looks in a row failed")), "{said}");
        assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("call again")));
        assert_eq!(error["details"]["known"], Value::Null, "nothing was ever seen");
    }
}

#[tokio::test]
async fn a_short_wait_tries_to_its_end() {
    let mut scene = open().await;
    fail(&scene, 100, 503).await;
    let arguments = json!({"job_id": JOB_PASSED, "poll_interval_seconds": 5});
    let error = scene.host.fail(TOOL, arguments).await;
    assert_eq!((&error["code"], &error["details"]["polls"]), (&json!("service_unavailable"), &json!(9)));
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("call again")));
}

#[tokio::test]
async fn the_failure_says_what_is_known_so_far() {
    let scene = open().await;
    scene.service.fault(json!({"operation": "get_job", "headers": {"x-note": "seen"}, "times": 1})).await;
    fail(&scene, 100, 503).await;

    let error = json!(long(&scene, JOB_RUNNING, 30).await.expect_err("an outage"));

    assert_eq!(error["details"]["polls"], 6);

    let known = &error["details"]["known"];

    assert_eq!((&known["still_running"], &known["last_status"]), (&json!([JOB_RUNNING]), &json!("RUNNING")));
    assert_eq!(known["status"], Value::Null, "it has failed, and no time is over");
}

#[tokio::test]
async fn failures_that_are_not_in_a_row_do_not_add_up() {
    let mut scene = open().await;
    for _ in 0..3 {
        fail(&scene, 2, 503).await;
        scene.service.fault(json!({"operation": "get_job", "headers": {"x-note": "seen"}})).await;
    }

    let arguments = json!({"job_id": JOB_RUNNING, "timeout_seconds": 40, "poll_interval_seconds": 4});
    let end = scene.wait(arguments).await;

    assert_eq!((&end["status"], &end["polls"]), (&json!("timed_out"), &json!(11)));
}

#[tokio::test]
async fn a_failure_at_the_end_of_the_time_is_told() {
    let mut scene = open().await;
    scene.service.fault(json!({"operation": "get_job", "headers": {"x-note": "seen"}})).await;
    fail(&scene, 1, 503).await;

    let arguments = json!({"job_id": JOB_RUNNING, "timeout_seconds": 1});
    let end = scene.wait(arguments).await;

    assert_eq!((&end["status"], &end["last_status"]), (&json!("timed_out"), &json!("RUNNING")));
    assert!(end["last_failure"].as_str().is_some_and(|said| said.contains("503")), "{end}");
}

#[tokio::test]
async fn what_will_not_pass_ends_the_wait_at_once() {
    for (status, code) in [(401, "unauthenticated"), (403, "permission_denied"), (404, "not_found")] {
        let mut scene = open().await;
        fail(&scene, 1, status).await;
        let error = scene.host.fail(TOOL, json!({"job_id": JOB_PASSED})).await;
        assert_eq!((&error["code"], &error["details"]["polls"]), (&json!(code), &json!(1)));
        assert!(scene.clock.pauses().is_empty());
    }
}

/// A wait that the service asks for and that is longer than a call is kept between looks.
#[tokio::test]
async fn the_service_is_left_alone_for_as_long_as_it_asks() {
    let mut scene = open().await;
    scene
        .service
        .fault(json!({"operation": "get_job", "status": 429, "headers": {"retry-after": "60"}}))
        .await;

    let (end, _) = scene.watch(json!({"job_id": JOB_PASSED, "timeout_seconds": 600})).await;

    assert_eq!((&end["polls"], &end["elapsed_seconds"]), (&json!(2), &json!(60.0)));
    assert_eq!(scene.clock.pauses().iter().sum::<Duration>(), Duration::from_secs(60));
}
