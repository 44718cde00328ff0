//! An operation as hosts list it.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::{
    catalog::Entry,
    gateway::{CONFIRM, FIELDS, PROJECT_ID},
    schema,
};

/// The tool of an operation; in global scope it takes `project_id` too.
pub fn published(entry: &Entry, is_global: bool) -> Tool {
    let mut input = schema::published(entry.input_schema());
    let properties = input.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        if entry.confirm.is_some() {
            let description = "`true`: a person agreed to the cost or loss.";
            properties.insert(CONFIRM.to_owned(), json!({"type": "boolean", "description": description}));
        }
        if entry.takes_fields() {
            let names = json!({"type": "array", "items": {"type": "string"}});
            properties.insert(FIELDS.to_owned(), names);
        }
        if is_global {
            properties.insert(PROJECT_ID.to_owned(), json!({"type": "string"}));
        }
    }
    let effect = entry.effect;
    let annotations = ToolAnnotations::with_title(entry.title)
        .read_only(effect.is_read_only())
        .destructive(effect.is_destructive())
        .idempotent(effect.is_idempotent())
        .open_world(true);
    Tool::new(entry.name, entry.description().to_owned(), Arc::new(input))
        .with_title(entry.title)
        .with_raw_output_schema(Arc::new(entry.output_schema().clone()))
        .with_annotations(annotations)
}
