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
    service::{
        embedded::{self, EmbeddedTool},
        schema,
        tool::ToolInfo,
    },
};

/// A tool as it is listed and checked. Dereferences to its properties.
pub struct Tool {
    /// The stated properties.
    info: ToolInfo,
    /// Whether an answer may hold pictures.
    pub has_pictures: bool,
    embedded: Option<&'static EmbeddedTool>,
    // `Tool::new` runs at compile time, where schemas cannot be generated.
    generator: Option<Generator>,
    input: OnceLock<Fields>,
    output: OnceLock<Arc<Fields>>,
    generated: OnceLock<GeneratedTool>,
}

/// Generates the schemas of a tool from its types.
#[derive(Clone, Copy)]
struct Generator {
    input: fn() -> (String, Fields),
    output: fn(&[&str]) -> Fields,
}

/// The texts of a tool that are generated from its types.
#[derive(Debug)]
pub struct GeneratedTool {
    /// The description that a model reads: the doc comment of the arguments type.
    pub description: String,
    /// The schema of the arguments, without the arguments that tools have in common.
    pub input: Fields,
    /// The schema of the answer.
    pub output: Arc<Fields>,
}

/// Folder in `tools/` of the tools that servers without local files offer in place of others.
const REMOTE: &str = "http/";

impl Tool {
    /// A tool with the properties `info` that takes `Arguments` and answers with `Answer`.
    pub const fn new<Arguments: JsonSchema, Answer: JsonSchema>(info: ToolInfo, has_pictures: bool) -> Self {
        Self::with_files_in::<Arguments, Answer>("", info, has_pictures)
    }

    /// A tool that servers without local files offer in place of another one of the same name.
    pub const fn remote<Arguments: JsonSchema, Answer: JsonSchema>(info: ToolInfo) -> Self {
        Self::with_files_in::<Arguments, Answer>(REMOTE, info, false)
    }

    const fn with_files_in<Arguments: JsonSchema, Answer: JsonSchema>(
        folder: &str,
        info: ToolInfo,
        has_pictures: bool,
    ) -> Self {
        let embedded = embedded::find(folder, info.name);
        // The generators are 1 MB of machine code, which a release build does not contain.
        let is_generated = embedded.is_none() || cfg!(debug_assertions);
        let generator = if is_generated {
            Some(Generator { input: schema::input::<Arguments>, output: schema::output::<Answer> })
        } else {
            None
        };

        Self {
            embedded,
            info,
            has_pictures,
            generator,
            input: OnceLock::new(),
            output: OnceLock::new(),
            generated: OnceLock::new(),
        }
    }

    /// Returns the files of the tool in `tools/`. A new tool has none yet: its texts are generated.
    pub fn embedded(&self) -> Option<&'static EmbeddedTool> {
        self.embedded
    }

    /// Returns the description that a model reads, with the names of all tools.
    pub fn description(&self) -> &str {
        let generated = || self.generated().map_or("", |generated| &generated.description);
        self.embedded.map_or_else(generated, |tool| tool.description)
    }

    /// Returns the schema of the arguments, without the arguments that tools have in common.
    pub fn input_schema(&self) -> &Fields {
        self.input.get_or_init(|| {
            let embedded = self.embedded.and_then(|tool| serde_json::from_str(tool.arguments).ok());
            let generated = || self.generated().map(|generated| generated.input.clone());
            embedded.or_else(generated).unwrap_or_default()
        })
    }

    /// Returns the schema of the answer.
    pub fn output_schema(&self) -> &Arc<Fields> {
        self.output.get_or_init(|| {
            let embedded = self.embedded.and_then(|tool| serde_json::from_str(tool.answer).ok());
            let generated = || self.generated().map(|generated| Arc::clone(&generated.output));
            embedded.map(Arc::new).or_else(generated).unwrap_or_default()
        })
    }

    /// Returns the texts that are generated from the types of the tool. Returns `None` for a tool with files in `tools/` if the
    /// program is built without debug assertions: the files contain the same texts.
    pub fn generated(&self) -> Option<&GeneratedTool> {
        let generator = self.generator?;

        Some(self.generated.get_or_init(|| {
            let (description, input) = (generator.input)();
            let output = Arc::new((generator.output)(self.info.required_fields));
            GeneratedTool { description, input, output }
        }))
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
