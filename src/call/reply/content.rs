//! The JSON object of a reply: as text that is passed on unchanged, or as a value.

use std::sync::OnceLock;

use serde_json::Value;

use super::next_page::{self, NEXT};
use crate::fields::Fields;

/// The JSON object of a reply.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// The object of the service, unchanged.
    Unchanged(Box<UnchangedText>),
    /// An object that was converted, or that this program made.
    Converted(Value),
}

/// The compact JSON of an object.
#[derive(Clone, Debug)]
pub(super) struct UnchangedText {
    text: String,
    /// The fields of the object that the call itself reads.
    head: Fields,
    /// The parsed text, if something has read it.
    value: OnceLock<Value>,
}

impl UnchangedText {
    /// An object with the compact JSON `text`, which has the fields `head` among others.
    pub(super) fn new(text: String, head: Fields) -> Self {
        Self { text, head, value: OnceLock::new() }
    }

    fn value(&self) -> &Value {
        // The text was found to be JSON before.
        self.value.get_or_init(|| serde_json::from_str(&self.text).unwrap_or_default())
    }
}

impl Content {
    /// Returns the object.
    pub(super) fn value(&self) -> &Value {
        match self {
            Self::Unchanged(unchanged) => unchanged.value(),
            Self::Converted(value) => value,
        }
    }

    /// Returns the object.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Unchanged(unchanged) => {
                unchanged.value();
                unchanged.value.into_inner().unwrap_or_default()
            }
            Self::Converted(value) => value,
        }
    }

    /// Changes the object.
    pub(super) fn edit(&mut self, edit: impl FnOnce(&mut Value)) {
        let mut value = std::mem::replace(self, Self::Converted(Value::Null)).into_value();
        edit(&mut value);
        *self = Self::Converted(value);
    }

    /// Returns the fields that the call itself reads, and perhaps others.
    pub(super) fn head(&self) -> Option<&Fields> {
        match self {
            Self::Unchanged(unchanged) => Some(&unchanged.head),
            Self::Converted(value) => value.as_object(),
        }
    }

    /// Adds how to request the next page, if there is one.
    pub(super) fn add_next_page(&mut self) {
        let Some(next) = self.head().and_then(next_page::next_page) else { return };

        match self {
            // The text has a pagination, so that the new field is not the first one.
            Self::Unchanged(unchanged) if !unchanged.head.contains_key(NEXT) => {
                unchanged.text.pop();
                unchanged.text.extend([",\"", NEXT, "\":", &next.to_string(), "}"]);
                // A value that was parsed before lacks the new field.
                unchanged.value.take();
            }
            _ => self.edit(|value| {
                if let Value::Object(fields) = value {
                    fields.insert(NEXT.to_owned(), next);
                }
            }),
        }
    }

    /// Takes the text of an unchanged object of at most `max_chars` characters.
    pub(super) fn take_short_text(&mut self, max_chars: usize) -> Option<String> {
        let Self::Unchanged(unchanged) = self else { return None };
        let text = &mut unchanged.text;
        let is_short = text.len() <= max_chars || text.chars().count() <= max_chars;

        is_short.then(|| std::mem::take(text))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_that_was_read_before_gets_the_next_page_too() {
        let head = Fields::from_iter([("pagination".to_owned(), json!({"page": 0, "total_pages": 2}))]);
        let text = Value::Object(head.clone()).to_string();
        let mut content = Content::Unchanged(Box::new(UnchangedText::new(text, head)));

        assert_eq!(content.value()["next"], Value::Null);
        content.add_next_page();
        assert_eq!(content.into_value()["next"], json!({"page": 1, "remaining_pages": 1}));
    }
}
