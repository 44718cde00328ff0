//! Long waits as tasks (extension `io.modelcontextprotocol/tasks`). The simulated time advances the sandbox, too.

use std::time::Duration;

use serde_json::{Value, json};
use tas_mcp::{
    clock::Clock as _,
    sandbox::{keys, seed},
};

use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
};

mod cancelling;
mod identity;
mod library;
mod offering;
mod pauses;
mod results;

const TOOL: &str = "wait_for_completion";

/// Returns a fixture with simulated time. Its sessions are connected only: hosts that support tasks do not initialize.
fn fixture() -> Fixture {
    Fixture::new().simulated_time()
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

/// Returns the id of a task.
fn task_id(task: &Value) -> String {
    task["taskId"].as_str().expect("an id").to_owned()
}

impl Session {
    /// Lets time pass, at the server and at the sandbox.
    async fn pass_seconds(&self, seconds: u64) {
        self.clock.sleep(Duration::from_secs(seconds)).await;
    }

    /// Sends a request of a host that supports tasks and returns the answer.
    async fn request_with_tasks(&mut self, method: &str, params: Value) -> Value {
        self.host.request(method, modern(params, true)).await
    }

    /// Calls the wait tool and returns the result.
    async fn call_wait_tool(&mut self, arguments: Value) -> Value {
        let answer =
            self.request_with_tasks("tools/call", json!({"name": TOOL, "arguments": arguments})).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Calls the wait tool, which must create a task, and returns the id of the task.
    async fn create_task(&mut self, arguments: Value) -> String {
        let task = self.call_wait_tool(arguments).await;
        assert_eq!(task["resultType"], "task", "{task}");
        task_id(&task)
    }

    /// Returns the state of a task.
    async fn get_task(&mut self, id: &str) -> Value {
        let answer = self.request_with_tasks("tasks/get", json!({"taskId": id})).await;
        assert!(answer["error"].is_null(), "{answer}");
        assert_eq!(answer["result"]["taskId"], id);
        answer["result"].clone()
    }

    /// Replaces the server by another one, which has no state of the first.
    fn restart_server(&mut self) {
        self.host = Host::to(self.another_server(keys::DEMO, &[]));
    }

    /// Starts a test and returns the id of the job.
    async fn start_job(&mut self, test: &str) -> String {
        let arguments = json!({"multiplayer_test_id": test, "deployment_config_id": seed::CONFIG_PHONES});
        let answer =
            self.request_with_tasks("tools/call", json!({"name": "start_run", "arguments": arguments})).await;
        let job = &answer["result"]["structuredContent"]["job_ids"][0];
        job.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }
}

/// Returns the arguments of a wait that ends before its job, which takes 260 s.
async fn long_wait(session: &mut Session) -> Value {
    json!({"job_id": session.start_job(seed::TEST_DISCOVERY).await, "timeout_seconds": 200})
}
