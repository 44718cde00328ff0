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

/// Returns the ids in arguments or at the top level of an answer, each once.
pub fn owned_ids(fields: &Fields) -> IndexSet<ResultId> {
    let ids = id_fields().flat_map(|(kind, name)| texts(fields, name).map(move |(_, id)| (kind, id)));
    ids.map(|(kind, id)| ResultId::new(kind, id)).collect()
}

/// Returns a violation for each id that cannot be part of a path. An owner look-up puts it there, even if the operation
/// itself does not.
pub(crate) fn find_invalid_ids(fields: &Fields) -> Vec<Violation> {
    let texts = id_fields().flat_map(|(_, name)| texts(fields, name));
    let violation = |(path, id): (String, &str)| Some(Violation::new(path, check_segment(id).err()?));
    texts.filter_map(violation).collect()
}

/// Returns the fields of arguments and answers that hold ids, each with the kind of its ids.
fn id_fields() -> impl Iterator<Item = (ResultKind, &'static str)> {
    ResultKind::ALL.into_iter().flat_map(|kind| kind.reference_fields().iter().map(move |name| (kind, *name)))
}

/// Returns the texts of a field that holds one text or a list of texts, each with its path.
fn texts<'a>(fields: &'a Fields, name: &'a str) -> impl Iterator<Item = (String, &'a str)> {
    let (single, list) = match fields.get(name) {
        Some(Value::Array(list)) => (None, list.as_slice()),
        single => (single, &[][..]),
    };
    let single = single.map(|value| (name.to_owned(), value));
    let listed = list.iter().enumerate().map(move |(index, value)| (format!("{name}.{index}"), value));

    single.into_iter().chain(listed).filter_map(|(path, value)| Some((path, value.as_str()?)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(value: Value) -> Fields {
        serde_json::from_value(value).expect("an object")
    }

    #[test]
    fn ids_are_found_once_in_single_fields_and_lists() {
        let arguments =
            fields(json!({"run_id": "a", "multiplayer_run_ids": ["a", "b"], "job_id": 7, "x": "c"}));
        let found: Vec<_> = owned_ids(&arguments).into_iter().collect();
        assert_eq!(found, [ResultId::new(ResultKind::Run, "a"), ResultId::new(ResultKind::Run, "b")]);
    }

    #[test]
    fn the_violation_of_an_id_in_a_list_names_its_position() {
        let found = find_invalid_ids(&fields(json!({"job_ids": ["a", ".."], "run_id": " "})));
        let paths: Vec<_> = found.into_iter().map(|violation| violation.path).collect();
        assert_eq!(paths, ["run_id", "job_ids.1"]);
    }
}
