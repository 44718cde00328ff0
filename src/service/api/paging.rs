//! Pages and order of lists (supplement 1.3).

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_with::apply;

use crate::service::view::{Object, View, lenient, objects};

/// A page of a list (supplement 1.3).
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(bound(deserialize = "T: View"))]
pub struct ListPage<T> {
    /// The records of this page.
    pub data: Vec<T>,
    /// Position of this page in the list.
    pub pagination: Pagination,
}

/// Position of a page in its list.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Pagination {
    /// Zero-based number of the page.
    pub page: i64,
    /// Number of records per page.
    pub page_size: i64,
    /// Total number of records.
    #[schemars(with = "i64")]
    pub total_count: Option<i64>,
    /// Total number of pages.
    #[schemars(with = "i64")]
    pub total_pages: Option<i64>,
}

/// Zero-based number of a page of a list (supplement 1.3).
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(transparent)]
pub struct PageNumber(pub usize);

impl JsonSchema for PageNumber {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "PageNumber".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0, "default": 0, "description": "Default 0 (first)."})
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
        let description = format!("1-100; default {DEFAULT}.");
        // The effect of a size out of range is uncertain, so that only sizes in range are sent (supplement 1.3).
        json_schema!({
            "type": "integer", "minimum": 1, "maximum": 100, "default": DEFAULT, "description": description
        })
    }
}

// The order of a list. No doc comment, because it would become part of the description of every list.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are those of the contract")]
pub enum SortOrder {
    Asc,
    Desc,
}

objects!(Pagination);

impl<T: View> View for ListPage<T> {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Option<Self> {
        Self::deserialize(Object(value)).ok()
    }
}
