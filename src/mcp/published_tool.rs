//! A tool as `tools/list` shows it.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::report_view;
use crate::{
    fields::Fields,
    service::{
        schema,
        tool::{
            self, CONFIRM, CONFIRM_DESCRIPTION, FIELDS, FIELDS_DESCRIPTION, PROJECT_ID,
            PROJECT_ID_DESCRIPTION,
        },
    },
    tools::{offered_text::offered_text, selection::Selection},
};

/// Description of an argument whose value only tools that are not offered return.
const NO_SOURCE: &str = "Ask the person for it.";

/// Returns `tool` as hosts receive it. In global scope the tool also takes `project_id`. The descriptions name only the tools
/// that `selection` offers.
pub fn published_tool(tool: &tool::Tool, is_global: bool, selection: &Selection) -> Tool {
    let effect = tool.effect;
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(effect.is_read_only())
        .destructive(effect.is_destructive())
        .idempotent(effect.is_idempotent())
        // Every tool depends on the service, which other people change, too.
        .open_world(true);
    let description = offered_text(tool.description(), selection);
    let input = input_schema(tool, is_global, selection);
    let published = Tool::new(tool.name, description, Arc::new(input))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(schema::published_answer(tool.output_schema())))
        .with_annotations(annotations);

    if tool.has_view { published.with_meta(report_view::tool_metadata()) } else { published }
}

/// Returns the schema of the arguments of a tool with the arguments that several tools share.
fn input_schema(tool: &tool::Tool, is_global: bool, selection: &Selection) -> Fields {
    let describe = |text: &str| match offered_text(text, selection) {
        nothing if nothing.is_empty() => NO_SOURCE.to_owned(),
        offered => offered,
    };
    let mut schema = schema::published(tool.input_schema(), &describe);
    let properties = schema.entry("properties").or_insert_with(|| json!({}));

    if let Value::Object(properties) = properties {
        if tool.confirmation_question.is_some() {
            let schema = json!({"type": "boolean", "description": CONFIRM_DESCRIPTION});
            properties.insert(CONFIRM.to_owned(), schema);
        }
        if tool.takes_fields() {
            properties
                .insert(FIELDS.to_owned(), json!({"type": "string", "description": FIELDS_DESCRIPTION}));
        }
        if is_global {
            let schema = json!({"type": "string", "description": PROJECT_ID_DESCRIPTION});
            properties.insert(PROJECT_ID.to_owned(), schema);
        }
    }

    schema
}
