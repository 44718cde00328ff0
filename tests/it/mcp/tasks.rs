//! Long waits as tasks (extension `io.modelcontextprotocol/tasks`). The simulated time advances the sandbox, too.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tas_mcp::{
    clock::Clock as _,
    mcp::Server,
    sandbox::{keys, seed},
};

use crate::support::{
    fixture::{Fixture, Session, server_with},
    host::Host,
    service::Service,
    time::Simulated,
};

mod cancelling;
mod identity;
mod library;
mod offering;
mod pauses;
mod results;

const TOOL: &str = "wait_for_completion";

/// A session of a host that supports tasks. Time is simulated.
struct TaskSession {
    service: Arc<Service>,
    clock: Arc<Simulated>,
    host: Host,
}

async fn open() -> TaskSession {
    open_with(&[]).await
}

async fn open_with(variables: &[(&str, &str)]) -> TaskSession {
    let session = Fixture::new().variables(variables).simulated_time().connect().await;
    let Session { service, clock, host, .. } = session;
    TaskSession { service, clock, host }
}

/// Returns another server for the same service, with the key `key` and the same time.
fn server(session: &TaskSession, key: &str) -> Server {
    server_with(&session.service.settings(key, &[]), &session.clock)
}

/// Adds the metadata of a request in the newest revision to parameters.
fn modern(mut params: Value, supports_tasks: bool) -> Value {
    let extensions = if supports_tasks { json!({"io.modelcontextprotocol/tasks": {}}) } else { json!({}) };
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"extensions": extensions},
    });
    params
}

fn id(task: &Value) -> String {
    task["taskId"].as_str().expect("an id").to_owned()
}

impl TaskSession {
    async fn pass(&self, seconds: u64) {
        self.clock.sleep(Duration::from_secs(seconds)).await;
    }

    /// Sends a request of a host that supports tasks and returns the answer.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.host.request(method, modern(params, true)).await
    }

    /// Calls the wait tool and returns the result.
    async fn wait(&mut self, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": TOOL, "arguments": arguments})).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Calls the wait tool, which must create a task, and returns the id of the task.
    async fn begin(&mut self, arguments: Value) -> String {
        let task = self.wait(arguments).await;
        assert_eq!(task["resultType"], "task", "{task}");
        id(&task)
    }

    async fn get(&mut self, id: &str) -> Value {
        let answer = self.ask("tasks/get", json!({"taskId": id})).await;
        assert!(answer["error"].is_null(), "{answer}");
        assert_eq!(answer["result"]["taskId"], id);
        answer["result"].clone()
    }

    /// Replaces the server by another one, which has no state of the first.
    fn restart(&mut self) {
        self.host = Host::to(server(self, keys::DEMO));
    }

    /// Starts a test and returns the id of the job.
    async fn start(&mut self, test: &str) -> String {
        let arguments = json!({"multiplayer_test_id": test, "deployment_config_id": seed::CONFIG_PHONES});
        let answer = self.ask("tools/call", json!({"name": "start_run", "arguments": arguments})).await;
        let job = &answer["result"]["structuredContent"]["job_ids"][0];
        job.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }
}

/// Returns the arguments of a wait that ends before its job, which takes 260 s.
async fn long_wait(session: &mut TaskSession) -> Value {
    json!({"job_id": session.start(seed::TEST_DISCOVERY).await, "timeout_seconds": 200})
}
