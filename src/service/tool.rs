//! What hosts and people see of a tool, whatever stands behind it: one operation of the service, or work of several
//! requests that is done here.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::{
    fields::Fields,
    service::{
        operation::{Access, Effect, Tier, Toolset},
        rule::Rule,
    },
};

/// Argument of every tool in global scope; project scope accepts it too, to refuse another project.
pub const PROJECT_ID: &str = "project_id";

/// Argument of tools that may be irreversible or costly: a person has agreed.
pub const CONFIRM: &str = "confirm";

/// Argument of tools that read: what of the answer is wanted, as dotted names with commas between them.
pub const FIELDS: &str = "fields";

/// A tool as it is listed and checked.
pub struct Tool {
    /// Unique name.
    pub name: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// What calling it does to the service.
    pub effect: Effect,
    /// Set of tools that it belongs to.
    pub toolset: Toolset,
    /// Whether it is offered by default.
    pub tier: Tier,
    /// What the key has to allow.
    pub access: Access,
    /// Rules of the service that a schema cannot say.
    pub rules: &'static [Rule],
    /// Rules of our own.
    pub own_rules: &'static [Rule],
    /// Fields without which an answer is none of this tool.
    pub essential: &'static [&'static str],
    /// For arguments that are irreversible or costly: what would happen.
    pub confirm: Option<fn(&Fields) -> Option<String>>,
    /// What to do when nobody knows whether a call happened.
    pub in_doubt: Option<&'static str>,
    /// Whether a caller can say which fields of the answer are wanted.
    pub takes_fields: bool,
    /// Whether an answer may hold pictures.
    pub has_pictures: bool,
    /// Whether hosts that show pages have one for its answer.
    pub has_view: bool,
    pub(crate) input: fn() -> (String, Fields),
    pub(crate) output: fn(&[&str]) -> Fields,
    pub(crate) schemas: Schemas,
}

/// Generated once, when first asked for.
pub(crate) type Schemas = OnceLock<Generated>;

/// The texts of a tool.
#[derive(Debug)]
pub(crate) struct Generated {
    description: String,
    input: Fields,
    output: Arc<Fields>,
}

impl Tool {
    /// What the tool is for, as a model reads it.
    pub fn description(&self) -> &str {
        &self.generated().description
    }

    /// Schema of the arguments, without those that all tools have.
    pub fn input_schema(&self) -> &Fields {
        &self.generated().input
    }

    /// Schema of the answer.
    pub fn output_schema(&self) -> &Arc<Fields> {
        &self.generated().output
    }

    /// The message for a call of a tool that the setting `setting` switches off.
    pub fn switched_off_by(&self, setting: &str) -> String {
        format!("`{}` is switched off by the setting {setting}", self.name)
    }

    /// Whether a caller can say which page of a list is wanted, and of how many records.
    pub fn takes_pages(&self) -> bool {
        ["page", "page_size"].iter().all(|argument| has(self.input_schema(), argument).is_some())
    }

    /// Whether its answer holds records in a field `list`.
    pub fn answers_with(&self, list: &str) -> bool {
        has(self.output_schema(), list).is_some_and(|field| field.get("type") == Some(&Value::from("array")))
    }

    fn generated(&self) -> &Generated {
        self.schemas.get_or_init(|| {
            let (description, input) = (self.input)();
            Generated { description, input, output: Arc::new((self.output)(self.essential)) }
        })
    }
}

/// The schema of a field that an object has.
fn has<'a>(schema: &'a Fields, field: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(field)
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}
