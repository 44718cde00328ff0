//! Values that several operations have in common: ids, versions, and values of any shape.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::fields::Fields;

/// An object with any fields, for values whose shape the contract leaves open.
pub type Open = Fields;

/// Version of a record to read (supplement 6.2, 8).
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct ReadVersion(pub u32);

impl JsonSchema for ReadVersion {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "ReadVersion".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 1, "description": "From 1; default: latest."})
    }
}

/// A UUID in hyphenated form, as an argument.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(transparent)]
pub struct Uuid(pub String);

impl JsonSchema for Uuid {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Uuid".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "uuid"})
    }
}

/// An opaque, non-empty id.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(transparent)]
pub struct Id(pub String);

impl JsonSchema for Id {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": 1})
    }
}

/// Deserializes text that may be `null`. An absent field is `None`, and `null` is `Some(None)`.
#[expect(clippy::option_option, reason = "`null` and an absent field have different meanings")]
pub(super) fn nullable_text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Returns the schema of a value of any type, for fields whose type the contract leaves open (supplement 17).
pub(super) fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({})
}
