//! Checks whether a record can be the result of a call.

use serde_json::Value;

use crate::{client::ApiKey, fields::Fields, service::operation::FieldMatch, text};

/// Returns the arguments as records show them: replies contain neither hidden characters nor the key.
pub(in crate::call) fn as_recorded(arguments: &Fields, key: &ApiKey) -> Fields {
    let mut recorded = Value::Object(arguments.clone());
    text::remove_hidden(&mut recorded);
    key.mask_value(&mut recorded);

    match recorded {
        Value::Object(fields) => fields,
        _ => Fields::new(),
    }
}

/// Returns whether no field of the record contradicts the arguments. A field that the record lacks, and an argument that
/// the caller did not pass, contradict nothing.
pub(in crate::call) fn matches_arguments(matches: &[FieldMatch], record: &Value, recorded: &Fields) -> bool {
    matches.iter().all(|one| {
        let wanted = argument_at(recorded, one.argument).cloned().or(one.default.map(Value::from));
        let actual = match record.get(one.field) {
            Some(Value::Null) => one.null_value.map(Value::from),
            actual => actual.cloned(),
        };
        wanted.zip(actual).is_none_or(|(wanted, actual)| matches_value(one.field, &actual, &wanted))
    })
}

/// Returns the argument at a dotted path. Null counts as absent.
fn argument_at<'a>(arguments: &'a Fields, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.');
    let first = arguments.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name)).filter(|value| !value.is_null())
}

/// Returns whether a field has the wanted value. The letter case of ids does not matter, and a list may hold more
/// entries than wanted.
fn matches_value(field: &str, actual: &Value, wanted: &Value) -> bool {
    let is_id = field == "id" || field.ends_with("_id");
    match (actual, wanted) {
        (Value::String(actual), Value::String(wanted)) if is_id => actual.eq_ignore_ascii_case(wanted),
        (Value::Array(actual), Value::Array(wanted)) => wanted.iter().all(|one| actual.contains(one)),
        // `2` and `2.0` are different JSON values of the same number.
        (Value::Number(actual), Value::Number(wanted)) => actual.as_f64() == wanted.as_f64(),
        _ => actual == wanted,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_compared_by_the_kind_of_field() {
        for (field, actual, wanted, expected) in [
            ("build_id", json!("AB"), json!("ab"), true),
            ("name", json!("AB"), json!("ab"), false),
            ("tags", json!(["a", "b"]), json!(["b"]), true),
            ("tags", json!(["a"]), json!(["b"]), false),
            ("count", json!(2.0), json!(2), true),
            ("count", json!("2"), json!(2), false),
        ] {
            assert_eq!(matches_value(field, &actual, &wanted), expected, "{field}: {actual} {wanted}");
        }
    }

    #[test]
    fn an_argument_is_found_by_its_path() {
        let arguments: Fields = serde_json::from_value(json!({"a": {"b": 1, "c": null}})).expect("an object");
        for (path, expected) in [("a.b", Some(json!(1))), ("a.c", None), ("a.x", None), ("x", None)] {
            assert_eq!(argument_at(&arguments, path).cloned(), expected, "{path}");
        }
    }
}
