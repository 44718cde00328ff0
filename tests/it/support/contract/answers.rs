//! One documented answer of an operation.

use std::sync::OnceLock;

use serde_json::Value;

use super::{Examples, examples, validator};
use crate::support::schema::Validator;

const JSON: &str = "application/json";

/// The answer of an operation with one status.
pub(crate) struct Answer {
    /// The content by its type, or null if there is no body.
    content: &'static Value,
    /// Whether the body may be missing although the document shows one.
    uncertain: bool,
    /// Of the JSON body; compiled at the first use.
    validator: OnceLock<Validator>,
}

impl Answer {
    pub(super) fn read(answer: &'static Value) -> Self {
        Self {
            content: &answer["content"],
            uncertain: answer["x-uncertain"] == true,
            validator: OnceLock::new(),
        }
    }

    /// Returns the schema of the JSON body, if there is one.
    pub(crate) fn schema(&self) -> Option<&'static Value> {
        self.content.get(JSON).map(|media| &media["schema"])
    }

    /// Returns the examples of the JSON body.
    pub(crate) fn examples(&self) -> Examples {
        examples(&self.content[JSON])
    }

    pub(super) fn violations(&self, content_type: Option<&str>, body: &[u8]) -> Vec<String> {
        if self.content.is_null() {
            let broken = (!body.is_empty()).then(|| "the document has no body here".to_owned());
            return broken.into_iter().collect();
        }
        if body.is_empty() && self.uncertain {
            return Vec::new();
        }

        let essence = content_type.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        match self.content.get(essence).map(|media| &media["schema"]) {
            // Raw bytes of any type.
            None if self.content.get("*/*").is_some() => Vec::new(),
            None => vec![format!("content type {content_type:?} is not documented")],
            Some(_) if essence != JSON => Vec::new(),
            Some(schema) => match serde_json::from_slice(body) {
                Ok(body) => self.validator.get_or_init(|| validator(schema)).violations(&body),
                Err(error) => vec![format!("the body is not JSON: {error}")],
            },
        }
    }
}
