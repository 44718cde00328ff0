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
    TOOL, against, execution,
    history::{History, Test, host, uuid},
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
    let stub = History::of(&mixed_results(250)).serve().await;
    host(&stub).await.succeed(TOOL, execution(&uuid(0xe, 0))).await;

    let requests = stub.requests();
    let count = |part: &str| requests.iter().filter(|one| one.contains(part)).count();

    assert_eq!(count("/test-plan-executions/"), 1);
    assert_eq!(count("/jobs?"), 3);
    assert_eq!(count("/bugs"), 25);
    assert_eq!(requests.len(), 1 + 3 + 50 + 25);
}

#[tokio::test]
async fn the_earlier_result_takes_only_lists() {
    let mut history = History::of(&mixed_results(250));
    history.add(&mixed_results(250));

    let stub = history.serve().await;
    let arguments = against(execution(&uuid(0xe, 1)), "previous");
    host(&stub).await.succeed(TOOL, arguments).await;

    let requests = stub.requests();

    assert_eq!(requests.len(), 1 + 3 + 1 + 3 + 50 + 25, "{requests:?}");
}

/// Answers for runs are delayed until eight runs are requested. With fewer concurrent requests the test would hang.
#[tokio::test]
async fn at_most_eight_requests_are_sent_at_once() {
    let mut history = History::of(&mixed_results(900));
    history.add(&mixed_results(900));

    for held in [
        |target: &str| target.contains("/runs/"),
        |target: &str| target.contains("/jobs?") && !target.contains("page=0&"),
    ] {
        let (stub, most) = history.clone().serve_together(held).await;
        host(&stub).await.succeed(TOOL, against(execution(&uuid(0xe, 1)), "previous")).await;
        assert_eq!(most.load(Ordering::SeqCst), 8);
    }
}

/// Counts the requests in flight. A request ends when its caller disconnects.
struct UnderWay(Arc<AtomicUsize>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap_or_else(|_| panic!("{what}"));
}

/// Starts a service that never answers requests for runs.
async fn serve_without_answers_for_runs(history: History) -> (Stub, Arc<AtomicUsize>) {
    let (history, under_way) = (Arc::new(history), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&under_way);
    let stub = Stub::start(move |target| {
        let (history, seen) = (Arc::clone(&history), Arc::clone(&seen));
        async move {
            if target.contains("/runs/") {
                seen.fetch_add(1, Ordering::SeqCst);
                let _here = UnderWay(seen);
                std::future::pending::<()>().await;
            }
            history.answer(&target)
        }
    });

    (stub.await, under_way)
}

#[tokio::test]
async fn cancelling_ends_all_requests() {
    let (stub, under_way) = serve_without_answers_for_runs(History::of(&mixed_results(250))).await;
    let mut host = host(&stub).await;
    let call = json!({"name": TOOL, "arguments": execution(&uuid(0xe, 0))});
    let id = host.start("tools/call", call).await;

    wait_until("eight runs are asked for", || under_way.load(Ordering::SeqCst) == 8).await;
    let asked = stub.requests().len();
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});

    host.send(&cancel).await;
    wait_until("the requests are given up", || under_way.load(Ordering::SeqCst) == 0).await;
    host.request("ping", json!({})).await;

    assert_eq!(stub.requests().len(), asked, "nothing is asked afterwards");
}
