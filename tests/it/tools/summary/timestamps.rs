//! Timestamps with different offsets from UTC are compared by time, not by text.

use serde_json::{Value, json};

use super::{
    each, execution,
    history::{History, Test, uuid},
};

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
