//! The order of the service's lists does not matter, and timestamps are compared by time, not by text.

use serde_json::{Value, json};

use super::{
    against, each, execution,
    history::{History, Test, uuid},
};

fn mixed_tests(shift: usize) -> Vec<Test> {
    let words = ["FAILED", "SUCCESS", "ERROR", "TIMEOUT", "BLOCKED", "Melted", "STOPPED"];
    let test = |number: usize| {
        let word = words[(number + shift) % words.len()];
        let attempts: &[&str] = if number.is_multiple_of(4) { &["ERROR", word] } else { &[word] };
        let mut test = Test::new(number / 2, attempts).reporting(format!("Door {number} is {word}."));
        // Tests with different ids may have the same name.
        test.name = format!("Test {}", number % 9);
        test.artifacts = vec!["b.log".into(), "a.log".into()];
        test.with_bug(&format!("bug_{}", number % 5), ["low", "high", "critical"][number % 3])
    };

    (0..120).map(test).collect()
}

#[tokio::test]
async fn the_order_of_the_lists_does_not_change_the_answer() {
    let mut history = History::new(&mixed_tests(0));
    history.add(&mixed_tests(1));

    let arguments = || {
        let mut arguments = against(execution(&uuid(0xe, 1)), "previous");
        arguments["fields"] = json!("*");
        arguments
    };
    let expected = history.clone().summary(arguments()).await;

    assert!(expected["failures"].as_array().is_some_and(|failures| failures.len() > 3), "{expected}");
    for seed in 1..6 {
        let summary = history.shuffled(seed).summary(arguments()).await;
        assert_eq!(summary.to_string(), expected.to_string(), "{seed}");
    }
}

/// Timestamps with one hour between them. Sorted as texts, they have another order.
const TIMES: [&str; 3] =
    ["2026-03-01T13:00:00+09:00", "2026-03-01T05:00:00+00:00", "2026-02-28T22:00:00-08:00"];

/// Sets the timestamps of the runs of each job.
fn shift(history: &mut History) {
    history.change_jobs(|job| {
        for (run, time) in job["runs"].as_array_mut().expect("a list").iter_mut().zip(TIMES) {
            run["started_at"] = json!(time);
        }
    });
}

#[tokio::test]
async fn attempts_are_listed_in_the_order_of_their_starts() {
    let mut history = History::new(&[Test::new(1, &["ERROR", "TIMEOUT", "SUCCESS"])]);
    shift(&mut history);

    for seed in 0..2 {
        let summary = history.shuffled(seed).summary(json!({"job_id": uuid(0x10, 0)})).await;
        assert_eq!(each(&summary["passed_after_retry"], "/earlier"), [json!(["ERROR", "TIMEOUT"])]);
        assert_eq!(summary["started_at"], TIMES[0]);
    }
}

#[tokio::test]
async fn times_with_different_offsets_are_compared_by_time() {
    let failed = || Test::new(1, &["FAILED"]);
    let mut history = History::new(&[failed(), failed(), failed()]);

    for (number, time) in TIMES.iter().rev().enumerate() {
        history.change_job(number, |job| {
            job["runs"][0]["started_at"] = json!(time);
            job["completed_at"] = json!(time);
        });
    }

    history.change_execution(0, |execution| {
        execution["started_at"] = Value::Null;
        execution["completed_at"] = Value::Null;
    });
    let summary = history.summary(execution(&uuid(0xe, 0))).await;
    let runs = json!(["r0002a00000", "r0001a00000", "r0000a00000"]);

    assert_eq!(each(&summary["failures"], "/run_ids"), [runs]);
    assert_eq!([&summary["started_at"], &summary["completed_at"]], [TIMES[0], TIMES[2]]);
}
