//! `summarize_results` against the sandbox, and against a service with invented records.

use serde_json::{Value, json};

use crate::support::fixture::Fixture;

mod comparison;
mod history;
mod last_results;
mod latest;
mod omissions;
mod order;
mod requests;
mod result_kinds;
mod size_limit;
mod time_limit;
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

/// Returns name, verdict and earlier verdict of each entry.
fn changes(list: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let all = [each(list, "/test/name"), each(list, "/verdict"), each(list, "/was")];
    (0..all[0].len()).map(|place| all.each_ref().map(|list| text(&list[place])).join(" ")).collect()
}

/// Returns the number of entries of a list in the whole summary, also if the reply was cut.
fn whole_length(summary: &Value, pointer: &str) -> usize {
    let cuts = summary["truncated"]["cuts"].as_array().into_iter().flatten();
    let omitted =
        cuts.filter(|cut| cut["path"] == pointer).filter_map(|cut| cut["omitted"].as_u64()).sum::<u64>();
    let entries = summary.pointer(pointer).and_then(Value::as_array).map_or(0, Vec::len);
    entries + usize::try_from(omitted).expect("a number")
}
