//! `summarize_results` against the sandbox, and against a service with invented records.

use serde_json::{Value, json};

use crate::support::fixture::Fixture;

mod baseline;
mod bugs;
mod command;
mod comparison;
mod history;
mod last_results;
mod latest;
mod missing_ids;
mod missing_tests;
mod omissions;
mod projects;
mod requests;
mod result_kinds;
mod shuffled_lists;
mod size_limit;
mod time_limit;
mod timestamps;
mod verdicts;

const TOOL: &str = "summarize_results";

/// Returns a fixture whose calls reach no time limit.
fn fixture() -> Fixture {
    Fixture::new().all_tools().simulated_time_alone()
}

/// Returns the arguments for the summary of an execution.
fn execution(id: &str) -> Value {
    json!({"test_plan_execution_id": id})
}

/// Adds `compare_with` to arguments.
fn against(mut arguments: Value, with: &str) -> Value {
    arguments["compare_with"] = json!(with);
    arguments
}

/// Returns the length of the compact JSON, in characters.
fn characters(summary: &Value) -> usize {
    summary.to_string().chars().count()
}

/// Returns a field of each entry of a list.
fn each(list: &Value, pointer: &str) -> Vec<Value> {
    let field = |entry: &Value| entry.pointer(pointer).cloned().unwrap_or_default();
    list.as_array().expect("a list").iter().map(field).collect()
}
