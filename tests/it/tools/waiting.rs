//! Waiting for runs, through the tool and the command line (supplement 3.3, 15). Time is simulated: it passes during
//! pauses.

use std::sync::Arc;

use serde_json::{Value, json};
use tas_mcp::{
    mcp::Server,
    sandbox::{keys, seed},
    tools::dispatcher::Dispatcher,
};

use crate::support::{host::Host, service::Service, time::Simulated};

mod command;
mod failures;
mod junit;
mod list_order;
mod lists;
mod progress;
mod requests;
mod rules;
mod starts;
mod targets;
mod time_limit;
mod verdicts;

const TOOL: &str = "wait_for_completion";

/// A service, a server in front of it, and the clock of both.
struct Scene {
    service: Arc<Service>,
    clock: Arc<Simulated>,
    host: Host,
}

/// Opens a scene with the key of the project `demo`.
async fn open() -> Scene {
    open_with(keys::DEMO, &[]).await
}

async fn open_with(key: &str, more: &[(&str, &str)]) -> Scene {
    let service = Arc::new(Service::start().await);
    let clock = Simulated::of(&service);
    let settings = service.settings(key, more);
    let server = Server::new(Dispatcher::new(settings.tools_config()).with_clock(clock.clone()), &settings);
    let mut host = Host::to(server);

    host.initialize("2025-11-25").await;

    Scene { service, clock, host }
}

impl Scene {
    /// Waits without progress.
    async fn wait(&mut self, arguments: Value) -> Value {
        self.host.succeed(TOOL, arguments).await
    }

    /// Waits with a progress token. Returns the result and the progress notifications.
    async fn watch(&mut self, arguments: Value) -> (Value, Vec<Value>) {
        let params = json!({"name": TOOL, "arguments": arguments, "_meta": {"progressToken": "t"}});
        let id = self.host.start("tools/call", params).await;
        let mut told = Vec::new();

        loop {
            let message = self.host.receive().await;
            if message["id"] == id {
                let result = &message["result"];
                assert_ne!(result["isError"], true, "{result}");
                return (result["structuredContent"].clone(), told);
            }

            assert_eq!(
                (&message["method"], &message["params"]["progressToken"]),
                (&json!("notifications/progress"), &json!("t"))
            );

            told.push(message["params"].clone());
        }
    }

    /// Starts `instances` of a test. Returns the ids of the jobs.
    async fn start(&mut self, test: &str, retries: u8, instances: u8) -> Vec<Value> {
        let start = json!({
            "multiplayer_test_id": test, "deployment_config_id": seed::CONFIG_PHONES, "retries": retries,
            "instances": instances,
        });
        self.host.succeed("start_run", start).await["job_ids"].as_array().expect("ids").clone()
    }
}

/// Returns some fields of each entry of a list.
fn rows(list: &Value, names: &[&str]) -> Vec<Vec<Value>> {
    let row = |entry: &Value| names.iter().map(|name| entry[name].clone()).collect();
    list.as_array().expect("a list").iter().map(row).collect()
}
