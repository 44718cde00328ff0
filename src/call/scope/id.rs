//! Ids that identify their project.

use indexmap::IndexSet;
use serde_json::Value;

use crate::{
    fields::Fields,
    service::{
        request::check_segment,
        result_kind::{ResultId, ResultKind},
    },
    violation::Violation,
};

/// The ids in arguments or at the top of an answer, each once.
pub fn owned_ids(fields: &Fields) -> IndexSet<ResultId> {
    let ids = reference_fields().flat_map(|(kind, name)| texts(fields, name).map(move |(_, id)| (kind, id)));
    ids.map(|(kind, id)| ResultId::new(kind, id)).collect()
}

/// The ids that cannot be looked up, wherever the operation itself would send them.
pub fn find_invalid_ids(fields: &Fields) -> Vec<Violation> {
    let texts = reference_fields().flat_map(|(_, name)| texts(fields, name));
    let broken = |(path, id): (String, &str)| Some(Violation::new(path, check_segment(id).err()?));
    texts.filter_map(broken).collect()
}

/// The fields of arguments and answers that hold ids, each with the kind of its ids.
fn reference_fields() -> impl Iterator<Item = (ResultKind, &'static str)> {
    ResultKind::ALL.into_iter().flat_map(|kind| kind.reference_fields().iter().map(move |name| (kind, *name)))
}

/// The texts of a field that holds one or several, each with its path.
fn texts<'a>(fields: &'a Fields, name: &'a str) -> impl Iterator<Item = (String, &'a str)> {
    let (one, several) = match fields.get(name) {
        Some(Value::Array(several)) => (None, several.as_slice()),
        one => (one, &[][..]),
    };
    let numbered = several.iter().enumerate().map(move |(index, value)| (format!("{name}.{index}"), value));
    let all = one.map(|value| (name.to_owned(), value)).into_iter().chain(numbered);

    all.filter_map(|(path, value)| Some((path, value.as_str()?)))
}
