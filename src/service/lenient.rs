//! Typed views of answers.
//!
//! Callers get the JSON of the service as it came. Logic reads a view of it: a field that is missing, or whose value has
//! an unexpected type, becomes its default, and a list keeps the entries that can be read. So no surprise of the service
//! fails a call.

use std::mem::take;

use serde::{Deserialize as _, Deserializer, de::DeserializeOwned};
use serde_json::{Number, Value};
use serde_path_to_error::{Path, Segment};

/// Largest number of values of one answer that are left out before its view is the default.
const MAX_REPAIRS: usize = 1_000;

/// Largest number of bytes that one view reads again. Without it, a long answer with many odd values would take minutes.
const MAX_READ_AGAIN: usize = 64 << 20;

/// Largest number of fields of an object that are tried one by one.
const MAX_TRIED_FIELDS: usize = 100;

/// A type that is read from any JSON value. Its fields have defaults.
pub trait View: DeserializeOwned + Default {}

impl<T: DeserializeOwned + Default> View for T {}

/// Returns the view `T` of a value: without what cannot be read.
pub fn view<'a, T: View>(value: impl Deserializer<'a> + Copy) -> T {
    if let Ok(view) = T::deserialize(value) {
        return view;
    }

    let mut value = Value::deserialize(value).unwrap_or_default();
    drop_null_fields(&mut value);
    let length = value.to_string().len().max(1);
    for _ in 0..MAX_REPAIRS.min(MAX_READ_AGAIN / length) {
        match serde_path_to_error::deserialize(&value) {
            Ok(view) => return view,
            Err(error) if repair::<T>(&mut value, &pointer(error.path())) => {}
            Err(_) => break,
        }
    }

    T::default()
}

/// A field that is null means the same as a missing one.
pub(crate) fn drop_null_fields(value: &mut Value) {
    match value {
        Value::Array(entries) => entries.iter_mut().for_each(drop_null_fields),
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(drop_null_fields);
        }
        _ => {}
    }
}

/// Changes the value at `pointer`, which could not be read. Returns whether there is still something to read.
fn repair<T: View>(value: &mut Value, pointer: &str) -> bool {
    let Some(found) = value.pointer_mut(pointer) else { return false };
    if let Some(number) = as_number(found) {
        *found = number;
        return true;
    }

    // The fields of a flattened struct have no path of their own.
    if let Value::Object(fields) = found
        && fields.len() <= MAX_TRIED_FIELDS
    {
        let fields = take(fields);
        if !fails_at::<T>(value, pointer) {
            for (name, field) in fields {
                let number = as_number(&field);
                if !try_field::<T>(value, pointer, &name, field)
                    && let Some(number) = number
                {
                    try_field::<T>(value, pointer, &name, number);
                }
            }
            return true;
        }
    }

    remove(value, pointer)
}

/// Adds a field to the object at `pointer`, unless the object cannot be read with it.
fn try_field<T: View>(value: &mut Value, pointer: &str, name: &str, field: Value) -> bool {
    if let Some(Value::Object(fields)) = value.pointer_mut(pointer) {
        fields.insert(name.to_owned(), field);
    }

    let is_readable = !fails_at::<T>(value, pointer);
    if !is_readable && let Some(Value::Object(fields)) = value.pointer_mut(pointer) {
        fields.shift_remove(name);
    }

    is_readable
}

fn fails_at<T: View>(value: &Value, at: &str) -> bool {
    let outcome = serde_path_to_error::deserialize::<_, T>(value);
    outcome.is_err_and(|error| pointer(error.path()) == at)
}

/// Removes the value at `pointer`. An entry of a list becomes null first, which an optional entry can be.
fn remove(value: &mut Value, pointer: &str) -> bool {
    let Some((parent, _)) = pointer.rsplit_once('/') else { return false };
    let was_null = value.pointer_mut(pointer).is_some_and(|found| found.take().is_null());
    match value.pointer_mut(parent) {
        Some(Value::Array(entries)) if was_null => entries.retain(|entry| !entry.is_null()),
        Some(Value::Object(fields)) => fields.retain(|_, field| !field.is_null()),
        _ => {}
    }

    true
}

/// Returns the number that a text holds, or that is written in another form, such as `3.0`.
fn as_number(value: &Value) -> Option<Value> {
    let float = match value {
        Value::String(text) => text.trim().parse::<f64>().ok()?,
        Value::Number(number) => number.as_f64()?,
        _ => return None,
    };

    // Every smaller whole number has an exact form.
    let is_whole = float.fract() == 0.0 && float.abs() < 9e15;
    let number = if is_whole { format!("{float:.0}").parse().ok()? } else { Number::from_f64(float)? };

    Some(Value::Number(number)).filter(|number| number != value)
}

fn pointer(path: &Path) -> String {
    let segments = path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    segments.flat_map(|segment| ["/".to_owned(), segment]).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        random_inputs::{check_values, value},
        service::api::{ListPage, runs::Run},
    };

    #[test]
    fn a_surprise_becomes_the_default_and_spoils_nothing_else() {
        check_values(&value(), 1, |any| drop(view::<ListPage<Run>>(&any)));

        let answer = json!({
            "data": [
                {"job_id": "a", "state": 7, "duration_ms": "1e3", "players": [7, {"step_count": "3"}]},
                "b",
                {"job_id": {}, "tags": [1, "x", null]},
            ],
            "pagination": {"total_pages": "2"},
        });
        let page = view::<ListPage<Run>>(&answer);

        let ids: Vec<_> = page.data.iter().map(|run| run.head.job_id.as_str()).collect();
        assert_eq!((ids, page.pagination.total_pages), (vec!["a", ""], Some(2)));
        let [run, other] = page.data.as_slice() else { panic!("two runs") };
        assert_eq!((run.head.state.as_str(), run.head.duration_ms), ("", Some(1_000.0)));
        assert_eq!(run.players.iter().map(|player| player.step_count).collect::<Vec<_>>(), [Some(3)]);
        assert!(other.head.tags.is_empty());
    }
}
