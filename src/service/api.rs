//! Records and operations of the service, one module per resource, and what they have in common.
//!
//! An answer has the fields of the contract, and is read as a view ([`crate::service::lenient`]). Callers get the JSON of
//! the service as it came, so that a field which is missing here is still delivered. Fields that the contract may omit
//! or set to `null` are optional.
#![expect(missing_docs, reason = "the names are those of the contract")]

pub mod bugs;
pub mod builds;
pub mod configs;
pub mod exports;
pub mod files;
pub mod folders;
pub mod jobs;
pub mod plans;
pub mod run_start;
pub mod runs;
pub mod shared_steps;
pub mod tests;
pub mod uploads;

use prelude::*;

/// The words in which the resources describe their operations and answers.
mod prelude {
    pub(super) use reqwest::Method;
    pub(super) use schemars::JsonSchema;
    pub(super) use serde::{Deserialize, Serialize};
    pub(super) use serde_json::Value;
    pub(super) use serde_with::skip_serializing_none;

    pub(super) use super::{
        Deleted, Id, ListPage, Open, PageNumber, PageSize, ReadVersion, SortOrder, Uuid, deletion_question,
    };
    pub(super) use crate::{
        failure::Violation,
        fields::Fields,
        service::{
            lenient::View,
            operation::{Operation, Pictures, RequestInfo, ResponseKind, UrlBase},
            rule::Rule,
            schema::{entries_passed_through, passed_through},
            tool::{Extension, RecordKeys, ToolInfo, Toolset},
        },
    };
}

/// An object with any fields, for values whose shape the contract leaves open.
pub type Open = Fields;

// The doc comments of the following types would become part of the descriptions of arguments.

// An opaque, non-empty id.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(transparent)]
#[schemars(inline, extend("minLength" = 1))]
pub struct Id(pub String);

// A UUID in hyphenated form, as an argument.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(transparent)]
#[schemars(inline, extend("format" = "uuid"))]
pub struct Uuid(pub String);

// Version of a record to read (service.md 6.2, 8).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("minimum" = 1, "description" = "From 1; default: latest."))]
pub struct ReadVersion(pub u32);

// Zero-based number of a page of a list (service.md 1.3).
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("description" = "Default 0."))]
pub struct PageNumber(pub usize);

// Number of records per page, by default `DEFAULT`. The effect of a size out of range is uncertain, so that only sizes
// in range are sent (service.md 1.3).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("minimum" = 1, "maximum" = 100))]
#[schemars(extend("description" = format!("1-100; default {DEFAULT}.")))]
pub struct PageSize<const DEFAULT: usize>(pub usize);

impl<const DEFAULT: usize> Default for PageSize<DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

// The order of a list.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum SortOrder {
    Asc,
    Desc,
}

/// A page of a list (service.md 1.3).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, bound(deserialize = "T: View"))]
#[schemars(!default)]
pub struct ListPage<T> {
    pub data: Vec<T>,
    pub pagination: Pagination,
}

/// Position of a page in its list.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Pagination {
    /// Zero-based number of the page.
    pub page: i64,
    pub page_size: i64,
    pub total_count: Option<i64>,
    pub total_pages: Option<i64>,
}

/// The answer to a deletion (service.md 4.5, 6.5, 8).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Deleted {
    pub id: String,
    pub deleted: bool,
}

/// Returns the confirmation question of the deletion of the record whose id is among the arguments. Control characters and
/// backticks of the id are replaced, so that an id cannot add text to the question.
fn deletion_question(arguments: &Fields) -> Option<String> {
    let (record, id) =
        arguments.iter().find_map(|(name, id)| Some((name.strip_suffix("_id")?, id.as_str()?)))?;
    let id: String = id.chars().map(|one| if one == '`' || one.is_control() { '?' } else { one }).collect();
    Some(format!("would delete {} `{id}` permanently", record.replace('_', " ")))
}
