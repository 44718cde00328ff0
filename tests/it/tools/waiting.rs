//! Waiting for runs, through the tool and the command line (service.md 3.3, 15). Time is simulated: it passes during
//! pauses.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use crate::support::fixture::Session;

mod command;
mod failures;
mod lists;
mod progress;
mod requests;
mod rules;
mod starts;
mod targets;
mod time_limit;
mod verdicts;

const TOOL: &str = "wait_for_completion";

impl Session {
    /// Waits without progress.
    async fn wait(&mut self, arguments: Value) -> Value {
        self.host.succeed(TOOL, arguments).await
    }

    /// Waits with a progress token. Returns the result and the progress notifications.
    async fn wait_with_progress(&mut self, arguments: Value) -> (Value, Vec<Value>) {
        let params = json!({"name": TOOL, "arguments": arguments, "_meta": {"progressToken": "t"}});
        let id = self.host.start("tools/call", params).await;
        let mut notifications = Vec::new();

        loop {
            let message = self.host.receive().await;
            if message["id"] == id {
                let result = &message["result"];
                assert_ne!(result["isError"], true, "{result}");
                return (result["structuredContent"].clone(), notifications);
            }

            assert_eq!(
                (&message["method"], &message["params"]["progressToken"]),
                (&json!("notifications/progress"), &json!("t"))
            );

            notifications.push(message["params"].clone());
        }
    }

    /// Starts `instances` of a test. Returns the ids of the jobs.
    async fn start_jobs(&mut self, test: &str, retries: u8, instances: u8) -> Vec<Value> {
        let start = json!({
            "multiplayer_test_id": test, "deployment_config_id": seed::CONFIG_PHONES, "retries": retries,
            "instances": instances, "confirm": true,
        });
        self.host.succeed("start_run", start).await["job_ids"].as_array().expect("ids").clone()
    }
}

/// Returns some fields of each entry of a list.
fn rows(list: &Value, names: &[&str]) -> Vec<Vec<Value>> {
    let row = |entry: &Value| names.iter().map(|name| entry[name].clone()).collect();
    list.as_array().expect("a list").iter().map(row).collect()
}
