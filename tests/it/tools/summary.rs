//! What became of runs, as callers of `summarize_results` see it: against the sandbox, and against a service whose
//! history a test makes up.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use crate::support::{host::Host, service::Service};

mod bounds;
mod command;
mod comparing;
mod failing;
mod history;
mod kinds;
mod missing;
mod nameless;
mod offsets;
mod order;
mod projects;
mod requests;
mod signature;
mod timing;
mod verdicts;

const TOOL: &str = "summarize_results";

/// A server in front of a sandbox, with the key of `demo`.
async fn open() -> (Service, Host) {
    let service = Service::start().await;
    let host = history::patient(&service.settings(keys::DEMO, &[("TAS_TOOLSETS", "all")])).await;
    (service, host)
}

fn execution(id: &str) -> Value {
    json!({"test_plan_execution_id": id})
}

/// The arguments, with what to compare with.
fn against(mut arguments: Value, with: &str) -> Value {
    arguments["compare_with"] = json!(with);
    arguments
}

/// Characters of the compact JSON.
fn characters(summary: &Value) -> usize {
    summary.to_string().chars().count()
}

/// A field of each entry of a list.
fn each(list: &Value, pointer: &str) -> Vec<Value> {
    let field = |entry: &Value| entry.pointer(pointer).cloned().unwrap_or_default();
    list.as_array().expect("a list").iter().map(field).collect()
}
