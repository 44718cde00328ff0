//! `tas-mcp wait` and `tas-mcp run --wait`.

use std::path::PathBuf;

use serde_json::{Value, json};
use tas_mcp::sandbox::{
    keys,
    seed::{
        CONFIG_PHONES, CONFIG_PHONES_ONE_BROKEN, EXECUTION_COMPLETED, JOB_FAILED, JOB_PASSED, JOB_REJECTED,
        PLAN_SMOKE, RUN_FAILED, RUN_PASSED, RUN_RUNNING, TEST_PASSES,
    },
};

use crate::{
    support::{binary::run_binary, service::Service},
    tools::junit::{attribute, elements},
};

/// Runs the command with `--json`. Returns the exit code, the JSON on standard output, and standard error.
pub(super) async fn command(service: &Service, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let output = run_binary(&[arguments, &["--json"]].concat(), &variables, &[]).await;
    let printed = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code(), printed, String::from_utf8(output.stderr).expect("UTF-8"))
}

/// Makes the service answer that jobs are completed.
async fn finish_jobs_at_once(service: &Service, jobs: usize, result: &str) {
    let run = json!({"multiplayer_run_id": RUN_PASSED, "state": "COMPLETED", "result": result, "players": 1});
    for id in 0..jobs {
        let job =
            json!({"job_id": format!("job-{id}"), "status": "COMPLETED", "test_name": "A", "runs": [run]});
        service.fault(json!({"operation": "get_job", "body": job})).await;
    }
}

/// Returns a path in a new directory.
pub(super) fn report() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("report.xml");
    (directory, path)
}

#[tokio::test]
async fn the_exit_code_shows_whether_all_tests_passed() {
    let service = Service::start().await;
    let cases: [(&[&str], i32, Value); 6] = [
        (&[JOB_PASSED], 0, json!({"SUCCESS": 1})),
        (&[RUN_PASSED], 0, json!({"SUCCESS": 1})),
        (&[RUN_FAILED], 10, json!({"FAILED": 1})),
        (&[JOB_REJECTED], 10, json!({"no_run": 1})),
        (&[JOB_PASSED, JOB_FAILED], 10, json!({"FAILED": 1, "SUCCESS": 1})),
        (&[EXECUTION_COMPLETED], 10, json!({"FAILED": 1, "SUCCESS": 3})),
    ];

    for (arguments, expected, verdicts) in cases {
        let (code, end, _) = command(&service, &[&["wait"], arguments].concat()).await;
        assert_eq!((code, &end["verdicts"]), (Some(expected), &verdicts), "{arguments:?}");
    }
}

/// A JUnit file without them would look as if all tests had passed.
#[tokio::test]
async fn unlisted_tests_are_an_error_in_the_junit_file() {
    let service = Service::start().await;
    service.fault(json!({"operation": "list_jobs", "status": 404})).await;

    let (_directory, path) = report();
    let file = path.to_str().expect("UTF-8");
    let arguments = ["wait", EXECUTION_COMPLETED, "--junit", file];
    let (code, end, said) = command(&service, &arguments).await;

    assert_eq!((code, &end["verdicts"]), (Some(10), &json!({"failed or error": 1, "SUCCESS": 3})));

    let why = "4 tests: they are not in the list of jobs";

    assert!(said.contains("NOT READ") && said.contains(why), "{said}");

    let found = elements(&std::fs::read_to_string(&path).expect("a report"));
    let errors: Vec<_> =
        found.iter().filter(|(name, ..)| name == "error").map(|one| attribute(one, "message")).collect();

    assert_eq!(errors, [format!("not read: {why}")]);
}

#[tokio::test]
async fn usage_and_service_errors_have_other_exit_codes() {
    let service = Service::start().await;
    let cases: [(&[&str], i32, &str); 6] = [
        (&["wait", JOB_PASSED, RUN_PASSED], 2, "invalid_arguments"),
        (&["wait", "nowhere"], 1, "not_found"),
        (&["run", TEST_PASSES, "--wait"], 2, "invalid_arguments"),
        (&["run", TEST_PASSES, "--junit", "x.xml"], 2, "invalid_arguments"),
        (&["run", TEST_PASSES, "--timeout-seconds", "60"], 2, "invalid_arguments"),
        (&["wait", RUN_PASSED, "--junit", "/no/such/directory/x.xml"], 2, "file_error"),
    ];

    for (arguments, expected, error) in cases {
        let (code, printed, said) = command(&service, arguments).await;
        // Notes about the wait precede the failure.
        let said: Value = serde_json::from_str(said.lines().last().expect("a line")).expect("an error");
        assert_eq!(
            (code, &said["error"]["code"], printed),
            (Some(expected), &json!(error), Value::Null),
            "{arguments:?}"
        );
    }

    assert_eq!(service.writes().await, [""; 0]);
}

#[tokio::test]
async fn standard_output_gets_json_and_standard_error_the_table() {
    let service = Service::start().await;
    let (_, end, said) = command(&service, &["wait", JOB_FAILED]).await;

    assert_eq!((&end["status"], &end["target_id"]), (&json!("completed"), &json!(JOB_FAILED)));

    let lines: Vec<_> = said.lines().collect();

    assert_eq!(lines[..2], [&format!("continue with: tas-mcp wait {JOB_FAILED}"), "1 of 1 finished"]);
    assert!(lines[2].starts_with("verdict") && lines[3].starts_with("FAILED"), "{said}");
    assert!(lines[4].starts_with("0 of 1 passed; waited "), "{said}");
    assert_eq!(lines[5..], [format!("details: tas-mcp report {JOB_FAILED}")]);
}

#[tokio::test]
async fn run_with_wait_prints_the_answer_of_the_start_too() {
    for (result, code) in [("SUCCESS", 0), ("FAILED", 10), ("Other", 10)] {
        let service = Service::start().await;
        finish_jobs_at_once(&service, 1, result).await;
        let arguments = ["run", TEST_PASSES, "--device", CONFIG_PHONES, "--wait"];
        let (exit, end, said) = command(&service, &arguments).await;
        assert_eq!(exit, Some(code), "{said}");
        assert_eq!(end["verdicts"], json!({result: 1}));
        assert_eq!(end["started"]["job_ids"].as_array().map(Vec::len), Some(1));
        assert_eq!(service.writes().await, ["POST /runs 201"]);
    }
}

#[tokio::test]
async fn run_plan_waits_for_the_execution() {
    let service = Service::start().await;
    let done = json!({"id": "e", "status": "completed", "total_tests": 4, "test_plan_name": "Smoke",
        "test_status": {"passed": 4, "failed": 0, "skipped": 0, "stopped": 0}});
    service.fault(json!({"operation": "get_test_plan_execution", "body": done})).await;
    service.fault(json!({"operation": "list_jobs", "status": 404})).await;
    finish_jobs_at_once(&service, 4, "SUCCESS").await;

    let arguments = ["run", PLAN_SMOKE, "--device", CONFIG_PHONES, "--wait"];
    let (exit, end, said) = command(&service, &arguments).await;

    assert_eq!((exit, &end["target_type"]), (Some(0), &json!("test_plan_execution")), "{said}");
    assert_eq!(service.writes().await, [format!("POST /test-plans/{PLAN_SMOKE}/runs 201")]);
}

#[tokio::test]
async fn a_device_without_a_started_run_is_a_failure() {
    let service = Service::start().await;
    finish_jobs_at_once(&service, 1, "SUCCESS").await;

    // One of the two devices of the configuration starts no run.
    let (_directory, path) = report();
    let arguments = [
        "run",
        TEST_PASSES,
        "--device",
        CONFIG_PHONES_ONE_BROKEN,
        "--all-devices",
        "--yes",
        "--wait",
        "--junit",
        path.to_str().unwrap(),
    ];

    let (exit, end, said) = command(&service, &arguments).await;

    assert_eq!((exit, &end["verdicts"]), (Some(10), &json!({"SUCCESS": 1})), "{said}");
    assert!(said.contains("NOT STARTED") && said.contains("1 of 2 passed"), "{said}");

    let found = elements(&std::fs::read_to_string(&path).unwrap());

    assert_eq!((attribute(&found[0], "tests"), attribute(&found[0], "errors")), ("2", "1"));
}

#[tokio::test]
async fn run_without_wait_only_starts() {
    let service = Service::start().await;
    let arguments = ["run", TEST_PASSES, "--device", CONFIG_PHONES];
    let (exit, started, _) = command(&service, &arguments).await;
    assert_eq!((exit, started["job_ids"].as_array().map(Vec::len)), (Some(0), Some(1)));
    let build = started["build_id"].as_str().expect("a build");
    let test = format!("GET /tests/{TEST_PASSES} 200");
    assert_eq!(
        service.requests().await,
        [test, "POST /runs 201".to_owned(), format!("GET /builds/{build} 200")]
    );
}

#[tokio::test]
async fn the_junit_file_contains_the_report_of_a_failed_step() {
    let service = Service::start().await;
    let (directory, path) = report();
    // The command replaces an existing file.
    std::fs::write(&path, "an earlier report").unwrap();

    let arguments = ["wait", EXECUTION_COMPLETED, "--junit", path.to_str().unwrap()];
    let (exit, ..) = command(&service, &arguments).await;

    assert_eq!(exit, Some(10));

    let found = elements(&std::fs::read_to_string(&path).unwrap());
    let cases: Vec<_> = found.iter().filter(|(name, ..)| name == "testcase").collect();

    assert_eq!(cases.len(), 4);
    assert!(cases.iter().all(|case| attribute(case, "classname") == "Release smoke"), "{cases:?}");

    let failure = found.iter().find(|(name, ..)| name == "failure").expect("a failure");

    assert!(
        attribute(failure, "message").starts_with("FAILED: Three taps on the pause button"),
        "{failure:?}"
    );
    assert!(failure.2.contains("step 2: Pause the game with the button at the top right"), "{failure:?}");
    // No temporary file is left.
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_timed_out_wait_writes_the_junit_file_and_a_failed_wait_keeps_the_old_one() {
    let service = Service::start().await;
    let (directory, path) = report();
    let path = path.to_str().unwrap();
    let early = ["wait", RUN_RUNNING, "--timeout-seconds", "1", "--junit", path];

    assert_eq!(command(&service, &early).await.0, Some(11));

    let written = std::fs::read_to_string(path).unwrap();

    assert!(written.contains("message=\"not finished\""), "{written}");
    assert_eq!(command(&service, &["wait", "nowhere", "--junit", path]).await.0, Some(1));
    assert_eq!(std::fs::read_to_string(path).unwrap(), written);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn the_junit_file_has_bugs_flaky_attempts_and_the_screenshots_of_failures() {
    let service = Service::start().await;
    let (base_url, knowledge_url) = (service.base_url(), service.knowledge_url());
    let (directory, path) = report();
    let wait = ["wait", EXECUTION_COMPLETED, "--junit", path.to_str().unwrap()];
    let mut variables = vec![
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_KNOWLEDGE_URL", knowledge_url.as_str()),
        ("TAS_API_KEY", keys::DEMO),
    ];

    let output = run_binary(&wait, &variables, &[]).await;

    assert_eq!(output.status.code(), Some(10));
    let document = std::fs::read_to_string(&path).expect("the file");
    let found = elements(&document);
    let attempt = found.iter().find(|(name, ..)| name == "flakyError").expect("a retried attempt");
    assert_eq!(attribute(attempt, "message"), "TIMEOUT");
    assert!(document.contains("high: Pause button does not react (bug_7h2k9)"), "{document}");

    let inside = format!("report-screenshots/{RUN_FAILED}-1-step-2.png");
    let picture = directory.path().join(&inside);
    assert!(document.contains(&format!("[[ATTACHMENT|{}]]", picture.display())), "{document}");
    assert!(std::fs::read(picture).expect("a picture").starts_with(b"\x89PNG"));

    // GitLab and Jenkins look for the file from the directory of the job.
    for variable in ["CI_PROJECT_DIR", "WORKSPACE"] {
        variables.truncate(3);
        variables.push((variable, directory.path().to_str().unwrap()));
        run_binary(&wait, &variables, &[]).await;
        let document = std::fs::read_to_string(&path).expect("the file");
        assert!(document.contains(&format!("[[ATTACHMENT|{inside}]]")), "{variable}: {document}");
    }
}
