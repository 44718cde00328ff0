//! `tas-mcp rerun`, and requests that are shown instead of sent.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use super::run;
use crate::support::service::Service;

#[tokio::test]
async fn what_failed_is_started_again_once_and_waited_for() {
    let service = Service::start().await;
    let words = ["rerun", seed::EXECUTION_COMPLETED, "--failed", "--device", "Windows PC", "--json"];

    let (code, first, errors) = run(&service, &words).await;
    assert_eq!(code, Some(0), "{errors}");
    let first: Value = serde_json::from_str(&first).expect("JSON");
    let (_, second, _) = run(&service, &words).await;
    let second: Value = serde_json::from_str(&second).expect("JSON");

    assert_eq!(first["job_ids"], second["job_ids"]);
    assert_eq!(service.writes().await.len(), first["job_ids"].as_array().expect("a list").len());
    service.advance(36_000.0);
    let (code, verdicts, errors) = run(&service, &[&words[..], &["--wait"]].concat()).await;
    assert!(matches!(code, Some(0 | 10)) && verdicts.contains("verdict"), "{code:?} {verdicts} {errors}");
}

#[tokio::test]
async fn a_device_that_is_not_known_is_asked_for_in_the_words_of_users() {
    let service = Service::start().await;

    let (code, _, errors) = run(&service, &["rerun", seed::JOB_FAILED, "--failed"]).await;

    assert_eq!(code, Some(2));
    assert!(errors.contains("`--device`") && !errors.contains("deployment"), "{errors}");
    assert_eq!(service.writes().await, [""; 0]);
}

#[tokio::test]
async fn a_dry_run_of_a_command_shows_the_request_and_sends_nothing() {
    let service = Service::start().await;
    let device = ["--device", "Windows PC", "--dry-run", "--json"];

    for words in [
        &["run", "Pause and resume"][..],
        &["run", "Release smoke"],
        &["rerun", seed::JOB_FAILED, "--failed"],
    ] {
        let (code, shown, errors) = run(&service, &[words, &device].concat()).await;
        assert!(code == Some(0) && shown.contains(r#""method":"POST""#), "{words:?} {shown} {errors}");
    }
    for words in [
        &["stop", seed::JOB_QUEUED, "--dry-run", "--json"][..],
        &["export", seed::RUN_PASSED, "--dry-run", "--json"],
        &["upload", "Cargo.toml", "--platform", "android", "--dry-run", "--json"],
    ] {
        let (code, shown, errors) = run(&service, words).await;
        assert!(code == Some(0) && shown.contains(r#""method":"POST""#), "{words:?} {shown} {errors}");
    }
    let deletion = ["call", "delete_test_plan", "--test-plan-id", seed::PLAN_SMOKE, "--dry-run", "--json"];
    let (code, shown, _) = run(&service, &deletion).await;
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!((code, &shown["request"]["method"]), (Some(0), &json!("DELETE")));

    assert_eq!(service.writes().await, [""; 0]);
}
