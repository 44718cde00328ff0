//! A service whose list of jobs begins with the oldest job, unlike that of the sandbox.

use std::sync::Arc;

use serde_json::{Value, json};

use super::TOOL;
use crate::support::{fixture::Fixture, stub::Stub};

/// Number of jobs of the service, and number of the newest jobs that are waited for.
const ALL: usize = 500;
const WANTED: usize = 50;

fn id(number: usize) -> String {
    format!("00000010-0000-4000-8000-{number:012x}")
}

/// Returns a running job. The wanted jobs belong to `tests` tests, the others to none of them.
fn job(number: usize, tests: usize) -> Value {
    let test = number.checked_sub(ALL - WANTED).map_or(0, |wanted| 1 + wanted % tests);
    json!({"job_id": id(number), "status": "RUNNING", "multiplayer_test_id": id(9_000 + test), "runs": [],
        "tags": [], "test_plan_execution_id": null})
}

/// Returns the query parameter with a name.
fn argument<'a>(target: &'a str, name: &str) -> Option<&'a str> {
    target.split(['?', '&']).find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

fn answer(jobs: &[Value], target: &str) -> Value {
    if !target.contains('?') {
        let id = target.trim_start_matches("GET /jobs/");
        return jobs.iter().find(|job| job["job_id"] == id).cloned().unwrap_or_default();
    }

    let test = argument(target, "multiplayer_test_id");
    let has_test = |job: &&Value| test.is_none_or(|test| job["multiplayer_test_id"] == test);
    let listed: Vec<_> = jobs.iter().filter(has_test).collect();
    let page: usize = argument(target, "page").and_then(|page| page.parse().ok()).unwrap_or_default();
    let data: Vec<_> = listed.iter().skip(page * 100).take(100).collect();
    let (count, pages) = (listed.len(), listed.len().div_ceil(100));
    let pagination = json!({"page": page, "page_size": 100, "total_count": count, "total_pages": pages});

    json!({"data": data, "pagination": pagination})
}

/// Returns the numbers of polls and requests of a wait for jobs of `tests` tests.
async fn count_requests(tests: usize) -> (u64, usize) {
    let jobs: Arc<Vec<_>> = Arc::new((0..ALL).map(|number| job(number, tests)).collect());
    let stub = Stub::start(move |target| {
        let jobs = Arc::clone(&jobs);
        async move { (200, answer(&jobs, &target)) }
    })
    .await;
    let mut session = Fixture::new().simulated_time_alone().open_with(stub).await;
    let wanted: Vec<_> = (ALL - WANTED..ALL).map(id).collect();
    let arguments = json!({"job_ids": wanted, "timeout_seconds": 10, "poll_interval_seconds": 2});
    let end = session.host.succeed(TOOL, arguments).await;

    assert_eq!((&end["total"], &end["status"]), (&json!(WANTED), &json!("timed_out")));
    (end["polls"].as_u64().expect("a number"), session.service.requests().len())
}

#[tokio::test]
async fn old_jobs_of_other_tests_do_not_hide_the_jobs_of_one_test() {
    let (polls, requests) = count_requests(1).await;
    assert_eq!((polls, requests), (6, 7), "the first job, then one list in each poll");
}

/// The unfiltered list contains none of the wanted jobs. Each job is read once, then one list is read per test.
#[tokio::test]
async fn jobs_of_several_tests_take_one_list_per_test() {
    let (polls, requests) = count_requests(5).await;
    assert_eq!((polls, requests), (6, 1 + 2 + 40 + 5 * 5));
}
