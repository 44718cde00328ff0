//! A tool as `tools/list` shows it.
//!
//! The folder `tools/` has one file for each tool, which the program contains: to read it takes a fraction of the time and of the
//! memory that the generation of the schemas takes. A test generates the files from the doc comments.

use std::sync::Arc;

use include_dir::Dir;
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
    tools::{catalog, offered_text::offered_text, selection::Selection},
};

/// The tools as hosts receive them in global scope, with the names of all tools in their texts. The folder `http` has the
/// tools that servers without local files offer in place of others.
static FILES: Dir<'_> = include_dir::include_dir!("$CARGO_MANIFEST_DIR/tools");

/// Description of an argument whose value only tools that are not offered return.
const NO_SOURCE: &str = "Ask the person for it.";

/// Returns `tool` as hosts receive it. In global scope the tool also takes `project_id`. The descriptions name only the tools
/// that `selection` offers.
pub fn published_tool(tool: catalog::Tool, is_global: bool, selection: &Selection) -> Tool {
    let mut published = read_tool(tool).unwrap_or_else(|| generated_tool(tool.info));
    published.description = published.description.map(|text| offered_text(&text, selection).into());

    let input = Arc::make_mut(&mut published.input_schema);
    if !is_global && let Some(Value::Object(properties)) = input.get_mut("properties") {
        properties.shift_remove(PROJECT_ID);
    }
    input.values_mut().for_each(|value| keep_offered(value, selection));

    published
}

/// Reads the file of a tool. Returns `None` for a tool that is new and has no file yet.
fn read_tool(tool: catalog::Tool) -> Option<Tool> {
    serde_json::from_slice(file(tool)?).ok()
}

fn file(tool: catalog::Tool) -> Option<&'static [u8]> {
    let folder = if tool.is_remote() { "http/" } else { "" };
    FILES.get_file(format!("{folder}{}.json", tool.name)).map(include_dir::File::contents)
}

/// Removes what the descriptions of arguments say about tools that are not offered.
fn keep_offered(schema: &mut Value, selection: &Selection) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| keep_offered(schema, selection)),
        Value::Object(keywords) => {
            if let Some(Value::String(text)) = keywords.get_mut("description") {
                let offered = offered_text(text, selection);
                *text = if offered.is_empty() { NO_SOURCE.to_owned() } else { offered };
            }
            keywords.values_mut().for_each(|schema| keep_offered(schema, selection));
        }
        _ => {}
    }
}

/// Returns the content of the file of `tool`, made of the doc comments and the types of the tool.
pub fn generated_tool(tool: &'static tool::ToolDefinition) -> Tool {
    let effect = tool.effect;
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(effect.is_read_only())
        .destructive(effect.is_destructive())
        .idempotent(effect.is_idempotent())
        // Every tool depends on the service, which other people change, too.
        .open_world(true);
    let generated = Tool::new(tool.name, tool.description(), Arc::new(input_schema(tool)))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(schema::published_answer(tool.output_schema())))
        .with_annotations(annotations);

    if tool.has_view { generated.with_meta(report_view::tool_metadata()) } else { generated }
}

/// Returns the schema of the arguments of a tool with the arguments that several tools share.
fn input_schema(tool: &tool::ToolDefinition) -> Fields {
    let mut schema = schema::published(tool.input_schema());
    let properties = schema.entry("properties").or_insert_with(|| json!({}));

    if let Value::Object(properties) = properties {
        let mut add = |name: &str, kind: &str, description: &str| {
            properties.insert(name.to_owned(), json!({"type": kind, "description": description}));
        };
        if tool.confirmation_question.is_some() {
            add(CONFIRM, "boolean", CONFIRM_DESCRIPTION);
        }
        if tool.takes_fields() {
            add(FIELDS, "string", FIELDS_DESCRIPTION);
        }
        add(PROJECT_ID, "string", PROJECT_ID_DESCRIPTION);
    }

    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_read_from_its_file_without_loss() {
        let remote = catalog::tools().filter(|tool| tool.uses_local_files);
        let remote = remote.filter_map(catalog::Tool::without_local_files);

        for tool in catalog::tools().chain(remote) {
            let file = file(tool).expect("a file");
            let written: Value = serde_json::from_slice(file).expect("JSON");
            let read = read_tool(tool).expect("a tool");
            assert_eq!(serde_json::to_value(read).expect("JSON"), written, "{}", tool.name);
        }
    }
}
