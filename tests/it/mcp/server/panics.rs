//! A panic in the handler of one request: the request is answered, and the session continues.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use serde_json::json;
use tas_mcp::{
    clock::Clock,
    mcp::Server,
    sandbox::{keys, seed},
    tools::context::CallerWithFiles,
};

use super::{MODERN, modern};
use crate::support::{host::Host, service::Service};

/// A clock that panics until it is repaired.
#[derive(Debug, Default)]
struct BrokenClock {
    is_repaired: AtomicBool,
}

impl Clock for BrokenClock {
    fn now(&self) -> Duration {
        assert!(self.is_repaired.load(Ordering::Relaxed), "the clock is broken");
        Duration::ZERO
    }

    fn timestamp(&self) -> Timestamp {
        assert!(self.is_repaired.load(Ordering::Relaxed), "the clock is broken");
        Timestamp::UNIX_EPOCH
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'_, ()> {
        panic!("the clock is broken")
    }

    fn timeout(&self, span: Duration) -> BoxFuture<'_, ()> {
        self.sleep(span)
    }
}

#[tokio::test]
async fn a_request_whose_handler_panics_is_answered() {
    let service = Service::start().await;
    let settings = service.settings(keys::DEMO, &[]);
    let mut meta = modern(MODERN);

    meta["io.modelcontextprotocol/clientCapabilities"] =
        json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let waiting = json!({"job_id": seed::JOB_RUNNING, "timeout_seconds": 600});
    let wait = json!({"name": "wait_for_completion", "arguments": waiting, "_meta": meta});
    let created = Host::connect(&settings).request("tools/call", wait.clone()).await;
    let task = json!({"taskId": created["result"]["taskId"].as_str().expect("a task"), "_meta": meta});
    let template = json!({"type": "ref/resource", "uri": "tas://projects/{project}/runs/{run}"});
    let completion = json!({"ref": template, "argument": {"name": "run", "value": ""}, "_meta": meta});
    let clock = Arc::new(BrokenClock::default());
    let tools = settings.tools_config().map(|config| CallerWithFiles::new(config).with_clock(clock.clone()));
    let mut host = Host::to(Server::new(tools, &settings));

    for (method, params) in [
        ("tools/call", &wait),
        ("completion/complete", &completion),
        ("tasks/get", &task),
        ("tasks/cancel", &task),
    ] {
        let answer = host.request(method, params.clone()).await;
        assert_eq!(answer["error"]["code"], -32603, "{method}: {answer}");
        assert_eq!(answer["error"]["message"], format!("{method}: internal error"));
    }

    clock.is_repaired.store(true, Ordering::Relaxed);
    let params = json!({"name": "get_run", "arguments": {"run_id": seed::RUN_FAILED}, "_meta": meta});
    let answer = host.request("tools/call", params).await;

    assert_eq!(answer["result"]["structuredContent"]["multiplayer_run_id"], seed::RUN_FAILED, "{answer}");
}
