//! Looking reads as many pages as it takes, and takes nothing for a page that is none.

use serde_json::{Value, json};

use super::{Session, lost_after, lost_before, open, plan, start};

/// Long before the sandbox begins, and long before that.
const OLD: &str = "2026-01-02T00:00:00Z";
const OLDER: &str = "2026-01-01T00:00:00Z";

/// Later than any call of these tests.
const NEW: &str = "2026-03-02T10:00:00Z";

/// A page of executions or jobs that were made at these times.
fn page(times: &[Value], pages: u64) -> Value {
    let record = |made: &Value| json!({"id": "one", "job_id": "one", "started_at": made, "created_at": made});
    let records: Vec<_> = times.iter().map(record).collect();
    json!({
        "data": records,
        "pagination": {"page": 0, "page_size": 100, "total_count": 100 * pages, "total_pages": pages},
    })
}

impl Session {
    async fn show(&self, list: &str, pages: &[Value]) {
        for page in pages {
            self.service.fault(json!({"operation": list, "body": page})).await;
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_no_page_is_a_look_that_failed() {
    let whole = page(&[], 0);
    for (broken, what) in [
        (json!({"pagination": whole["pagination"]}), "no records"),
        (json!({"data": null, "pagination": whole["pagination"]}), "null for records"),
        (json!({"data": {}, "pagination": whole["pagination"]}), "an object for records"),
        (json!({"data": []}), "no paging"),
        (json!({"data": [], "pagination": {}}), "no number of pages"),
        (json!({"data": [], "pagination": {"total_pages": "1"}}), "a text for the number of pages"),
    ] {
        for (tool, list, arguments) in [
            ("start_run", "list_jobs", start()),
            ("start_test_plan_run", "list_test_plan_executions", plan()),
        ] {
            let mut scene = open().await;
            scene.lose(tool, &arguments, lost_after()).await;
            let writes = scene.service.writes().await.len();
            scene.show(list, std::slice::from_ref(&broken)).await;
            let error = scene.host.fail(tool, arguments.clone()).await;
            assert_eq!(
                (&error["code"], &error["details"]["looking_failed"]),
                (&json!("outcome_unknown"), &json!("bad_response")),
                "{what}: {error}"
            );
            assert_eq!(scene.service.writes().await.len(), writes, "{what}");
            assert_eq!(
                scene.host.fail(tool, arguments).await["code"],
                "conflict",
                "{what}: still remembered"
            );
        }
    }
}

/// Only order that was asked for, and is kept by every record, says that nothing newer follows.
#[tokio::test]
async fn a_page_of_old_records_does_not_end_the_look_unless_its_order_is_sure() {
    let [old, older, new] = [OLD, OLDER, NEW].map(Value::from);
    for (times, what) in [
        (vec![old.clone()], "one record has no order"),
        (vec![older.clone(), old.clone()], "oldest first"),
        (vec![old.clone(), old.clone()], "at one time"),
        (vec![old.clone(), Value::Null, older.clone()], "one of unknown time"),
        (vec![old.clone(), older.clone(), Value::Null], "the last of unknown time"),
    ] {
        let mut scene = open().await;
        scene.lose("start_test_plan_run", &plan(), lost_before()).await;
        scene
            .show("list_test_plan_executions", &[page(&times, 2), page(std::slice::from_ref(&new), 2)])
            .await;
        let error = scene.host.fail("start_test_plan_run", plan()).await;
        assert_eq!(error["code"], "conflict", "{what}: {error}");
    }
}

#[tokio::test]
async fn a_list_without_an_order_is_read_to_its_end() {
    let [old, older, new] = [OLD, OLDER, NEW].map(Value::from);
    let mut scene = open().await;
    scene.lose("start_run", &start(), lost_before()).await;
    scene.show("list_jobs", &[page(&[old, older], 2), page(&[new], 2)]).await;
    assert_eq!(scene.host.fail("start_run", start()).await["code"], "conflict");
}

#[tokio::test]
async fn a_list_of_the_newest_is_read_down_to_what_is_too_old() {
    let mut scene = open().await;
    scene.lose("start_test_plan_run", &plan(), lost_before()).await;
    let requests = scene.service.requests().await.len();
    scene.show("list_test_plan_executions", &[page(&[OLD, OLDER].map(Value::from), 30)]).await;
    scene.host.succeed("start_test_plan_run", plan()).await;
    assert_eq!(scene.service.requests().await.len(), requests + 2, "one look, one start");
}

#[tokio::test]
async fn what_is_found_is_told_though_the_next_page_does_not_come() {
    let mut scene = open().await;
    scene.lose("start_run", &start(), lost_before()).await;
    scene.show("list_jobs", &[page(&[Value::from(NEW)], 2), json!({"data": null})]).await;
    assert_eq!(scene.host.fail("start_run", start()).await["code"], "conflict");
}

#[tokio::test]
async fn an_empty_page_is_the_end() {
    let mut scene = open().await;
    scene.lose("start_run", &start(), lost_before()).await;
    let requests = scene.service.requests().await.len();
    scene.show("list_jobs", &[page(&[Value::from(OLD)], 30), page(&[], 30)]).await;
    scene.host.succeed("start_run", start()).await;
    assert_eq!(scene.service.requests().await.len(), requests + 3, "two looks, one start");
}

/// It is told once: the next look would end no better.
#[tokio::test]
async fn a_list_that_is_too_long_shows_nothing() {
    let mut scene = open().await;
    scene.lose("start_run", &start(), lost_before()).await;

    let writes = scene.service.writes().await.len();
    scene.show("list_jobs", &vec![page(&[OLD, OLDER].map(Value::from), 30); 20]).await;

    let error = scene.host.fail("start_run", start()).await;

    assert_eq!(
        (&error["code"], &error["details"]["looking_failed"]),
        (&json!("outcome_unknown"), &json!("rejected")),
        "{error}"
    );
    assert_eq!(scene.service.writes().await.len(), writes);

    scene.host.succeed("start_run", start()).await;
}
