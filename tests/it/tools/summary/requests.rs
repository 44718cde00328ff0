//! The requests of a summary: only those that are needed, at most eight at once, and none after the end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;

use super::{
    TOOL, against, execution, fixture,
    history::{History, Test, uuid},
};
use crate::support::stub::Stub;

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
    let mut history = History::new(&mixed_results(900));
    history.add(&mixed_results(900));

    for held in [
        |target: &str| target.contains("/runs/"),
        |target: &str| target.contains("/jobs?") && !target.contains("page=0&"),
    ] {
        let (stub, maximum) = history.clone().serve_together(held).await;
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
