//! model/records.

use std::{collections::BTreeMap, sync::Arc};

use indexmap::IndexMap;

use crate::service::api::ReadVersion;

/// Records by id, in the order in which they were made.
pub(crate) type Records<T> = IndexMap<String, Arc<T>>;

/// Every version of each record, the present one too, by id; the index is the version.
pub(crate) type Versions<T> = BTreeMap<String, Vec<Arc<T>>>;

/// The record of that id. UUIDs are equal in either letter case.
pub(crate) fn find<'a, T>(records: &'a IndexMap<String, T>, id: &str) -> Option<&'a T> {
    records.get(id).or_else(|| records.get(&id.to_ascii_lowercase()))
}

/// The asked version of the record of that id; the present one when none is asked for.
pub(crate) fn at_version<'a, T>(
    records: &'a Records<T>,
    versions: &'a Versions<T>,
    id: &str,
    version: Option<ReadVersion>,
) -> Option<&'a Arc<T>> {
    let (id, present) =
        records.get_key_value(id).or_else(|| records.get_key_value(&id.to_ascii_lowercase()))?;
    match version {
        None => Some(present),
        Some(version) => versions.get(id)?.get(usize::try_from(version.0).ok()?),
    }
}
