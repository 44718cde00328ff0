//! What a request is about, for messages.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    fields::Fields,
    service::{catalog::OperationEntry, lenient::view, request::Request},
    text::shorten_line,
};

/// Largest number of records and of ids that a subject names.
const MAX_NAMED: usize = 3;

/// Longest id or name in a subject, in characters.
const MAX_NAME_CHARACTERS: usize = 80;

/// The operation and what the request is about, as the beginning of a message.
pub fn label(request: &Request) -> String {
    let name = request.operation.name;
    let subject = subject(request.operation, &request.arguments);
    if subject.is_empty() { name.to_owned() } else { format!("{name}: {subject}") }
}

/// Arguments, or an object among them, with the name that a record is to get.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    name: Option<String>,
}

/// Returns what a call is about, such as `run 7` or `"Login"`; an empty text if the arguments name nothing.
///
/// The records in the path come first. Without one, the subject is the name that the call gives, or else the records in
/// the other arguments.
fn subject(operation: &OperationEntry, arguments: &Fields) -> String {
    let in_path = operation.request.path_fields().filter_map(|name| named(name, arguments.get(name)?));
    let in_path: Vec<_> = in_path.collect();
    if !in_path.is_empty() {
        return in_path.join(", ");
    }

    let own_name = view::<Named>(arguments).name;
    if let Some(name) = own_name.or_else(|| arguments.values().find_map(|value| view::<Named>(value).name)) {
        return format!("\"{}\"", shorten_line(&name, MAX_NAME_CHARACTERS));
    }

    let others = arguments.iter().filter_map(|(name, value)| named(name, value));
    others.take(MAX_NAMED).collect::<Vec<_>>().join(", ")
}

/// Returns the kind and the ids of the records that an argument names; `None` if it names none.
fn named(argument: &str, value: &Value) -> Option<String> {
    let (noun, ids) = match value {
        Value::Array(ids) => (argument.strip_suffix("_ids")?, ids.as_slice()),
        id => (
            argument.strip_suffix("_id").or((argument == "filename").then_some("file"))?,
            std::slice::from_ref(id),
        ),
    };

    let noun = noun.trim_start_matches("multiplayer_").replace('_', " ");
    let plural = if ids.len() > 1 { "s" } else { "" };
    let texts = ids.iter().take(MAX_NAMED).filter_map(Value::as_str);
    let listed: Vec<_> = texts.map(|id| shorten_line(id, MAX_NAME_CHARACTERS)).collect();
    let more = ids.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };

    (!listed.is_empty()).then(|| format!("{noun}{plural} {}{more}", listed.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::service::catalog;

    #[test]
    fn a_subject_names_the_records_or_the_name_of_a_call() {
        for (operation, arguments, expected) in [
            ("get_run", json!({"run_id": "r1"}), "run r1"),
            ("get_run_artifact", json!({"run_id": "r1-0", "filename": "a/b.log"}), "run r1-0, file a/b.log"),
            ("update_test", json!({"test_id": "t", "patch": {"name": "New"}}), "test t"),
            ("create_test_folder", json!({"name": "Levels", "parent_folder_id": "f"}), "\"Levels\""),
            ("create_test", json!({"test": {"name": "Log\nin"}, "folder_id": "f"}), "\"Log in\""),
            ("start_run", json!({"multiplayer_test_id": "t", "retries": 1}), "test t"),
            ("stop_runs", json!({"job_ids": ["a", "b", "c", "d", "e"]}), "jobs a, b, c and 2 more"),
            ("list_runs", json!({"page": 1}), ""),
        ] {
            let operation = catalog::find(operation).expect("an operation");
            assert_eq!(subject(operation, arguments.as_object().expect("an object")), expected);
        }
    }
}
