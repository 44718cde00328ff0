//! Compares two pairs: the list of tools from the embedded files and the library's serialization of the same tools; parsing
//! with checking arguments and parsing alone. `cargo bench --bench tool_list`

mod ratio;

use std::hint::black_box;

use rmcp::model::Tool;
use serde_json::Value;
use tas_mcp::{
    mcp::published_json,
    service::arguments::{Mode, check},
    tools::{catalog, selection::Selection},
};

const ARGUMENTS: &str = r#"{"multiplayer_test_id":"3f2b8c1e-7a4d-4e59-9b60-1c2d3e4f5a6b","deployment_config_id":"c4d5e6f7-0819-4a2b-8c3d-4e5f60718293","retries":2,"additional_tags":["nightly","smoke"]}"#;

fn main() {
    compare_lists();
    compare_argument_checks();
}

fn compare_lists() {
    let selection = Selection::default_tools(false);
    let embedded = || {
        let tools = selection.tools().map(|entry| published_json(entry.tool(), true, &selection));
        drop(black_box(tools.collect::<Vec<_>>()));
    };
    let published = selection.tools().map(|entry| published_json(entry.tool(), true, &selection));
    let parsed: Vec<_> = published.filter_map(|json| serde_json::from_str::<Tool>(&json).ok()).collect();
    let serialized = || drop(black_box(serde_json::to_string(black_box(&parsed))));

    ratio::compare("tools/list of the files", 20, embedded, ("of the library's tools", serialized));
}

fn compare_argument_checks() {
    let schema = catalog::find_tool("start_run").map(|entry| entry.tool().input_schema()).cloned();
    let schema = schema.unwrap_or_default();
    let parse = || match serde_json::from_str(black_box(ARGUMENTS)) {
        Ok(Value::Object(arguments)) => arguments,
        _ => serde_json::Map::default(),
    };
    let parse_and_check = || drop(black_box(check(&schema, &mut parse(), Mode::Arguments)));
    let parse_only = || drop(black_box(parse()));

    ratio::compare("parse and check arguments", 5_000, parse_and_check, ("parse only", parse_only));
}
