//! One documented answer of an operation.

use std::{collections::BTreeMap, sync::OnceLock};

use serde_json::Value;

use super::{Named, examples, members, standalone};
use crate::support::schema::Validator;

/// The answers of one operation with one status.
pub(crate) struct Answer {
    media: BTreeMap<&'static str, Media>,
    /// Whether the body may be missing although the document shows one.
    uncertain: bool,
}

/// One content type of an answer.
struct Media {
    schema: &'static Value,
    examples: Named,
    /// Compiled at the first use.
    validator: OnceLock<Validator>,
}

impl Answer {
    pub(super) fn read(answer: &'static Value) -> Self {
        let media = members(&answer["content"]).map(|(kind, media)| {
            let examples = examples(media);
            (kind, Media { schema: &media["schema"], examples, validator: OnceLock::new() })
        });
        Self { media: media.collect(), uncertain: answer["x-uncertain"] == true }
    }

    /// Returns the schema of the JSON body, if there is one.
    pub(crate) fn schema(&self) -> Option<&'static Value> {
        self.media.get("application/json").map(|media| media.schema)
    }

    pub(super) fn examples(&self) -> Named {
        self.media.get("application/json").map(|media| media.examples.clone()).unwrap_or_default()
    }

    pub(super) fn violations(&self, content_type: Option<&str>, body: &[u8]) -> Vec<String> {
        if self.media.is_empty() {
            let broken = (!body.is_empty()).then(|| "the document has no body here".to_owned());
            return broken.into_iter().collect();
        }
        if body.is_empty() && self.uncertain {
            return Vec::new();
        }

        let essence = content_type.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        match self.media.get(essence) {
            // Raw bytes of any type.
            None if self.media.contains_key("*/*") => Vec::new(),
            None => vec![format!("content type {content_type:?} is not documented")],
            Some(_) if essence != "application/json" => Vec::new(),
            Some(media) => match serde_json::from_slice(body) {
                Ok(body) => media.violations(&body),
                Err(error) => vec![format!("the body is not JSON: {error}")],
            },
        }
    }
}

impl Media {
    fn violations(&self, body: &Value) -> Vec<String> {
        let validator = self.validator.get_or_init(|| Validator::new(&standalone(self.schema)));
        validator.violations(body)
    }
}
