//! Long waits as tasks (extension `io.modelcontextprotocol/tasks`). Time is simulated: that of the sandbox goes with
//! it.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tas_mcp::{
    clock::Clock as _,
    mcp::Server,
    sandbox::{keys, seed},
    tools::dispatcher::Dispatcher,
};

use crate::support::{host::Host, service::Service, time::Simulated};

mod cancelling;
mod course;
mod identity;
mod library;
mod offering;
mod patience;

const TOOL: &str = "wait_for_completion";

/// A service, a server in front of it, and the time of both.
struct Scene {
    service: Arc<Service>,
    clock: Arc<Simulated>,
    host: Host,
}

async fn open() -> Scene {
    open_with(&[]).await
}

async fn open_with(more: &[(&str, &str)]) -> Scene {
    let service = Arc::new(Service::start().await);
    let clock = Simulated::of(&service);
    let host = Host::to(server(&service, &clock, keys::DEMO, more));
    Scene { service, clock, host }
}

fn server(service: &Arc<Service>, clock: &Arc<Simulated>, key: &str, more: &[(&str, &str)]) -> Server {
    let settings = service.settings(key, more);
    Server::new(Dispatcher::new(settings.tools_config()).with_clock(clock.clone()), &settings)
}

/// Adds to parameters what a request of the newest revision says of its client.
fn modern(mut params: Value, is_able: bool) -> Value {
    let extensions = if is_able { json!({"io.modelcontextprotocol/tasks": {}}) } else { json!({}) };
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

impl Scene {
    async fn pass(&self, seconds: u64) {
        self.clock.sleep(Duration::from_secs(seconds)).await;
    }

    /// The answer to a request of a host that can have tasks.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.host.request(method, modern(params, true)).await
    }

    /// What comes of a wait.
    async fn wait(&mut self, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": TOOL, "arguments": arguments})).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// The id of the task that a wait becomes.
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

    /// The same service behind another server, which knows nothing of this one.
    fn restart(&mut self) {
        self.host = Host::to(server(&self.service, &self.clock, keys::DEMO, &[]));
    }

    /// Starts a test; the id of the job.
    async fn start(&mut self, test: &str) -> String {
        let arguments = json!({"multiplayer_test_id": test, "deployment_config_id": seed::CONFIG_PHONES});
        let answer = self.ask("tools/call", json!({"name": "start_run", "arguments": arguments})).await;
        let job = &answer["result"]["structuredContent"]["job_ids"][0];
        job.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }
}

/// A wait that is over before its job: that takes 260 s.
async fn long(scene: &mut Scene) -> Value {
    json!({"job_id": scene.start(seed::TEST_DISCOVERY).await, "timeout_seconds": 200})
}
