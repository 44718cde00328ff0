//! A tool with its schemas.

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
    // `Tool::new` runs at compile time, where schemas cannot be generated.
    generate_input: fn() -> (String, Fields),
    generate_output: fn(&[&str]) -> Fields,
    input: OnceLock<(String, Fields)>,
    output: OnceLock<Arc<Fields>>,
}

impl Tool {
    /// A tool with the properties `info` that takes `Arguments` and answers with `Answer`.
    pub const fn new<Arguments: JsonSchema, Answer: JsonSchema>(info: ToolInfo, has_pictures: bool) -> Self {
        Self {
            info,
            has_pictures,
            generate_input: schema::input::<Arguments>,
            generate_output: schema::output::<Answer>,
            input: OnceLock::new(),
            output: OnceLock::new(),
        }
    }

    /// Returns the description that a model reads, with the names of all tools: the doc comment of the arguments type.
    pub fn description(&self) -> &str {
        &self.input().0
    }

    /// Returns the schema of the arguments, without the arguments that tools have in common.
    pub fn input_schema(&self) -> &Fields {
        &self.input().1
    }

    /// Returns the schema of the answer.
    pub fn output_schema(&self) -> &Arc<Fields> {
        self.output.get_or_init(|| Arc::new((self.generate_output)(self.info.required_fields)))
    }

    fn input(&self) -> &(String, Fields) {
        self.input.get_or_init(self.generate_input)
    }

    /// Returns whether a caller can select a page of the list, and its size.
    pub fn takes_pages(&self) -> bool {
        ["page", "page_size"].iter().all(|argument| property(self.input_schema(), argument).is_some())
    }

    /// Returns whether the answer is a page of records.
    pub fn answers_with_page(&self) -> bool {
        let field = property(self.output_schema(), schema::RECORDS);
        field.is_some_and(|field| field.get("type") == Some(&Value::from("array")))
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
