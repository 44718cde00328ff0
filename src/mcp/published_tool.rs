//! A tool as `tools/list` shows it.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::report_view;
use crate::{
    fields::Fields,
    service::{
        embedded::Segment,
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

/// Returns the JSON of `tool` as hosts list it. In global scope the tool also takes `project_id`. The descriptions name only
/// the tools that `selection` offers.
pub fn published_json(tool: &tool::Tool, is_global: bool, selection: &Selection) -> String {
    let mut json = String::new();
    push_published(&mut json, tool, is_global, selection);
    json
}

/// Appends the JSON of [`published_json`].
pub(super) fn push_published(json: &mut String, tool: &tool::Tool, is_global: bool, selection: &Selection) {
    let Some(embedded) = tool.embedded() else {
        json.push_str(&json!(generated_tool(tool, is_global, selection)).to_string());
        return;
    };

    for segment in embedded.published {
        match segment {
            Segment::Fixed(fixed) => json.push_str(fixed),
            Segment::Description(text) => push_text(json, &offered_text(text, selection)),
            Segment::ArgumentDescription(text) => push_text(json, &argument_description(text, selection)),
            Segment::ProjectArgument(argument) if is_global => json.push_str(argument),
            Segment::ProjectArgument(_) => {}
        }
    }
}

fn push_text(json: &mut String, text: &str) {
    json.push_str(&json_escape_simd::escape(text));
}

fn argument_description(text: &str, selection: &Selection) -> String {
    match offered_text(text, selection) {
        nothing if nothing.is_empty() => NO_SOURCE.to_owned(),
        offered => offered,
    }
}

/// Returns the tool of [`published_json`], generated from its types instead of read from the files in `tools/`. Returns `None`
/// for a tool with files if the program is built without debug assertions.
pub fn generated_tool(tool: &tool::Tool, is_global: bool, selection: &Selection) -> Option<Tool> {
    let generated = tool.generated()?;
    let effect = tool.effect;
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(effect.is_read_only())
        .destructive(effect.is_destructive())
        .idempotent(effect.is_idempotent())
        // Every tool depends on the service, which other people change, too.
        .open_world(true);
    let description = offered_text(&generated.description, selection);
    let input = Arc::new(input_schema(tool, &generated.input, is_global, selection));
    let published = Tool::new(tool.name, description, input)
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(schema::published_answer(&generated.output)))
        .with_annotations(annotations);

    Some(if tool.has_view { published.with_meta(report_view::tool_metadata()) } else { published })
}

/// Returns the schema `own` of the arguments of a tool with the arguments that several tools share.
fn input_schema(tool: &tool::Tool, own: &Fields, is_global: bool, selection: &Selection) -> Fields {
    let describe = |text: &str| argument_description(text, selection);
    let mut schema = schema::published(own, &describe);
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
