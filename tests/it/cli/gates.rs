//! The gate of a CI job: `--fail-on`, `--compare-with` and `--max-bug-severity` of commands that wait.

use std::fs;

use serde_json::json;
use tas_mcp::sandbox::seed;

use super::run;
use crate::support::service::Service;

/// A run of a test that failed on the build before, too.
const FAILED_AGAIN: &str = "x03031trjx0";

async fn wait(words: &[&str]) -> (Option<i32>, String) {
    wait_at(&Service::start().await, words).await
}

async fn wait_at(service: &Service, words: &[&str]) -> (Option<i32>, String) {
    let (code, _, errors) = run(service, &[&["wait"], words].concat()).await;
    (code, errors)
}

#[tokio::test]
async fn failures_fail_a_wait_unless_the_gate_says_never() {
    let execution = seed::EXECUTION_COMPLETED;

    assert_eq!(wait(&[execution]).await.0, Some(10));
    let (code, errors) = wait(&[execution, "--fail-on", "any"]).await;
    assert!(code == Some(10) && errors.contains("gate: not all of the 4 tests passed: 1 FAILED"), "{errors}");
    assert_eq!(wait(&[execution, "--fail-on", "never"]).await.0, Some(0));
}

#[tokio::test]
async fn a_bug_that_is_worse_than_permitted_has_an_exit_code_of_its_own() {
    let gate = |severity| [seed::EXECUTION_COMPLETED, "--fail-on", "never", "--max-bug-severity", severity];

    let (code, errors) = wait(&gate("low")).await;
    assert!(code == Some(12) && errors.contains("gate: there are worse bugs than allowed"), "{errors}");
    assert_eq!(wait(&gate("critical")).await.0, Some(0));
}

#[tokio::test]
async fn a_failure_that_the_earlier_result_has_too_is_known_and_skipped_in_junit() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("report.xml");
    let junit = file.to_str().expect("UTF-8");
    let gate = ["--fail-on", "new", "--compare-with", "Emberfall 1.4.0 nightly 412"];

    let (code, errors) = wait(&[&[FAILED_AGAIN, "--junit", junit][..], &gate].concat()).await;

    assert_eq!(code, Some(0), "{errors}");
    let document = fs::read_to_string(&file).expect("a document");
    assert!(document.contains("<skipped message=\"failed before, too"), "{document}");
    assert_eq!(wait(&[FAILED_AGAIN]).await.0, Some(10));
}

#[tokio::test]
async fn a_gate_that_cannot_decide_fails_with_the_reason() {
    let gate = ["--fail-on", "new", "--compare-with", "no such build"];

    let (code, errors) = wait(&[&[FAILED_AGAIN][..], &gate].concat()).await;

    assert!(
        code == Some(10) && errors.contains("gate: not decided: there is nothing to compare with"),
        "{errors}"
    );
}

#[tokio::test]
async fn a_gate_whose_bugs_cannot_be_read_fails_with_the_reason() {
    let service = Service::start().await;
    service.fault(json!({"operation": "list_run_bugs", "status": 500, "times": 100})).await;
    let gate = [seed::EXECUTION_COMPLETED, "--fail-on", "never", "--max-bug-severity", "critical"];

    let (code, errors) = wait_at(&service, &gate).await;

    assert!(code == Some(10) && errors.contains("gate: not decided: not every bug"), "{errors}");
}
