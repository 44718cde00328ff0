//! Whether a summary has every bug.

use serde_json::{Value, json};

use super::{
    execution,
    history::{History, Test, uuid},
};

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
