//! The arguments of a prompt. They are data, and must not be mistaken for a part of the text of the prompt.

use serde_json::Value;

use super::script::ArgumentValue;
use crate::fields::Fields;

/// The checked arguments of a prompt.
pub(super) struct PromptArguments(Fields);

impl PromptArguments {
    /// Wraps arguments that were checked.
    pub(super) fn new(checked: Fields) -> Self {
        Self(checked)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Returns the value of an argument, for a call.
    pub(super) fn call_argument(&self, name: &str) -> Option<ArgumentValue> {
        self.get(name).cloned().map(ArgumentValue::FromPerson)
    }
}
