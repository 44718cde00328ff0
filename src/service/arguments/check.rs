//! The check of values against a schema.

use indexmap::IndexSet;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::{
    fields::Fields,
    service::{
        arguments::{
            coercion::coerce,
            json_type::{has_type, is_uuid, type_name, with_article},
            mode::Mode,
        },
        schema::{KNOWN, OR_TYPE},
    },
    text::{misspelled, most_similar, shorten_name},
    violation::Violation,
};

/// Checks `arguments` against `schema` and coerces them in place if `mode` allows it. Returns every violation.
pub fn check(schema: &Fields, arguments: &mut Fields, mode: Mode) -> Vec<Violation> {
    let mut violations = Vec::new();
    SchemaCheck { mode, violations: &mut violations }.object(schema, arguments, "");
    violations
}

/// A check in progress.
struct SchemaCheck<'a> {
    mode: Mode,
    violations: &'a mut Vec<Violation>,
}

impl SchemaCheck<'_> {
    /// Adds a violation.
    fn broken(&mut self, path: &str, rule: impl Into<String>) {
        self.violations.push(Violation::new(path, rule));
    }

    fn object(&mut self, schema: &Fields, object: &mut Fields, path: &str) {
        let none = Fields::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);

        // Models send `null` for arguments that they leave out. In an object with any fields `null` is a value.
        if self.mode == Mode::Arguments && !properties.is_empty() {
            object.retain(|_, value| !value.is_null());
        }

        let additional = schema.get("additionalProperties");
        for (name, value) in object.iter_mut() {
            let value_path = join(path, name);
            if let Some(Value::Object(property)) = properties.get(name) {
                self.value(property, value, &value_path);
            } else if let Some(Value::Object(any)) = additional {
                self.value(any, value, &value_path);
            } else if properties.is_empty() {
                // Any field is known.
            } else if self.mode.denies_unknown_names() {
                self.broken(&value_path, unknown_name(name, properties));
            } else if self.mode == Mode::PassedThrough
                && let Some(meant) = misspelled(&shorten_name(name), properties.keys().map(String::as_str))
            {
                self.broken(&value_path, format!("is not a known field; `{meant}` is"));
            }
        }

        let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for name in required.iter().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                self.broken(&join(path, name), "is required");
            }
        }

        if object.len() < limit(schema, "minProperties").unwrap_or(0) {
            self.broken(path, "must not be empty");
        }
    }

    fn value(&mut self, schema: &Fields, value: &mut Value, path: &str) {
        let Some(kind) = schema.get("type").and_then(Value::as_str) else { return };
        if self.mode.coerces() {
            coerce(schema, kind, value);
        }

        if schema.get(OR_TYPE).and_then(Value::as_str).is_some_and(|other| has_type(other, value)) {
            return;
        }
        if !has_type(kind, value) {
            return self.broken(path, wrong_type(kind, value));
        }

        match value {
            Value::String(text) => self.text(schema, text, path),
            Value::Number(number) => self.number(schema, number, path),
            Value::Array(items) => self.array(schema, items, path),
            Value::Object(object) => match schema.get(KNOWN) {
                // The object is sent unchanged.
                Some(Value::Object(known)) => {
                    SchemaCheck { mode: Mode::PassedThrough, violations: self.violations }
                        .object(known, object, path);
                }
                _ => self.object(schema, object, path),
            },
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn text(&mut self, schema: &Fields, text: &str, path: &str) {
        if let Some(Value::Array(allowed)) = schema.get("enum") {
            if !allowed.iter().any(|one| one == text) {
                let allowed: Vec<_> = allowed.iter().filter_map(Value::as_str).collect();
                self.broken(path, format!("must be one of {}", allowed.join(", ")));
            }
            return;
        }

        let length = text.chars().count();
        if limit(schema, "minLength").is_some_and(|least| length < least) {
            self.broken(path, "must not be empty");
        } else if let Some(most) = limit(schema, "maxLength").filter(|most| length > *most) {
            self.broken(path, format!("must have at most {most} characters, got {length}"));
        } else if schema.get("format").is_some_and(|format| format == "uuid") && !is_uuid(text) {
            self.broken(path, "must be a UUID such as 3f2b8c1e-7a4d-4e59-9b60-1c2d3e4f5a6b");
        }
    }

    fn number(&mut self, schema: &Fields, number: &serde_json::Number, path: &str) {
        let value = number.as_f64().unwrap_or(f64::NAN);
        let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
        let low = bound("minimum").is_some_and(|least| value < least);
        let high = bound("maximum").is_some_and(|most| value > most);

        if low || high {
            let rule = match (bound("minimum"), bound("maximum")) {
                (Some(least), Some(most)) => format!("must be from {least} to {most}, got {number}"),
                (Some(least), None) => format!("must be {least} or more, got {number}"),
                (_, most) => format!("must be {} or less, got {number}", most.unwrap_or_default()),
            };
            self.broken(path, rule);
        }
    }

    fn array(&mut self, schema: &Fields, items: &mut [Value], path: &str) {
        if limit(schema, "minItems").is_some_and(|least| items.len() < least) {
            self.broken(path, "must not be empty");
        }

        if let Some(most) = limit(schema, "maxItems").filter(|most| items.len() > *most) {
            self.broken(path, format!("must have at most {most} entries, got {}", items.len()));
        }

        if let Some(Value::Object(item)) = schema.get("items") {
            for (index, value) in items.iter_mut().enumerate() {
                self.value(item, value, &join(path, &index.to_string()));
            }
        }

        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            let mut seen = IndexSet::new();
            if let Some(index) = items.iter().position(|item| !seen.insert(item)) {
                self.broken(&join(path, &index.to_string()), "must not repeat an earlier entry");
            }
        }
    }
}

/// Returns the rule that a value of another type than `kind` breaks.
fn wrong_type(kind: &str, value: &Value) -> String {
    let expected = with_article(kind);
    let json_error = match value {
        Value::String(text) if matches!(kind, "object" | "array") => {
            serde_json::from_str::<IgnoredAny>(text).err()
        }
        _ => None,
    };

    match json_error {
        Some(error) => format!("must be {expected}, but the text is not valid JSON: {error}"),
        None => format!("must be {expected}, got {}", type_name(value)),
    }
}

/// Returns the rule that an unknown name breaks, with the most similar known name.
fn unknown_name(name: &str, known: &Fields) -> String {
    if let Some(nearest) = most_similar(&shorten_name(name), known.keys().map(String::as_str)) {
        return format!("is not an argument of this tool; the nearest is `{nearest}`");
    }

    let known: Vec<_> = known.keys().map(|name| format!("`{name}`")).collect();
    format!("is not an argument of this tool, which takes {}", known.join(", "))
}

/// Returns the number that the keyword `keyword` of a schema holds.
fn limit(schema: &Fields, keyword: &str) -> Option<usize> {
    schema.get(keyword).and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok())
}

/// Returns the path of the field `name` of the object at `path`.
fn join(path: &str, name: &str) -> String {
    let name = shorten_name(name);
    if path.is_empty() { name } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        random_inputs::{check_values, object_with},
        service::catalog::OPERATIONS,
    };

    #[test]
    fn any_arguments_are_checked_against_every_schema() {
        for entry in &OPERATIONS {
            let properties = entry.input_schema().get("properties").and_then(Value::as_object);
            let names = properties.into_iter().flat_map(Fields::keys).cloned().collect();

            check_values(&object_with(names), OPERATIONS.len(), |mut arguments| {
                let violations = check(entry.input_schema(), &mut arguments, Mode::Arguments);
                let again = check(entry.input_schema(), &mut arguments.clone(), Mode::Arguments);

                // Coercion is complete after the first check.
                assert_eq!(violations.len(), again.len(), "{arguments:?}");
            });
        }
    }
}
