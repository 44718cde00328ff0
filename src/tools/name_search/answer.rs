//! The answer of a search.
#![expect(missing_docs, reason = "the names are self-explanatory")]

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

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

impl FoundRecord {
    /// Returns the record `record` of the list of `kind`; `None` if it has no id.
    pub fn from_record(kind: RecordKind, record: &Value) -> Option<Self> {
        let text = |field: &str| record.get(field).and_then(Value::as_str);
        let name = kind.list().names.iter().find_map(|field| text(field)).unwrap_or_default();

        Some(Self::new(kind, text("id")?, name, record))
    }

    /// Creates the record with this id and name, and with the fields of `record` that tell records apart.
    pub(super) fn new(kind: RecordKind, id: &str, name: &str, record: &Value) -> Self {
        let list = kind.list();
        let platform = list.platform.map(|field| ("platform", field));
        let fields = platform.into_iter().chain(list.shown.iter().map(|field| (*field, *field)));
        let more: Fields = fields
            .filter_map(|(name, field)| Some((name.to_owned(), record.get(field)?.clone())))
            .filter(|(_, value)| !value.is_null())
            .collect();

        Self { kind, id: id.to_owned(), name: name.to_owned(), more }
    }
}
