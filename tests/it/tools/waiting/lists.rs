//! Long and unusual lists of jobs.

use std::sync::Arc;

use serde_json::{Value, json};
use tas_mcp::sandbox::seed::EXECUTION_COMPLETED;

use super::TOOL;
use crate::support::{
    fixture::{Fixture, Session},
    stub::Stub,
};

/// Opens a session with a service that has a passed execution. `page` makes each page of its jobs from the records and
/// the page number.
async fn open_with_passed_execution(tests: usize, page: fn(&[Value], usize) -> Value) -> Session<Stub> {
    let job = |number: usize| {
        json!({
            "job_id": format!("00000010-0000-4000-8000-{number:012x}"), "status": "COMPLETED",
            "runs": [{"multiplayer_run_id": format!("r{number}"), "state": "COMPLETED", "result": "SUCCESS"}],
        })
    };

    let jobs: Arc<Vec<_>> = Arc::new((0..tests).map(job).collect());
    let stub = Stub::start(move |target| {
        let jobs = Arc::clone(&jobs);
        async move {
            let number = target.split(['?', '&']).find_map(|pair| pair.strip_prefix("page=")?.parse().ok());
            let body = match number {
                Some(number) => page(&jobs, number),
                None => json!({"id": EXECUTION_COMPLETED, "status": "completed", "total_tests": tests}),
            };
            (200, body)
        }
    })
    .await;

    Fixture::new().simulated_time_alone().open_with(stub).await
}

/// Returns the records of a page.
fn page_records(jobs: &[Value], page: usize) -> Vec<Value> {
    jobs.iter().skip(page * 100).take(100).cloned().collect()
}

/// Returns a page with the numbers of all records and pages.
fn complete_page(jobs: &[Value], page: usize) -> Value {
    let (count, pages) = (jobs.len(), jobs.len().div_ceil(100));
    let pagination = json!({"page": page, "page_size": 100, "total_count": count, "total_pages": pages});
    json!({"data": page_records(jobs, page), "pagination": pagination})
}

/// Returns the arguments of a wait for the execution.
fn execution() -> Value {
    json!({
        "test_plan_execution_id": EXECUTION_COMPLETED, "fields": "status,all_passed,finished,total,unread",
        "poll_interval_seconds": 10,
    })
}

#[tokio::test]
async fn a_list_without_a_page_count_is_read_to_its_end() {
    let mut session =
        open_with_passed_execution(250, |jobs, page| json!({"data": page_records(jobs, page)})).await;
    let end = session.host.succeed(TOOL, execution()).await;
    assert_eq!(
        (&end["all_passed"], &end["finished"], &end["unread"]),
        (&json!(true), &json!(250), &Value::Null)
    );
}

#[tokio::test]
async fn a_service_that_repeats_its_only_page_is_asked_twice() {
    let mut session = open_with_passed_execution(50, |jobs, _| json!({"data": page_records(jobs, 0)})).await;
    let end = session.host.succeed(TOOL, execution()).await;
    assert_eq!((&end["all_passed"], &end["finished"]), (&json!(true), &json!(50)));
    assert_eq!(session.service.requests().len(), 3);
}

/// Tests that were not read have not passed, and are reported.
#[tokio::test]
async fn a_list_with_too_many_pages_is_reported() {
    let pages: [fn(&[Value], usize) -> Value; 2] =
        [complete_page, |jobs, page| json!({"data": page_records(jobs, page)})];
    for page in pages {
        let mut session = open_with_passed_execution(2_001, page).await;
        let end = session.host.succeed(TOOL, execution()).await;
        let unread = json!([{
            "what": "jobs, page 20 and after", "why": "a wait reads no more pages of a list",
        }]);
        let expected = json!({
            "incomplete": true, "status": "completed", "finished": 2_000, "total": 2_001,
            "unread": unread,
        });

        assert_eq!(end, expected);
        assert_eq!(session.service.requests().len(), 21);
    }
}

#[tokio::test]
async fn an_answer_without_a_list_is_not_an_empty_list() {
    let mut session = open_with_passed_execution(2, |_, _| json!({"data": {"job_id": "j"}})).await;
    let error = session.host.fail(TOOL, execution()).await;
    assert_eq!((&error["code"], &error["details"]["polls"]), (&json!("bad_response"), &json!(5)), "{error}");
    assert!(error["message"].as_str().is_some_and(|said| said.contains("list_jobs")), "{error}");
}

/// A long reply is cut at its end.
#[tokio::test]
async fn failed_jobs_come_first_in_a_long_list() {
    let page = |jobs: &[Value], number: usize| {
        let mut page = complete_page(jobs, number);
        if number == 1 {
            page["data"][50]["runs"][0]["result"] = json!("FAILED");
        }
        page
    };

    let mut session = open_with_passed_execution(200, page).await;
    let end = session.host.succeed(TOOL, json!({"test_plan_execution_id": EXECUTION_COMPLETED})).await;

    assert_eq!((&end["verdicts"]["FAILED"], &end["items"][0]["run_id"]), (&json!(1), &json!("r150")));
    assert!(!end["truncated"].is_null(), "not all of them fit");
}

/// The execution counts tests that its list of jobs does not contain.
#[tokio::test]
async fn tests_that_are_not_listed_are_reported() {
    let mut session = open_with_passed_execution(5, |jobs, page| complete_page(&jobs[..3], page)).await;
    let end = session.host.succeed(TOOL, execution()).await;
    let unread = json!([{"what": "2 tests", "why": "they are not in the list of jobs"}]);
    let expected = json!({
        "incomplete": true, "repeat": end["repeat"], "status": "completed", "all_passed": false, "finished": 3,
        "total": 5, "unread": unread,
    });
    assert!(end["repeat"].is_string(), "{end}");
    assert_eq!(end, expected);
}

/// Jobs without an id are counted individually.
#[tokio::test]
async fn a_job_on_two_pages_is_counted_once() {
    let page = |jobs: &[Value], page: usize| {
        // A job without an id cannot be recognized on another page.
        let nameless = json!({"status": "COMPLETED", "runs": []});
        let data = match page {
            0 => json!([jobs[0], nameless, nameless]),
            _ => json!([jobs[0], jobs[1]]),
        };
        json!({"data": data, "pagination": {"page": page, "page_size": 100, "total_count": 5, "total_pages": 2}})
    };

    let mut session = open_with_passed_execution(2, page).await;
    let end = session.host.succeed(TOOL, execution()).await;

    assert_eq!((&end["all_passed"], &end["finished"], &end["total"]), (&json!(false), &json!(4), &json!(4)));
}

/// Jobs with known ids do not need a list.
#[tokio::test]
async fn jobs_are_read_individually_without_a_list() {
    let stub = Stub::start(|target| async move {
        let id = target.trim_start_matches("GET /jobs/").to_owned();
        if target.contains('?') {
            return (200, json!({"data": "none"}));
        }
        (200, json!({"job_id": id, "status": "COMPLETED", "runs": []}))
    })
    .await;

    let mut session = Fixture::new().open_with(stub).await;
    let jobs: Vec<_> = (0..5).map(|number| format!("00000010-0000-4000-8000-{number:012x}")).collect();
    let end = session.host.succeed(TOOL, json!({"job_ids": jobs})).await;

    assert_eq!((&end["finished"], &end["polls"]), (&json!(5), &json!(1)));
}
