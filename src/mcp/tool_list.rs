//! A tool as `tools/list` shows it.
//!
//! The folder `tools/` shows every tool with the names of all tools in its texts. A test writes and compares the files.

use std::{panic::resume_unwind, sync::Arc, thread};

use indexmap::IndexSet;
use rmcp::model::{Tool, ToolAnnotations};
use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::report_view;
use crate::{
    call::reply::INCOMPLETE,
    fields::Fields,
    service::{
        schema,
        tool::{CONFIRM, DRY_RUN, FIELDS, PROJECT_ID, ToolDefinition},
    },
    text::guidance::{OfferedTools, for_caller},
};

/// Description of an argument whose value only tools that are not offered return.
const NO_SOURCE: &str = "Ask the person for it.";

/// Returns `tools` as hosts receive them, as [`published_tool`] does.
pub fn published_tools<'a>(
    tools: impl IntoIterator<Item = &'a ToolDefinition>,
    is_global: bool,
    offered: &dyn OfferedTools,
) -> Vec<Tool> {
    let tools: Vec<_> = tools.into_iter().collect();
    let publish_all = |tools: &[&ToolDefinition]| -> Vec<_> {
        let mut types = schema::answer_types();
        tools.iter().map(|tool| publish(tool, &mut types, is_global, offered)).collect()
    };

    // The schemas take most of the time of a start, which two threads halve. The last tools have the largest answers.
    let (first, others) = tools.split_at(tools.len() * 2 / 3);
    thread::scope(|scope| {
        let others = scope.spawn(|| publish_all(others));
        let mut published = publish_all(first);
        published.extend(others.join().unwrap_or_else(|panic| resume_unwind(panic)));
        published
    })
}

/// Returns a tool as hosts receive it. In global scope it also takes `project_id`. The descriptions name only the tools
/// that are `offered`.
pub fn published_tool(tool: &ToolDefinition, is_global: bool, offered: &dyn OfferedTools) -> Tool {
    publish(tool, &mut schema::answer_types(), is_global, offered)
}

fn publish(
    tool: &ToolDefinition,
    types: &mut SchemaGenerator,
    is_global: bool,
    offered: &dyn OfferedTools,
) -> Tool {
    let effect = tool.effect;
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(effect.is_read_only())
        .destructive(effect.is_destructive())
        .idempotent(effect.is_idempotent())
        // Every tool depends on the service, which other people change, too.
        .open_world(true);
    let answer = tool.published_output_schema(types);
    let mut input = input_schema(tool, &answer, is_global);
    input.values_mut().for_each(|value| name_offered_tools(value, offered));

    let description = tool.description().for_caller(offered).unwrap_or_default();
    let published = Tool::new(tool.name, description, Arc::new(input))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(answer))
        .with_annotations(annotations);

    if tool.has_view { published.with_meta(report_view::tool_metadata()) } else { published }
}

/// Lets the descriptions of arguments name only the tools that are offered.
fn name_offered_tools(schema: &mut Value, offered: &dyn OfferedTools) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| name_offered_tools(schema, offered)),
        Value::Object(keywords) => {
            if let Some(Value::String(text)) = keywords.get_mut("description") {
                *text = for_caller(text, offered).unwrap_or_else(|| NO_SOURCE.to_owned());
            }
            keywords.values_mut().for_each(|schema| name_offered_tools(schema, offered));
        }
        _ => {}
    }
}

/// Returns the description of the argument [`FIELDS`]. The schema of the answer is `answer`.
fn fields_description(tool: &ToolDefinition, answer: &Fields) -> String {
    let records = schema::object_below(answer, schema::RECORDS).unwrap_or(answer);
    let shown = tool.records.map(|keys| [keys.id, keys.times.first().copied().unwrap_or(keys.name)]);
    let all = schema::properties(records).into_iter().flat_map(Fields::keys).map(String::as_str);
    let examples: IndexSet<_> =
        shown.into_iter().flatten().chain(all).filter(|name| !INCOMPLETE.contains(name)).collect();
    let examples: Vec<_> = examples.into_iter().take(2).collect();

    format!("Only these, such as `{}`.", examples.join(","))
}

/// Returns the schema of the arguments of a tool with the arguments that several tools share. The schema of the answer
/// is `answer`.
fn input_schema(tool: &ToolDefinition, answer: &Fields, is_global: bool) -> Fields {
    let mut schema = tool.input_schema().clone();
    schema::publish(&mut schema);
    let properties = schema.entry("properties").or_insert_with(|| json!({}));

    if let Value::Object(properties) = properties {
        let mut add = |name: &str, kind: &str, description: &str| {
            properties.insert(name.to_owned(), json!({"type": kind, "description": description}));
        };
        if tool.confirmation_question.is_some() {
            add(CONFIRM, "boolean", "A person agreed.");
        }
        if tool.takes_dry_run() {
            add(DRY_RUN, "boolean", "Changes nothing.");
        }
        if tool.takes_fields() {
            add(FIELDS, "string", &fields_description(tool, answer));
        }
        if is_global {
            add(PROJECT_ID, "string", "If no id decides it.");
        }
    }

    schema
}
