//! The answer of a search.
#![expect(missing_docs, reason = "the names are self-explanatory")]

use schemars::JsonSchema;
use serde::Serialize;

use super::record_kind::RecordKind;
use crate::{call::paging::Omission, fields::Fields};

/// What was found for all names.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct NameSearchAnswer {
    /// One result for each name, in the order of `names`.
    pub results: Vec<NameResult>,
    /// Lists that could not be read completely. A record in them may be missing from the results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
}

/// What was found for one name.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NameResult {
    /// The name as it was asked for.
    pub name: String,
    /// `exact`: every record has this name or id. `similar`: no record has it, and these come nearest. `none`: no record
    /// is similar.
    pub r#match: NameMatch,
    pub records: Vec<FoundRecord>,
}

/// How the records of a result match the name.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum NameMatch {
    Exact,
    Similar,
    None,
}

/// A record that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FoundRecord {
    pub kind: RecordKind,
    pub id: String,
    pub name: String,
    /// Fields that tell records with the same name apart.
    #[serde(flatten)]
    pub more: Fields,
}
