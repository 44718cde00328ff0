//! Arguments of the steps of an upload that have a type of their own.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::service::{
    api::{Open, uploads::build_details::NewBuildDetails},
    schema::passed_through,
};

// The file of an upload. No doc comment, because it would become part of the description of each tool with these arguments.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct UploadedFile {
    /// 1-255 characters.
    #[schemars(length(min = 1, max = 255))]
    pub file_name: String,
    /// Bytes, from 1.
    #[schemars(range(min = 1))]
    pub file_size: u64,
}

// Optional arguments. No doc comment, because it would become part of the description of each tool with these arguments.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct BuildOptions {
    /// Up to 1000 characters.
    #[schemars(length(max = 1000))]
    pub description: Option<String>,
    /// Deletes old builds if storage is full; default false.
    #[schemars(extend("default" = false))]
    pub auto_delete: Option<bool>,
    /// First to delete; default `least_recent`. Needs `auto_delete`.
    #[schemars(extend("default" = "least_recent"))]
    pub deletion_policy: Option<DeletionPolicy>,
    /// Tags of 1-50 characters.
    pub tags: Option<Vec<Tag>>,
    /// Objects `vcs`, `ci`, `app`, `build`, `upload`.
    #[serde(default)]
    #[schemars(schema_with = "passed_through::<NewBuildDetails>")]
    pub details: Option<Open>,
}

// The builds that are deleted first. No doc comment, because it would become part of the descriptions.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum DeletionPolicy {
    LeastRecent,
    Oldest,
}

/// A tag of a build.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Tag(pub String);

impl JsonSchema for Tag {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Tag".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": 1, "maxLength": 50})
    }
}

// A part that storage has received. No doc comment, because it would become part of the descriptions.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct CompletedPart {
    /// From 1.
    #[schemars(range(min = 1))]
    pub part_number: u64,
    /// `ETag` without quotes.
    #[schemars(length(min = 1), extend("x-unquoted" = true))]
    pub etag: String,
}
