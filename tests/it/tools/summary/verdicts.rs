//! Verdicts and failure entries, from invented records.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::RUN_THREE_PLAYERS;

use super::{
    TOOL, each, execution, fixture,
    history::{History, Test, uuid},
};
use crate::support::{fixture::Session, stub::Stub};

#[tokio::test]
async fn similar_failures_become_one_entry() {
    // One test on four devices; three of them have the same report.
    let tests = [
        Test::new(1, &["FAILED"]).reporting("Waited 30 s at (12, 40).").with_bug("bug_a", "low"),
        Test::new(1, &["FAILED"]).reporting("waited 31 s at (11, 9)").with_bug("bug_b", "critical"),
        Test::new(1, &["FAILED"]).reporting("Waited 5 s at (1, 1).").with_bug("bug_a", "high"),
        Test::new(1, &["FAILED"]).reporting("It was dark."),
        Test::new(1, &["BLOCKED"]).reporting("Waited 5 s at (1, 1)."),
        Test::new(2, &["FAILED"]).reporting("Waited 5 s at (1, 1)."),
    ];

    let summary = History::new(&tests).summary(execution(&uuid(0xe, 0))).await;
    let failures = &summary["failures"];

    assert_eq!(each(failures, "/count"), [3, 1, 1, 1]);

    let first = &failures[0];

    assert_eq!(first["run_ids"], json!(["r0000a00000", "r0001a00000", "r0002a00000"]));
    assert_eq!(first["observed"], "Waited 30 s at (12, 40).");
    assert_eq!(each(&first["bugs"], "/id"), ["bug_b", "bug_a"]);
    assert_eq!(
        each(&first["bugs"], "/severity"),
        ["critical", "high"],
        "each bug once, with its highest severity"
    );
    assert_eq!(summary["bugs"], json!({"critical": 1, "high": 1}));
    assert_eq!(summary["verdicts"], json!({"FAILED": 5, "BLOCKED": 1}));
}

#[tokio::test]
async fn runs_of_an_execution_that_passed_are_asked_for_bugs_where_the_list_does_not_say_that_there_are_none()
{
    let tests = [
        Test::new(1, &["SUCCESS"]).with_bug("bug_a", "low"),
        Test::new(2, &["SUCCESS"]).with_bug("bug_b", "critical"),
        Test::new(3, &["SUCCESS"]),
    ];
    let mut history = History::new(&tests);
    history.change("r0001a00000", |run| run["bug_info"] = Value::Null);

    let mut session = fixture().open_with(history.serve().await).await;
    let summary = session.host.succeed(TOOL, execution(&uuid(0xe, 0))).await;

    assert_eq!(summary["bugs"], json!({"critical": 1, "low": 1}));
    assert_eq!(each(&summary["passed_with_bugs"], "/test/name"), ["Test 002", "Test 001"]);
    let requests = session.service.requests();
    assert_eq!(requests.iter().filter(|one| one.contains("/bugs")).count(), 2, "{requests:?}");
}

#[tokio::test]
async fn the_last_started_attempt_decides_in_any_order() {
    let tests = [
        Test::new(1, &["ERROR", "TIMEOUT", "SUCCESS"]),
        Test::new(2, &["TIMEOUT", "FAILED"]),
        Test::new(3, &["SUCCESS"]),
        Test::new(4, &["ERROR", "ERROR"]).going_on(),
    ];

    for seed in 0..4 {
        let summary = History::new(&tests).shuffled(seed).summary(execution(&uuid(0xe, 0))).await;

        assert_eq!(summary["verdicts"], json!({"FAILED": 1, "SUCCESS": 2}), "{seed}");
        assert_eq!((&summary["finished"], &summary["total"]), (&json!(3), &json!(4)));
        assert_eq!(each(&summary["passed_after_retry"], "/earlier"), [json!(["ERROR", "TIMEOUT"])]);
        assert_eq!(each(&summary["failures"], "/run_ids/0"), ["r0001a00001"]);
    }
}

#[tokio::test]
async fn results_are_accepted_in_either_letter_case() {
    let tests = [Test::new(1, &["Failed"]), Test::new(2, &["success"]), Test::new(3, &["Melted"])];
    let mut history = History::new(&tests);
    history.change_jobs(|job| {
        job["status"] = json!("completed");
        job["runs"][0]["state"] = json!("completed");
    });

    let summary = history.summary(execution(&uuid(0xe, 0))).await;

    assert_eq!(summary["verdicts"], json!({"FAILED": 1, "SUCCESS": 1, "Melted": 1}));
    assert_eq!(each(&summary["failures"], "/verdict"), ["FAILED", "Melted"]);
    assert_eq!(each(&summary["failures"], "/step/number"), [2, 2]);
}

#[tokio::test]
async fn the_worst_failures_come_first() {
    let words = ["SKIPPED", "STOPPED", "Melted", "MAX_STEPS", "TIMEOUT", "ERROR", "BLOCKED", "FAILED"];
    let mut tests: Vec<_> =
        words.iter().enumerate().map(|(number, word)| Test::new(number, &[*word])).collect();
    tests.push(Test::new(20, &[]));
    tests.extend([Test::new(31, &["ERROR"]), Test::new(31, &["ERROR"]), Test::new(30, &["ERROR"])]);

    let summary = History::new(&tests).summary(execution(&uuid(0xe, 0))).await;
    let verdicts = each(&summary["failures"], "/verdict");
    let expected = [
        "FAILED",
        "BLOCKED",
        "ERROR",
        "ERROR",
        "ERROR",
        "TIMEOUT",
        "MAX_STEPS",
        "Melted",
        "no_run",
        "STOPPED",
        "SKIPPED",
    ];

    assert_eq!(verdicts, expected);
    assert_eq!(each(&summary["failures"], "/test/name")[2..5], ["Test 031", "Test 005", "Test 030"]);
}

#[tokio::test]
async fn all_builds_are_named() {
    let mut history = History::new(&[Test::new(1, &["SUCCESS"]), Test::new(2, &["FAILED"])]);
    history.change_jobs(|job| {
        if job["test_name"] == "Test 001" {
            job["build_id"] = json!(uuid(0xb, 9));
        }
    });

    let summary = history.summary(execution(&uuid(0xe, 0))).await;

    assert_eq!(summary["build"], json!(null));
    assert_eq!(summary["builds"], json!([{"id": uuid(0xb, 0), "name": "build 0"}, {"id": uuid(0xb, 9)}]));
}

#[tokio::test]
async fn an_attempt_that_ended_without_a_result_has_not_passed() {
    let mut history = History::new(&[Test::new(1, &["ERROR", "SUCCESS"])]);
    history.change_jobs(|job| job["runs"][0]["result"] = Value::Null);
    history.change("r0000a00000", |run| run["result"] = Value::Null);

    for has_jobs in [true, false] {
        let history = history.clone();
        let stub = Stub::start(move |target| {
            let is_missing = !has_jobs && target.contains("/jobs");
            let answer = if is_missing { (404, json!({"error": "no"})) } else { history.answer(&target) };
            async move { answer }
        })
        .await;

        let mut session = fixture().open_with(stub).await;
        let summary = session.host.succeed(TOOL, execution(&uuid(0xe, 0))).await;

        assert_eq!(summary["verdicts"], json!({"SUCCESS": 1}));
        assert_eq!(each(&summary["passed_after_retry"], "/earlier"), [json!(["no_result"])], "{has_jobs}");
    }
}

fn with_bugs() -> Vec<Test> {
    vec![
        Test::new(1, &["FAILED"]).with_bug("bug_1", "high"),
        Test::new(2, &["SUCCESS"]).with_bug("bug_2", "low"),
        Test::new(3, &["SUCCESS"]),
    ]
}

async fn summary(history: History) -> Value {
    history.summary(execution(&uuid(0xe, 0))).await
}

#[tokio::test]
async fn the_bugs_of_a_finished_result_are_complete() {
    let summary = summary(History::new(&with_bugs())).await;
    assert_eq!((&summary["bugs"], &summary["bugs_complete"]), (&json!({"high": 1, "low": 1}), &json!(true)));
}

#[tokio::test]
async fn the_bugs_of_a_running_result_are_not_complete() {
    let mut tests = with_bugs();
    tests.push(Test::new(4, &["SUCCESS"]).going_on());
    assert_eq!(summary(History::new(&tests)).await["bugs_complete"], false);
}

/// The answer of the service is one page (service.md 1.3), but its number of bugs may be larger.
#[tokio::test]
async fn bugs_that_the_service_counts_and_does_not_return_are_missing() {
    let mut history = History::new(&with_bugs());
    history.change_bugs("r0001a00000", |bugs| bugs["pagination"]["total_count"] = json!(2));
    assert_eq!(summary(history).await["bugs_complete"], false);
}

#[tokio::test]
async fn a_failure_names_the_player_that_failed_and_its_files_only_if_asked() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let mut arguments = json!({"run_id": RUN_THREE_PLAYERS});
    let failures = host.succeed(TOOL, arguments.clone()).await["failures"].clone();
    let player = format!("{RUN_THREE_PLAYERS}-2");

    assert_eq!(
        (each(&failures, "/player_id"), each(&failures, "/artifacts")),
        (vec![json!(player)], vec![Value::Null])
    );
    host.succeed("list_run_artifacts", json!({"run_id": player})).await;
    for fields in ["failures.artifacts", "*"] {
        arguments["fields"] = json!(fields);
        let failures = host.succeed(TOOL, arguments.clone()).await["failures"].clone();
        assert!(failures[0]["artifacts"][0].is_string(), "{failures}");
    }
}
