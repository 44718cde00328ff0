//! Cancelling a task during a poll.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tas_mcp::{
    clock::Clock as _,
    sandbox::{keys, seed::JOB_RUNNING},
};
use tokio::sync::Notify;

use super::{TOOL, id, modern};
use crate::support::{fixture::server_with, host::Host, stub::Stub, time::Simulated};

#[tokio::test]
async fn cancelling_a_task_ends_a_poll_in_progress() {
    let (asked, hangs) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (count, hanging) = (Arc::clone(&asked), Arc::clone(&hangs));
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

    let (settings, clock) = (stub.settings(keys::DEMO, &[]), Simulated::alone());
    let mut host = Host::to(server_with(&settings, &clock));
    let arguments = json!({"job_id": JOB_RUNNING, "timeout_seconds": 7_200});
    let call = modern(json!({"name": TOOL, "arguments": arguments}), true);
    let task = id(&host.request("tools/call", call).await["result"]);

    clock.sleep(Duration::from_secs(60)).await;
    let of_task = || modern(json!({"taskId": task}), true);
    let get = host.start("tasks/get", of_task()).await;

    hangs.notified().await;
    let cancel = host.start("tasks/cancel", of_task()).await;
    let mut answers = [host.receive().await, host.receive().await];

    answers.sort_by_key(|answer| answer["id"].as_u64());

    assert_eq!([&answers[0]["id"], &answers[1]["id"]], [get, cancel]);
    assert_eq!(answers[0]["result"]["status"], "cancelled", "{answers:?}");
    assert!(answers[1]["error"].is_null(), "{answers:?}");
    assert_eq!(host.request("tasks/get", of_task()).await["result"]["status"], "cancelled");
    assert_eq!(asked.load(Ordering::Relaxed), 2, "the service is not polled again");
}
