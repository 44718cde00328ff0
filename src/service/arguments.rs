//! Checks arguments against an input schema and reports every violation at once.
//!
//! What is plain in meaning is coerced (`design.md` 5): some hosts send `"3"` for 3, `"true"` for true, or an
//! object as a string of JSON. The sandbox uses the same check without coercion for bodies, and with it for
//! queries, whose values are all text.

use indexmap::IndexSet;
use serde_json::Value;

mod coercion;

use self::coercion::coerce;
use crate::{
    fields::Fields,
    service::schema::{KNOWN, OR_TYPE},
    text::{most_similar, shorten_name},
    violation::Violation,
};

/// How forgiving a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Arguments of a caller: plain meaning is coerced, `null` is as good as absent, unknown names are violations.
    Arguments,
    /// Text of a query: coerced; unknown names are passed over.
    Query,
    /// A JSON body as the service reads it: nothing is coerced; unknown names are passed over.
    Body,
    /// A JSON body of an operation that refuses unknown names.
    ClosedBody,
}

impl Mode {
    const fn coerces(self) -> bool {
        matches!(self, Self::Arguments | Self::Query)
    }

    const fn is_closed(self) -> bool {
        matches!(self, Self::Arguments | Self::ClosedBody)
    }
}

/// Checks `arguments` in place against `schema`, coercing them as `mode` allows.
pub fn check(schema: &Fields, arguments: &mut Fields, mode: Mode) -> Vec<Violation> {
    let mut violations = Vec::new();
    Check { mode, violations: &mut violations }.object(schema, arguments, "");
    violations
}

struct Check<'a> {
    mode: Mode,
    violations: &'a mut Vec<Violation>,
}

impl Check<'_> {
    fn broken(&mut self, path: &str, rule: impl Into<String>) {
        self.violations.push(Violation::new(path, rule));
    }

    fn object(&mut self, schema: &Fields, object: &mut Fields, path: &str) {
        let none = Fields::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);

        if self.mode == Mode::Arguments && !properties.is_empty() {
            object.retain(|_, value| !value.is_null());
        }

        let additional = schema.get("additionalProperties");
        for (name, value) in object.iter_mut() {
            let at = join(path, name);
            if let Some(Value::Object(property)) = properties.get(name) {
                self.value(property, value, &at);
            } else if let Some(Value::Object(any)) = additional {
                self.value(any, value, &at);
            } else if self.mode.is_closed() && !properties.is_empty() {
                self.broken(&at, unknown(name, properties));
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

        if schema.get(OR_TYPE).and_then(Value::as_str).is_some_and(|other| is_a(other, value)) {
            return;
        }
        if !is_a(kind, value) {
            return self.broken(path, format!("must be {}, got {}", with_article(kind), name_of(value)));
        }

        match value {
            Value::String(text) => self.text(schema, text, path),
            Value::Number(number) => self.number(schema, number, path),
            Value::Array(items) => self.array(schema, items, path),
            Value::Object(object) => match schema.get(KNOWN) {
                // It passes through as it is: nothing in it is coerced, and what we do not know is not our business.
                Some(Value::Object(known)) => {
                    Check { mode: Mode::Body, violations: self.violations }.object(known, object, path);
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
            let mut earlier = IndexSet::new();
            if let Some(index) = items.iter().position(|item| !earlier.insert(item)) {
                self.broken(&join(path, &index.to_string()), "must not repeat an earlier entry");
            }
        }
    }
}

/// Says that a name is unknown, and which known one it is nearest to.
fn unknown(name: &str, known: &Fields) -> String {
    if let Some(nearest) = most_similar(&shorten_name(name), known.keys().map(String::as_str)) {
        return format!("is not an argument of this tool; the nearest is `{nearest}`");
    }
    let known: Vec<_> = known.keys().map(|name| format!("`{name}`")).collect();
    format!("is not an argument of this tool, which takes {}", known.join(", "))
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn with_article(kind: &str) -> &str {
    match kind {
        "integer" => "an integer",
        "array" => "an array",
        "object" => "an object",
        "boolean" => "true or false",
        "number" => "a number",
        _ => "a string",
    }
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn limit(schema: &Fields, name: &str) -> Option<usize> {
    schema.get(name).and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok())
}

/// Whether `text` is a UUID in the hyphenated form that the service takes.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

fn join(path: &str, name: &str) -> String {
    let name = shorten_name(name);
    if path.is_empty() { name } else { format!("{path}.{name}") }
}
