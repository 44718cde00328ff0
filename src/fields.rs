//! A JSON object whose fields keep the order in which they were written, and access to the fields of records.

use serde_json::{Map, Value};

/// The arguments of a call, the fields of a request, or the fields of a response.
pub type Fields = Map<String, Value>;

/// Returns the value at `path` in a record: field names and indices with dots, such as `players.0.platform`. `null`
/// counts as absent.
pub fn field_at<'a>(record: &'a Value, path: &str) -> Option<&'a Value> {
    let value = path.split('.').try_fold(record, |value, name| match value {
        Value::Array(entries) => entries.get(name.parse::<usize>().ok()?),
        _ => value.get(name),
    });

    value.filter(|value| !value.is_null())
}

/// Returns the text at `path` in a record. An empty text counts as absent.
pub fn text_at<'a>(record: &'a Value, path: &str) -> Option<&'a str> {
    field_at(record, path)?.as_str().filter(|text| !text.is_empty())
}
