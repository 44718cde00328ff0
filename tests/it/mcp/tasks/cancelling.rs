//! Cancelling a task during a poll.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tas_mcp::{clock::Clock as _, sandbox::seed::JOB_RUNNING};
use tokio::sync::Notify;

use super::{TOOL, modern, task_id};
use crate::support::{
    fixture::{Fixture, Session},
    stub::Stub,
};

#[tokio::test]
async fn cancelling_a_task_ends_a_poll_in_progress() {
    let (requests, poll_hangs) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (count, hanging) = (Arc::clone(&requests), Arc::clone(&poll_hangs));
    let stub = Stub::start(move |_| {
        let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
        let hanging = Arc::clone(&hanging);
        async move {
            if !is_first {
                hanging.notify_one();
                std::future::pending::<()>().await;
            }
            (200, json!({"job_id": JOB_RUNNING, "status": "RUNNING", "runs": []}))
        }
    })
    .await;

    let session = Fixture::new().simulated_time_alone().connect_with(stub);
    let Session { service: _service, clock, mut host, .. } = session;
    let arguments = json!({"job_id": JOB_RUNNING, "timeout_seconds": 7_200});
    let call = modern(json!({"name": TOOL, "arguments": arguments}), true);
    let task = task_id(&host.request("tools/call", call).await["result"]);

    clock.sleep(Duration::from_secs(60)).await;
    let params = || modern(json!({"taskId": task}), true);
    let get = host.start("tasks/get", params()).await;

    // The cancellation must arrive while the poll is in progress.
    poll_hangs.notified().await;
    let cancel = host.start("tasks/cancel", params()).await;
    let mut answers = [host.receive().await, host.receive().await];

    answers.sort_by_key(|answer| answer["id"].as_u64());

    assert_eq!([&answers[0]["id"], &answers[1]["id"]], [get, cancel]);
    assert_eq!(answers[0]["result"]["status"], "cancelled", "{answers:?}");
    assert!(answers[1]["error"].is_null(), "{answers:?}");
    assert_eq!(host.request("tasks/get", params()).await["result"]["status"], "cancelled");
    assert_eq!(requests.load(Ordering::Relaxed), 2, "the service is not polled again");
}
