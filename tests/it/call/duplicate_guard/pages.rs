//! Pages that a look-up reads, and malformed pages.

use serde_json::{Value, json};

use super::{Session, fixture, plan_arguments, reset_after_write, reset_before_write, start_arguments};

/// A record that the call may have made, because nothing contradicts it.
fn matching() -> Value {
    json!({"id": "one", "job_id": "one"})
}

/// A record that the call cannot have made.
fn other() -> Value {
    json!({"id": "other", "job_id": "other", "tags": []})
}

fn page(records: &[Value], pages: u64) -> Value {
    json!({
        "data": records,
        "pagination": {"page": 0, "page_size": 100, "total_count": 100 * pages, "total_pages": pages},
    })
}

impl Session {
    /// Answers the next requests for a list with these pages.
    async fn show_pages(&self, list: &str, pages: &[Value]) {
        for page in pages {
            self.service.fault(json!({"operation": list, "body": page})).await;
        }
    }
}

#[tokio::test]
async fn a_malformed_page_is_a_failed_look_up() {
    let valid = page(&[], 0);
    for (malformed, reason) in [
        (json!({"pagination": valid["pagination"]}), "no records"),
        (json!({"data": null, "pagination": valid["pagination"]}), "null for records"),
        (json!({"data": {}, "pagination": valid["pagination"]}), "an object for records"),
        (json!({"data": []}), "no paging"),
        (json!({"data": [], "pagination": {}}), "no number of pages"),
        (json!({"data": [], "pagination": {"total_pages": "1"}}), "a text for the number of pages"),
    ] {
        for (tool, list, arguments) in [
            ("start_run", "list_jobs", start_arguments()),
            ("start_test_plan_run", "list_test_plan_executions", plan_arguments()),
        ] {
            let mut session = fixture().open().await;
            session.lose_answer(tool, &arguments, reset_after_write()).await;

            let writes = session.service.writes().await.len();
            session.show_pages(list, std::slice::from_ref(&malformed)).await;

            let error = session.host.fail(tool, arguments.clone()).await;
            assert_eq!(
                (&error["code"], &error["details"]["looking_failed"]),
                (&json!("outcome_unknown"), &json!("bad_response")),
                "{reason}: {error}"
            );
            assert_eq!(session.service.writes().await.len(), writes, "{reason}");
            assert_eq!(
                session.host.fail(tool, arguments).await["code"],
                "conflict",
                "{reason}: the first call is still remembered"
            );
        }
    }
}

#[tokio::test]
async fn a_list_is_read_to_its_end() {
    let mut session = fixture().open().await;
    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;
    session.show_pages("list_jobs", &[page(&[other()], 2), page(&[matching()], 2)]).await;
    assert_eq!(session.host.fail("start_run", start_arguments()).await["code"], "conflict");
}

#[tokio::test]
async fn records_found_are_reported_although_the_next_page_is_malformed() {
    let mut session = fixture().open().await;
    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;
    session.show_pages("list_jobs", &[page(&[matching()], 2), json!({"data": null})]).await;
    assert_eq!(session.host.fail("start_run", start_arguments()).await["code"], "conflict");
}

#[tokio::test]
async fn an_empty_page_ends_the_look_up() {
    let mut session = fixture().open().await;
    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;
    let requests = session.service.requests().await.len();
    session.show_pages("list_jobs", &[page(&[other()], 30), page(&[], 30)]).await;
    session.host.succeed("start_run", start_arguments()).await;
    assert_eq!(session.service.requests().await.len(), requests + 3, "two pages, one start");
}

/// The call is held back once, because the next look-up would end in the same way.
#[tokio::test]
async fn a_list_that_is_too_long_leaves_the_outcome_unknown() {
    let mut session = fixture().open().await;
    session.lose_answer("start_run", &start_arguments(), reset_before_write()).await;

    let writes = session.service.writes().await.len();
    session.show_pages("list_jobs", &vec![page(&[other(), other()], 30); 20]).await;

    let error = session.host.fail("start_run", start_arguments()).await;

    assert_eq!(
        (&error["code"], &error["details"]["looking_failed"]),
        (&json!("outcome_unknown"), &json!("rejected")),
        "{error}"
    );
    assert_eq!(session.service.writes().await.len(), writes);

    session.host.succeed("start_run", start_arguments()).await;
}
