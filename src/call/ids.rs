//! The ids in arguments and answers, and the form of those in answers. An id is printed, copied into shells and scripts, and
//! put into paths, so that an answer whose ids are anything else is refused as a whole.

use indexmap::IndexSet;
use serde_json::Value;

use crate::{
    failure::Violation,
    fields::Fields,
    service::{
        arguments::MAX_VIOLATIONS,
        record_kind::{ResultId, ResultKind},
        request::check_id,
        schema::RECORDS,
    },
};

/// Fields of an answer with ids that callers print and use again, besides the fields that refer to results.
const ID_FIELDS: [&str; 9] = [
    "agent_config_id",
    BUG_ID,
    "build_id",
    "composite_run_id",
    "deployment_config_id",
    "multiplayer_test_id",
    "project_id",
    "test_plan_id",
    "upload_id",
];

/// Field with the id of a record.
const ID: &str = "id";

/// Field with the id of a bug, in the record of a detection too.
const BUG_ID: &str = "bug_id";

/// Returns whether a text can be an id: no white space, no control characters, and no `-` at the beginning, with which it would
/// be a flag.
fn is_id(text: &str) -> bool {
    !text.starts_with('-')
        && !text.contains(|character: char| character.is_whitespace() || character.is_control())
}

/// Returns the names of the fields that hold ids of records.
pub fn id_fields() -> impl Iterator<Item = &'static str> {
    ID_FIELDS.into_iter().chain(result_fields().map(|(_, name)| name)).chain([ID])
}

/// Returns the ids of results in arguments or at the top level of an answer, each once.
pub(super) fn owned_ids(fields: &Fields) -> IndexSet<ResultId> {
    let ids = result_fields().flat_map(|(kind, name)| {
        values(fields, name).iter().filter_map(move |id| Some(ResultId::new(kind, id.as_str()?)))
    });
    ids.collect()
}

/// Returns a violation for each id of a result that cannot be part of a path. An owner look-up puts it there, even if the
/// operation itself does not.
pub(super) fn find_invalid_ids(fields: &Fields) -> Vec<Violation> {
    let names = result_fields().map(|(_, name)| name);
    let violations = names.flat_map(|name| {
        let is_list = fields.get(name).is_some_and(Value::is_array);
        values(fields, name).iter().enumerate().filter_map(move |(index, id)| {
            let rule = check_id(id.as_str()?).err()?;
            let path = if is_list { format!("{name}.{index}") } else { name.to_owned() };
            Some(Violation::new(path, rule))
        })
    });
    violations.take(MAX_VIOLATIONS).collect()
}

fn result_fields() -> impl Iterator<Item = (ResultKind, &'static str)> {
    ResultKind::ALL.into_iter().flat_map(|kind| kind.reference_fields().iter().map(move |name| (kind, *name)))
}

/// Returns the values of a field that holds one value or a list of values.
pub fn values<'a>(fields: &'a Fields, name: &str) -> &'a [Value] {
    match fields.get(name) {
        Some(Value::Array(list)) => list,
        Some(single) => std::slice::from_ref(single),
        None => &[],
    }
}

/// Returns the name of the first field of an answer whose id has another form: of the answer itself, and of the records of a
/// page. What only describes a record of a page, such as the build of a job, is not checked: it is shown, and not used.
pub(super) fn find_malformed(answer: &Value) -> Option<&str> {
    let data = answer.get(RECORDS);
    let records = data.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    // An older form of an answer has all its fields in `data` (service.md 1.7).
    let levels = [Some(answer), data.filter(|data| data.is_object())].into_iter().flatten();

    let mut own = levels.map(|level| (level, true)).chain(records.iter().map(|record| (record, false)));
    own.find_map(|(record, is_answer)| find_in_record(record.as_object()?, is_answer))
}

fn find_in_record(record: &Fields, is_answer: bool) -> Option<&str> {
    let is_used = |name: &str| match name {
        // The id of a detection is not used: callers use that of its bug.
        ID => !record.contains_key(BUG_ID),
        _ => result_fields().any(|(_, field)| field == name) || (is_answer && ID_FIELDS.contains(&name)),
    };
    let malformed = record.iter().find(|(name, value)| is_used(name) && !is_text_id(value));
    malformed.map(|(name, _)| name.as_str())
}

/// Returns whether a value is an id or a list of ids. What is no text cannot be copied.
fn is_text_id(value: &Value) -> bool {
    match value {
        Value::String(id) => is_id(id),
        Value::Array(ids) => ids.iter().all(is_text_id),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_has_no_white_space_no_control_characters_and_does_not_begin_like_a_flag() {
        for (answer, expected) in [
            (json!({"build_id": "b1\nBASH_ENV=/tmp/x"}), Some("build_id")),
            (json!({"data": [{"id": "a"}, {"id": "a b"}]}), Some("id")),
            (json!({"id": "--read-only"}), Some("id")),
            (json!({"data": {"job_ids": ["a", "b\u{1b}"]}}), Some("job_ids")),
            (json!({"data": [{"test_plan_execution_id": "x;y\u{a0}z"}]}), Some("test_plan_execution_id")),
            (json!({"id": "b", "details": {"ci": {"run_id": "nightly 42"}}}), None),
            (json!({"id": "3f2b8c1e-7a4d", "job_ids": ["a-b", ""], "run_id": null, "project_id": 7}), None),
            (json!({"data": {"upload_id": "a b"}}), Some("upload_id")),
            (json!({"data": [{"job_id": "j", "build_id": "a b"}]}), None),
            (json!({"data": [{"id": "occurrence of b", "bug_id": "b"}]}), None),
            (json!({"players": [{"id": "1 a"}], "name": "a b", "data": "x y"}), None),
        ] {
            let found = find_malformed(&answer);

            assert_eq!(found, expected, "{answer}");
        }
    }
}
