//! Requests to the service: what is sent, repeated, refused, and made of answers.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

mod address;
mod bodies;
mod connections;
mod encoding;
mod hostile_service;
mod key_store;
mod proxy;
mod retries;
mod secrecy;
mod tls;
mod writing;

/// Arguments of a reading call: `get_run`.
fn run() -> Value {
    json!({"run_id": seed::RUN_PASSED})
}

/// Arguments of a writing call: `start_run`.
fn start() -> Value {
    json!({"multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_WINDOWS})
}

/// An HTTP answer as it is on the wire, with a length.
fn answer(head: &str, body: &str) -> String {
    format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}
