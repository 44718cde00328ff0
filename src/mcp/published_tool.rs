//! A tool as `tools/list` shows it.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::report_view;
use crate::{
    fields::Fields,
    service::{
        schema,
        tool::{self, CONFIRM, FIELDS, PROJECT_ID},
    },
};

/// Returns `tool` as hosts list it. In global scope the tool also takes `project_id`.
pub fn published_tool(tool: &tool::Tool, is_global: bool) -> Tool {
    let effect = tool.effect;
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(effect.is_read_only())
        .destructive(effect.is_destructive())
        .idempotent(effect.is_idempotent())
        // Every tool depends on the service, which other people change, too.
        .open_world(true);
    let published =
        Tool::new(tool.name, tool.description().to_owned(), Arc::new(input_schema(tool, is_global)))
            .with_title(tool.title)
            .with_raw_output_schema(Arc::clone(tool.output_schema()))
            .with_annotations(annotations);

    if tool.has_view { published.with_meta(report_view::tool_metadata()) } else { published }
}

/// Returns the schema of the arguments, with the arguments that several tools share.
fn input_schema(tool: &tool::Tool, is_global: bool) -> Fields {
    let mut schema = schema::published(tool.input_schema());
    let properties = schema.entry("properties").or_insert_with(|| json!({}));

    if let Value::Object(properties) = properties {
        if tool.confirmation_question.is_some() {
            properties.insert(CONFIRM.to_owned(), json!({"type": "boolean"}));
        }
        if tool.takes_fields() {
            properties.insert(FIELDS.to_owned(), json!({"type": "string"}));
        }
        if is_global {
            properties.insert(PROJECT_ID.to_owned(), json!({"type": "string"}));
        }
    }

    schema
}
