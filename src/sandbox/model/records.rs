//! Records by id, their versions, and the two documented forms in which answers show them.

use std::{collections::BTreeMap, sync::Arc};

use indexmap::IndexMap;
use serde::Deserialize;

use crate::service::api::ReadVersion;

/// Records by id, in the order of their creation.
pub(crate) type Records<T> = IndexMap<String, Arc<T>>;

/// Every version of each record by id, including the current one. The index is the version.
pub(crate) type Versions<T> = BTreeMap<String, Vec<Arc<T>>>;

/// Returns the record with `id`. Letter case is ignored, because UUIDs are equal in either case.
pub(crate) fn find<'a, T>(records: &'a IndexMap<String, T>, id: &str) -> Option<&'a T> {
    records.get(id).or_else(|| records.get(&id.to_ascii_lowercase()))
}

/// Returns a version of the record with `id`, or the current version if `version` is `None`.
pub(crate) fn at_version<'a, T>(
    records: &'a Records<T>,
    versions: &'a Versions<T>,
    id: &str,
    version: Option<ReadVersion>,
) -> Option<&'a Arc<T>> {
    let (id, current) =
        records.get_key_value(id).or_else(|| records.get_key_value(&id.to_ascii_lowercase()))?;
    match version {
        None => Some(current),
        Some(version) => versions.get(id)?.get(usize::try_from(version.0).ok()?),
    }
}

/// The form of the answers of a project (service.md 1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dialect {
    /// Upper-case states, platforms with `kind` and `config`, failure texts in `message`.
    Upper,
    /// Lower-case states, platforms with `type` and `device`, failure texts in `error`.
    Lower,
}

impl Dialect {
    pub(crate) fn state(self, state: &str) -> String {
        match self {
            Self::Upper => state.to_ascii_uppercase(),
            Self::Lower => state.to_ascii_lowercase(),
        }
    }
}
