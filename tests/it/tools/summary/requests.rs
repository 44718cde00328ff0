//! The requests of a summary: only those that are needed, to one project, at most eight at once, and none after the end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tas_mcp::sandbox::{
    keys,
    seed::{ARENA_EXECUTION, ARENA_JOB_FAILED, ARENA_RUN_FAILED, EXECUTION_COMPLETED, EXECUTION_IN_PROGRESS},
};

use super::{
    TOOL, against, execution, fixture,
    history::{History, Test, uuid},
};
use crate::support::{
    fixture::{Fixture, Session},
    stub::Stub,
};

fn mixed_results(count: usize) -> Vec<Test> {
    let test = |number: usize| match number % 10 {
        0 => Test::new(number, &["FAILED"]),
        1 => Test::new(number, &["FAILED"]).with_bug("bug_1", "low"),
        _ => Test::new(number, &["SUCCESS"]),
    };
    (0..count).map(test).collect()
}

#[tokio::test]
async fn only_failed_runs_and_existing_bugs_are_read() {
    let stub = History::new(&mixed_results(250)).serve().await;
    let mut session = fixture().open_with(stub).await;
    session.host.succeed(TOOL, execution(&uuid(0xe, 0))).await;

    let requests = session.service.requests();
    let count = |part: &str| requests.iter().filter(|one| one.contains(part)).count();

    assert_eq!(count("/test-plan-executions/"), 1);
    assert_eq!(count("/jobs?"), 3);
    // The other 25 failed runs have a bug count of 0.
    assert_eq!(count("/bugs"), 25);
    assert_eq!(count("/runs?"), 3, "the lists of runs say which runs that passed have bugs");
    assert_eq!(requests.len(), 1 + 3 + 3 + 50 + 25);
}

#[tokio::test]
async fn the_earlier_result_takes_only_lists() {
    let mut history = History::new(&mixed_results(250));
    history.add(&mixed_results(250));

    let stub = history.serve().await;
    let arguments = against(execution(&uuid(0xe, 1)), "previous");
    let mut session = fixture().open_with(stub).await;
    session.host.succeed(TOOL, arguments).await;

    let requests = session.service.requests();

    assert_eq!(requests.len(), 1 + 3 + 1 + 3 + 5 + 50 + 25, "five pages with the runs of both: {requests:?}");
}

/// Answers for runs are delayed until eight runs are requested. With fewer concurrent requests the test would hang.
#[tokio::test]
async fn at_most_eight_requests_are_sent_at_once() {
    let is_run = |target: &str| target.contains("/runs/");
    let is_other_page = |target: &str| target.contains("/jobs?") && !target.contains("page=0&");
    let passed: Vec<_> = (0..900).map(|number| Test::new(number, &["SUCCESS"])).collect();

    for (tests, held) in [(mixed_results(60), is_run as fn(&str) -> bool), (passed, is_other_page)] {
        let mut history = History::new(&tests);
        history.add(&tests);
        let (stub, maximum) = history.serve_together(held).await;
        let mut session = fixture().open_with(stub).await;
        session.host.succeed(TOOL, against(execution(&uuid(0xe, 1)), "previous")).await;
        assert_eq!(maximum.load(Ordering::SeqCst), 8);
    }
}

/// Counts the requests in flight. A request ends when its caller disconnects.
struct RequestInFlight(Arc<AtomicUsize>);

impl Drop for RequestInFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn wait_until(event: &str, has_happened: impl Fn() -> bool) {
    let waiting = async {
        while !has_happened() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap_or_else(|_| panic!("{event}"));
}

/// Starts a service that never answers requests for runs.
async fn serve_without_answers_for_runs(history: History) -> (Stub, Arc<AtomicUsize>) {
    let (history, in_flight) = (Arc::new(history), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&in_flight);
    let stub = Stub::start(move |target| {
        let (history, seen) = (Arc::clone(&history), Arc::clone(&seen));
        async move {
            if target.contains("/runs/") {
                seen.fetch_add(1, Ordering::SeqCst);
                let _request = RequestInFlight(seen);
                std::future::pending::<()>().await;
            }
            history.answer(&target)
        }
    });

    (stub.await, in_flight)
}

#[tokio::test]
async fn cancelling_ends_all_requests() {
    let (stub, in_flight) = serve_without_answers_for_runs(History::new(&mixed_results(250))).await;
    let mut session = fixture().open_with(stub).await;
    let call = json!({"name": TOOL, "arguments": execution(&uuid(0xe, 0))});
    let id = session.host.start("tools/call", call).await;

    wait_until("eight runs are requested", || in_flight.load(Ordering::SeqCst) == 8).await;
    let requests = session.service.requests().len();
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});

    session.host.send(&cancel).await;
    wait_until("the requests have ended", || in_flight.load(Ordering::SeqCst) == 0).await;
    session.host.request("ping", json!({})).await;

    assert_eq!(session.service.requests().len(), requests, "no request after the cancellation");
}

/// Both projects of the sandbox.
const BOTH_PROJECTS: (&str, &str) = ("TAS_PROJECTS", "demo,arena");

#[tokio::test]
async fn the_project_follows_from_the_id_with_one_lookup() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).variables(&[BOTH_PROJECTS]).open().await;
    let summary = host.succeed(TOOL, execution(ARENA_EXECUTION)).await;

    assert_eq!(summary["verdicts"], json!({"FAILED": 1, "SUCCESS": 1}));
    assert_eq!(summary["failures"][0]["run_ids"], json!([ARENA_RUN_FAILED]));
    assert_eq!(summary["project_id"], "arena");

    // The runs of a list belong to the project of the list, so that they need no lookup.
    let requests = service.requests().await;
    let arena_requests = requests.iter().filter(|one| one.contains("/project/arena/")).count();
    let run = format!("GET /project/arena/runs/{ARENA_RUN_FAILED}");

    assert_eq!(arena_requests, 6, "look-up, execution, jobs, runs, run, bugs: {requests:?}");
    assert_eq!(requests[requests.len() - 2..], [format!("{run} 200"), format!("{run}/bugs 200")]);
    assert!(requests.len() <= 7, "{requests:?}");
}

#[tokio::test]
async fn an_earlier_result_of_another_project_is_a_mismatch() {
    for with in [ARENA_EXECUTION, ARENA_JOB_FAILED, ARENA_RUN_FAILED] {
        let Session { service: _service, mut host, .. } =
            Fixture::new().key(keys::ORGANIZATION).variables(&[BOTH_PROJECTS]).open().await;
        let error = host.fail(TOOL, against(execution(EXECUTION_COMPLETED), with)).await;
        assert_eq!(error["code"], "project_scope_mismatch", "{error}");
        assert_eq!(
            [&error["details"]["requested_project"], &error["details"]["owning_project"]],
            ["demo", "arena"]
        );
    }
}

#[tokio::test]
async fn a_project_that_does_not_own_the_id_is_a_mismatch() {
    for key in [keys::ORGANIZATION, keys::DEMO] {
        let Session { service: _service, mut host, .. } =
            Fixture::new().key(key).variables(&[BOTH_PROJECTS]).open().await;
        let mut arguments = execution(EXECUTION_COMPLETED);
        arguments["project_id"] = json!("arena");
        let error = host.fail(TOOL, arguments).await;
        let codes = [json!("project_scope_mismatch"), json!("permission_denied")];
        assert!(codes.contains(&error["code"]), "{error}");
    }
}

#[tokio::test]
async fn a_named_project_takes_no_further_lookup() {
    for (key, variables) in [
        (keys::DEMO, vec![]),
        (keys::ORGANIZATION, vec![BOTH_PROJECTS]),
        (keys::DEMO, vec![("TAS_PROJECT_ID", "demo")]),
    ] {
        let Session { service, mut host, .. } = Fixture::new().key(key).variables(&variables).open().await;
        let mut arguments = against(execution(EXECUTION_IN_PROGRESS), EXECUTION_COMPLETED);
        arguments["project_id"] = json!("demo");

        let summary = host.succeed(TOOL, arguments).await;

        assert_eq!(summary["comparison"]["with"]["target_id"], EXECUTION_COMPLETED);

        let requests = service.requests().await;

        assert!(requests.iter().all(|one| one.contains("/project/")), "{requests:?}");

        let job_lists = requests.iter().filter(|one| one.contains("/jobs?")).count();

        assert_eq!(job_lists, 2, "{requests:?}");
        assert!(requests.len() <= 12, "{requests:?}");
    }
}
