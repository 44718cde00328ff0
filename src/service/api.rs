//! Records and operations of the service, one module per resource.
//!
//! A record holds the fields of the contract. Answers of the service are passed on whole, so a field that is missing
//! here is still delivered. Fields that the contract may omit or set to `null` are optional.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{fields::Fields, violation::Violation};

pub mod artifacts;
pub mod bugs;
mod build_details;
pub mod builds;
pub mod configs;
pub mod deleting;
pub mod executions;
pub mod exports;
pub mod folders;
pub mod jobs;
pub mod knowledge;
pub mod live;
pub mod minions;
pub mod plans;
pub mod runs;
pub mod start;
pub mod step_writing;
pub mod steps;
pub mod test_writing;
pub mod tests;
pub mod uploads;

/// An object with any fields.
pub type Open = Fields;

/// A page of a list (supplement 1.3).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ListPage<T> {
    /// The records of this page.
    pub data: Vec<T>,
    /// Position of this page in the list.
    pub pagination: Pagination,
}

/// Position of a page in its list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pagination {
    /// Zero-based number of the page.
    pub page: i64,
    /// Number of records per page.
    pub page_size: i64,
    /// Total number of records.
    pub total_count: i64,
    /// Total number of pages.
    pub total_pages: i64,
}

/// Zero-based number of a page of a list (supplement 1.3).
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Page(pub usize);

impl JsonSchema for Page {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Page".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0, "default": 0, "description": "From 0; default 0."})
    }
}

/// Number of records per page, by default `DEFAULT` (supplement 1.3).
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct PageSize<const DEFAULT: usize>(pub usize);

impl<const DEFAULT: usize> Default for PageSize<DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl<const DEFAULT: usize> JsonSchema for PageSize<DEFAULT> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("PageSize{DEFAULT}").into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let description = format!("1-100, default {DEFAULT}.");
        json_schema!({
            "type": "integer", "minimum": 1, "maximum": 100, "default": DEFAULT, "description": description
        })
    }
}

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
        json_schema!({"type": "integer", "minimum": 1, "description": "Default: the latest."})
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

/// Deserializes text that may be `null`, and distinguishes `null` from an absent field.
pub fn nullable_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Adds a violation for each of the fields `names` that the object argument `holder` contains.
fn refuse_fields(
    arguments: &Fields,
    holder: &str,
    names: &[&str],
    rule: &str,
    violations: &mut Vec<Violation>,
) {
    let Some(Value::Object(object)) = arguments.get(holder) else { return };
    let found = names.iter().filter(|name| object.contains_key(**name));
    violations.extend(found.map(|name| Violation::new(format!("{holder}.{name}"), rule)));
}

// No doc comment, because it would become part of the description of every list.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words of the service say it all")]
pub enum SortOrder {
    Asc,
    Desc,
}
