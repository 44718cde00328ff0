//! What a format provides for editing a configuration text.

use std::fmt::Display;

use serde_json::Value;

use super::document_error::DocumentError;
use crate::fields::Fields;

/// A parsed text in one format. Fields and comments that are not changed stay as they were written.
pub(super) trait Document: Sized + Display {
    /// Parses a text, in which the entries of all servers are in the field `container`.
    fn parse(text: &str, container: &'static str) -> Result<Self, DocumentError>;

    /// Returns the value of the whole text. `None` if it has no form as JSON.
    fn value(&self) -> Option<Value>;

    /// Returns the entry, if there is one.
    fn entry(&self) -> Result<Option<Value>, DocumentError>;

    /// Adds the entry, in place of an earlier one.
    fn put(&mut self, entry: &Fields) -> Result<(), DocumentError>;

    /// Sets one field of the entry, which exists and is an object.
    fn set_field(&mut self, name: &str, value: &Value) -> Result<(), DocumentError>;

    /// Removes the entry, if there is one.
    fn remove(&mut self) -> Result<(), DocumentError>;
}
