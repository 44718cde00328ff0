//! Whether a record is what a call would make.

use serde_json::Value;

use crate::{client::ApiKey, fields::Fields, service::operation::FieldMatch, text};

/// Arguments as the service's records show them: records come without what hides in texts, and without the key.
pub(super) fn as_shown(arguments: &Fields, key: &ApiKey) -> Fields {
    let mut shown = arguments.clone();
    shown.values_mut().for_each(text::remove_hidden);
    key.mask_fields(&mut shown);
    shown
}

/// Whether nothing that a record says speaks against the arguments. What it lacks tells nothing, and neither does what
/// the caller did not ask for.
pub(super) fn is_alike(same: &[FieldMatch], record: &Value, shown: &Fields) -> bool {
    same.iter().all(|same| {
        let wanted = argument(shown, same.argument).cloned().or(same.default.map(Value::from));
        let held = match record.get(same.field) {
            Some(Value::Null) => same.null_value.map(Value::from),
            held => held.cloned(),
        };
        wanted.zip(held).is_none_or(|(wanted, held)| says(same.field, &held, &wanted))
    })
}

/// The argument at a dotted path.
fn argument<'a>(arguments: &'a Fields, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.');
    let first = arguments.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name)).filter(|value| !value.is_null())
}

/// Whether a field holds what was asked for: ids in either letter case, texts as they are; a list may hold more.
fn says(field: &str, held: &Value, wanted: &Value) -> bool {
    let is_id = field == "id" || field.ends_with("_id");
    match (held, wanted) {
        (Value::String(held), Value::String(wanted)) if is_id => held.eq_ignore_ascii_case(wanted),
        (Value::Array(held), Value::Array(wanted)) => wanted.iter().all(|one| held.contains(one)),
        (Value::Number(held), Value::Number(wanted)) => held.as_f64() == wanted.as_f64(),
        _ => held == wanted,
    }
}
