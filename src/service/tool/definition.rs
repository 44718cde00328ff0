//! A tool with its generated schemas.

use std::{
    fmt::{Debug, Formatter},
    ops::Deref,
    sync::{Arc, OnceLock},
};

use schemars::JsonSchema;
use serde_json::Value;

use crate::{
    fields::Fields,
    service::{schema, tool::ToolInfo},
};

/// A tool as it is listed and checked. Dereferences to its properties.
pub struct Tool {
    /// The stated properties.
    info: ToolInfo,
    /// Whether an answer may hold pictures.
    pub has_pictures: bool,
    input: fn() -> (String, Fields),
    output: fn(&[&str]) -> Fields,
    // `Tool::new` runs at compile time, where schemas cannot be generated.
    generated: OnceLock<GeneratedSchemas>,
}

/// The texts of a tool that are generated from its types, on first use.
#[derive(Debug)]
struct GeneratedSchemas {
    description: String,
    input: Fields,
    output: Arc<Fields>,
}

impl Tool {
    /// A tool with the properties `info` that takes `Arguments` and answers with `Answer`.
    pub const fn new<Arguments: JsonSchema, Answer: JsonSchema>(info: ToolInfo, has_pictures: bool) -> Self {
        Self {
            info,
            has_pictures,
            input: schema::input::<Arguments>,
            output: schema::output::<Answer>,
            generated: OnceLock::new(),
        }
    }

    /// Returns the description that a model reads: the doc comment of the arguments type.
    pub fn description(&self) -> &str {
        &self.generated().description
    }

    /// Returns the schema of the arguments, without the arguments that tools have in common.
    pub fn input_schema(&self) -> &Fields {
        &self.generated().input
    }

    /// Returns the schema of the answer.
    pub fn output_schema(&self) -> &Arc<Fields> {
        &self.generated().output
    }

    /// Returns whether a caller can select a page of the list, and its size.
    pub fn takes_pages(&self) -> bool {
        ["page", "page_size"].iter().all(|argument| property(self.input_schema(), argument).is_some())
    }

    /// Returns whether the answer holds records in an array field named `list`.
    pub fn answers_with(&self, list: &str) -> bool {
        let field = property(self.output_schema(), list);
        field.is_some_and(|field| field.get("type") == Some(&Value::from("array")))
    }

    fn generated(&self) -> &GeneratedSchemas {
        self.generated.get_or_init(|| {
            let (description, input) = (self.input)();
            let output = Arc::new((self.output)(self.info.required_fields));
            GeneratedSchemas { description, input, output }
        })
    }
}

/// Returns the schema of the property `name` of an object schema.
fn property<'a>(schema: &'a Fields, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

impl Deref for Tool {
    type Target = ToolInfo;

    fn deref(&self) -> &ToolInfo {
        &self.info
    }
}

impl Debug for Tool {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Tool").field("name", &self.info.name).finish_non_exhaustive()
    }
}
