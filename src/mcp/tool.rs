//! A tool as hosts list it.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::view;
use crate::service::{
    schema,
    tool::{self, CONFIRM, FIELDS, PROJECT_ID},
};

/// The tool; in global scope it takes `project_id` too.
pub fn published(tool: &tool::Tool, is_global: bool) -> Tool {
    let mut input = schema::published(tool.input_schema());
    let properties = input.entry("properties").or_insert_with(|| json!({}));

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

    let effect = tool.effect;
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(effect.is_read_only())
        .destructive(effect.is_destructive())
        .idempotent(effect.is_idempotent())
        .open_world(true);
    let listed = Tool::new(tool.name, tool.description().to_owned(), Arc::new(input))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::clone(tool.output_schema()))
        .with_annotations(annotations);

    if tool.has_view { listed.with_meta(view::of_tool()) } else { listed }
}
