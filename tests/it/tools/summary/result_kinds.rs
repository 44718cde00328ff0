//! Summaries of each kind of result, against the sandbox.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::{
    CONFIG_PHONES, EXECUTION_COMPLETED, EXECUTION_IN_PROGRESS, EXECUTION_QUEUED, JOB_FAILED, JOB_FLAKY,
    JOB_PASSED, JOB_REJECTED, JOB_RUNNING, RUN_BLOCKED, RUN_DISCOVERY, RUN_ERROR, RUN_FAILED, RUN_PASSED,
    RUN_RUNNING, RUN_SKIPPED, RUN_STOPPED, RUN_THREE_PLAYERS, TEST_BLOCKED, TEST_ERRORS, TEST_FAILS,
    TEST_FLAKY, TEST_PASSES,
};

use super::{TOOL, against, each, execution, fixture, whole_length};
use crate::support::fixture::Session;

#[tokio::test]
async fn an_execution_shows_verdicts_failures_retried_tests_and_bugs() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let summary = host.succeed(TOOL, execution(EXECUTION_COMPLETED)).await;
    let expected = json!({
        "target_type": "test_plan_execution", "target_id": EXECUTION_COMPLETED, "name": "Release smoke",
        "state": "completed", "all_passed": false, "finished": 4, "total": 4, "verdicts": {"FAILED": 1, "SUCCESS": 3},
        "started_at": "2026-03-01T05:15:10+00:00", "completed_at": "2026-03-01T05:19:20+00:00", "duration_ms": 250_000,
        "build": {"id": "0016157b-7e26-4277-b803-02ab60676871", "name": "Emberfall 1.4.0 nightly 412"},
        "failures": [{
            "test": {"id": TEST_FAILS, "name": "Pause and resume"}, "verdict": "FAILED",
            "step": {"number": 2, "goal": "Pause the game with the button at the top right"},
            "expected": "The pause menu opens",
            "observed": "Three taps on the pause button had no effect; the game went on and the lantern burnt out.",
            "count": 1, "run_ids": [RUN_FAILED], "player_id": format!("{RUN_FAILED}-1"),
            "bugs": [{"id": "bug_7h2k9", "title": "Pause button does not react", "severity": "high"}],
            "devices": summary["failures"][0]["devices"],
        }],
        "passed_after_retry": [{
            "test": {"id": TEST_FLAKY, "name": "Beat the Cinder Golem"}, "run_id": summary["passed_after_retry"][0]["run_id"],
            "earlier": ["TIMEOUT"],
        }],
        "bugs": {"critical": 1, "high": 1, "medium": 2, "low": 1}, "bugs_complete": true,
        "passed_with_bugs": summary["passed_with_bugs"], "slowest": summary["slowest"],
    });
    assert_eq!(each(&summary["passed_with_bugs"], "/test/name"), ["Explore the Ashen Woods"]);
    assert!(summary["failures"][0]["devices"][0].is_string(), "{summary}");
    let durations = each(&summary["slowest"], "/duration_ms");
    assert!(
        durations.len() == 4 && durations.is_sorted_by_key(|one| std::cmp::Reverse(one.as_u64())),
        "{summary}"
    );

    assert_eq!(summary, expected);
}

#[tokio::test]
async fn unfinished_tests_are_counted_and_not_failures() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    for (arguments, finished, total) in [
        (execution(EXECUTION_IN_PROGRESS), 1, 4),
        (execution(EXECUTION_QUEUED), 0, 2),
        (json!({"job_id": JOB_RUNNING}), 0, 1),
        (json!({"run_id": RUN_RUNNING}), 0, 1),
    ] {
        let summary = host.succeed(TOOL, arguments).await;

        assert_eq!(
            [&summary["state"], &summary["all_passed"], &summary["finished"], &summary["total"]],
            [&json!("running"), &json!(false), &json!(finished), &json!(total)]
        );
        assert_eq!((&summary["failures"], &summary["completed_at"]), (&json!([]), &Value::Null), "{summary}");
    }
}

#[tokio::test]
async fn a_passed_run_takes_one_request_and_one_for_its_bugs() {
    for (arguments, kind) in [(json!({"run_id": RUN_PASSED}), "run"), (json!({"job_id": JOB_PASSED}), "job")]
    {
        let Session { service, mut host, .. } = fixture().open().await;
        let summary = host.succeed(TOOL, arguments).await;
        assert_eq!([&summary["target_type"], &summary["state"]], [kind, "completed"]);
        assert_eq!(
            (&summary["all_passed"], &summary["verdicts"], &summary["failures"]),
            (&json!(true), &json!({"SUCCESS": 1}), &json!([]))
        );
        assert!(summary["duration_ms"].as_u64() > Some(0) && summary["build"]["id"].is_string(), "{summary}");
        assert!(service.requests().await.len() <= 3);
    }
}

#[tokio::test]
async fn a_job_that_passed_on_a_retry_is_named() {
    let Session { service, mut host, .. } = fixture().open().await;
    let summary = host.succeed(TOOL, json!({"job_id": JOB_FLAKY})).await;
    assert_eq!((&summary["all_passed"], &summary["failures"]), (&json!(true), &json!([])));
    assert_eq!(each(&summary["passed_after_retry"], "/earlier"), [json!(["TIMEOUT"])]);
    assert_eq!(service.requests().await.len(), 3, "the job, the bugs of its run, and the name of its build");
}

/// `bug_info` of this run is null, so that only its list of bugs tells whether it has some.
#[tokio::test]
async fn the_bugs_of_a_run_that_passed_are_shown() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let listed = host.succeed("list_run_bugs", json!({"run_id": RUN_DISCOVERY})).await;
    let summary = host.succeed(TOOL, json!({"run_id": RUN_DISCOVERY})).await;

    assert_eq!(
        (&summary["all_passed"], summary["bugs"]["critical"].as_u64()),
        (&json!(true), Some(1)),
        "{summary}"
    );
    assert_eq!(summary["passed_with_bugs"][0]["run_id"], RUN_DISCOVERY);
    let titles = each(&summary["passed_with_bugs"][0]["bugs"], "/title");
    assert!(!titles.is_empty() && titles.iter().all(|title| each(&listed["data"], "/title").contains(title)));
}

#[tokio::test]
async fn a_job_without_a_run_has_its_reason() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let summary = host.succeed(TOOL, json!({"job_id": JOB_REJECTED})).await;
    assert_eq!(summary["verdicts"], json!({"no_run": 1}));
    let failure = &summary["failures"][0];
    assert_eq!([&failure["verdict"], &failure["observed"]], ["no_run", "no_device_available"]);
    assert_eq!((&failure["run_ids"], &failure["job_ids"]), (&json!([]), &json!([JOB_REJECTED])));
}

#[tokio::test]
async fn the_step_belongs_to_the_player_that_failed() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let summary = host.succeed(TOOL, json!({"run_id": RUN_THREE_PLAYERS})).await;
    let failure = &summary["failures"][0];
    assert_eq!(failure["step"], json!({"number": 2, "goal": "Light the beacon together", "player": 2}));
    assert!(failure["observed"].as_str().unwrap().contains("fell through the bridge"), "{failure}");
    assert_eq!(summary["bugs"], json!({"critical": 1}));
}

#[tokio::test]
async fn every_failing_verdict_has_a_step() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    for (run, verdict) in
        [(RUN_BLOCKED, "BLOCKED"), (RUN_ERROR, "ERROR"), (RUN_SKIPPED, "SKIPPED"), (RUN_STOPPED, "STOPPED")]
    {
        let summary = host.succeed(TOOL, json!({"run_id": run})).await;
        let failure = &summary["failures"][0];
        assert_eq!((&failure["verdict"], &failure["run_ids"]), (&json!(verdict), &json!([run])), "{summary}");
        assert!(failure["step"]["goal"].is_string() && failure["observed"].is_string(), "{failure}");
    }
}

#[tokio::test]
async fn several_jobs_are_summarized_and_compared_as_one_group() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let jobs = json!({"job_ids": [JOB_FLAKY, JOB_FAILED, JOB_PASSED, JOB_FAILED]});

    let summary = host.succeed(TOOL, jobs.clone()).await;
    assert_eq!((&summary["target_type"], &summary["name"]), (&json!("jobs"), &json!("3 jobs")), "{summary}");
    assert!(summary.get("target_id").is_none(), "{summary}");
    assert_eq!(summary["verdicts"], json!({"FAILED": 1, "SUCCESS": 2}));
    assert_eq!(each(&summary["failures"], "/test/name"), ["Pause and resume"]);
    assert_eq!(each(&summary["passed_after_retry"], "/test/id"), [TEST_FLAKY]);

    // Tests of the execution that are not among the jobs are no change.
    let compared = host.succeed(TOOL, against(jobs.clone(), EXECUTION_COMPLETED)).await;
    assert_eq!(compared["comparison"]["not_run"], json!([]), "{compared}");
    assert_eq!(each(&compared["comparison"]["known"], "/test/name"), ["Pause and resume"]);

    let without = host.succeed(TOOL, against(jobs, "previous")).await;
    let note = without["comparison"]["note"].as_str().expect("a note");
    assert!(note.contains("several jobs have no earlier result"), "{without}");
}

#[tokio::test]
async fn a_job_of_a_group_that_does_not_exist_is_named() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let unknown = "00000000-0000-4000-8000-000000000000";

    let summary = host.succeed(TOOL, json!({"job_ids": [JOB_PASSED, unknown]})).await;

    assert_eq!(summary["incomplete"], true, "{summary}");
    assert!(each(&summary["unread"], "/what").contains(&json!(format!("job {unknown}"))), "{summary}");
    assert_eq!((&summary["verdicts"], &summary["total"]), (&json!({"SUCCESS": 1}), &json!(2)));
    assert!(summary.get("all_passed").is_none(), "{summary}");
}

/// Five hundred runs of a plan of the sandbox, which checks every answer against the contract.
#[tokio::test]
async fn a_plan_of_five_hundred_tests_is_summarized() {
    let Session { service, mut host, .. } = fixture().open().await;
    let tests = [TEST_PASSES, TEST_FLAKY, TEST_FAILS, TEST_BLOCKED, TEST_ERRORS];
    let item = |number: usize| json!({"multiplayer_test_id": tests[number % tests.len()], "retries": 1});
    let items: Vec<_> = (0..500).map(item).collect();
    let plan = host.succeed("create_test_plan", json!({"name": "Everything", "test_items": items})).await;
    let start = json!({"test_plan_id": plan["id"], "deployment_config_id": CONFIG_PHONES});
    let started = host.succeed("start_test_plan_run", start).await;

    // All runs, including retries, end within an hour.
    service.advance(3_600.0);
    let arguments = execution(started["test_plan_execution_id"].as_str().expect("an id"));
    let summary = host.succeed(TOOL, arguments).await;

    assert_eq!(summary["verdicts"], json!({"BLOCKED": 100, "ERROR": 100, "FAILED": 100, "SUCCESS": 200}));
    assert_eq!(each(&summary["failures"], "/verdict"), ["FAILED", "BLOCKED", "ERROR"]);
    assert_eq!(each(&summary["failures"], "/count"), [100; 3]);
    assert_eq!((&summary["state"], &summary["unread"]), (&json!("completed"), &Value::Null));

    assert_eq!(whole_length(&summary, "/passed_after_retry"), 100);
}
