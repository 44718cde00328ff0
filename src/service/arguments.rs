//! Checks arguments against an input schema and reports every violation at once.
//!
//! Values with a clear meaning are coerced, because some hosts send `"3"` for 3, `"true"` for true, or
//! an object as a string of JSON. The sandbox uses the same check: with coercion for queries, whose values are all
//! text, and without it for bodies.

use indexmap::IndexSet;
use serde_json::{Value, json};

use crate::{
    failure::Violation,
    fields::Fields,
    service::{
        rule::{Rule, is_given},
        schema::{self, KNOWN, OR_TYPE},
    },
    text::{most_similar, one_letter_away, quoted_argument, shorten_name},
};

const UNKNOWN: &str = "is not an argument of this tool";

/// Largest number of violations that a caller learns. A long list may have one for each entry.
pub const MAX_VIOLATIONS: usize = 1_000;

/// How strictly values are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Arguments of a caller. Values are coerced, `null` counts as absent, unknown names are violations.
    Arguments,
    /// Text of a query. Values are coerced, unknown names are ignored.
    Query,
    /// An object in the arguments of a caller that is sent unchanged. Nothing is coerced. An unknown name is left to
    /// the service. If it nearly is a known name, that is a warning.
    PassedThrough,
    /// A JSON body as the service reads it. Nothing is coerced, unknown names are ignored.
    Body,
    /// A JSON body of an operation that refuses unknown names. Nothing is coerced.
    ClosedBody,
}

impl Mode {
    const fn coerces(self) -> bool {
        matches!(self, Self::Arguments | Self::Query)
    }

    const fn is_of_caller(self) -> bool {
        matches!(self, Self::Arguments | Self::PassedThrough)
    }

    const fn denies_unknown_names(self) -> bool {
        matches!(self, Self::Arguments | Self::ClosedBody)
    }
}

/// Removes the arguments that have their default value and need another argument, which is absent.
pub fn remove_idle_defaults(schema: &Fields, rules: &[Rule], arguments: &mut Fields) {
    let default_of = |name: &str| schema::properties(schema)?.get(name)?.get("default");

    for rule in rules {
        if let Rule::Needs(name, needed) = rule
            && !is_given(arguments, needed)
            && arguments.get(*name).is_some_and(|value| default_of(name) == Some(value))
        {
            arguments.shift_remove(*name);
        }
    }
}

/// What a check has found.
#[derive(Debug, Default)]
pub struct Findings {
    /// Every rule that the arguments break.
    pub violations: Vec<Violation>,
    /// What the service may not understand as the caller means it.
    pub warnings: Vec<Violation>,
}

impl Findings {
    fn add(&mut self, path: &str, rule: impl Into<String>) {
        self.violations.push(Violation::new(path, rule));
    }

    /// Adds what was found in the value of the field or entry `name`.
    fn add_below(&mut self, name: &str, found: Self) {
        let below = |inner: Violation| Violation { path: join(name, &inner.path), ..inner };
        self.violations.extend(found.violations.into_iter().map(below));
        self.warnings.extend(found.warnings.into_iter().map(below));
    }
}

fn join(name: &str, path: &str) -> String {
    let name = shorten_name(name);
    if path.is_empty() { name } else { format!("{name}.{path}") }
}

/// Checks `object` against `schema` and coerces its values in place if `mode` allows it.
pub fn check(schema: &Fields, object: &mut Fields, mode: Mode) -> Findings {
    let mut findings = Findings::default();
    let none = Fields::new();
    let properties = schema::properties(schema).unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    // In an object with any fields `null` is a value.
    if mode == Mode::Arguments && !properties.is_empty() {
        object.retain(|name, value| {
            let is_required = required.iter().any(|required| required == name);
            !value.is_null() && (is_required || !stands_for_nothing(name, properties.get(name), value))
        });
    }

    // An empty schema admits any other fields.
    let others = schema.get("additionalProperties").and_then(Value::as_object);
    for (name, value) in object.iter_mut() {
        let known = properties.get(name).and_then(Value::as_object);
        if let Some(schema) = known.or(others.filter(|schema| !schema.is_empty())) {
            findings.add_below(name, check_value(schema, value, mode));
        } else if properties.is_empty() {
            // Any field is known.
        } else if mode.denies_unknown_names() && others.is_none() {
            findings.add(&shorten_name(name), unknown_name(UNKNOWN, "which takes", name, properties));
        } else if mode.is_of_caller()
            && let Some(meant) = one_letter_away(name, properties.keys().map(String::as_str))
        {
            let rule = format!("is sent, but only `{meant}` is known");
            findings.warnings.push(Violation::new(shorten_name(name), rule));
        }
    }

    for name in required.iter().filter_map(Value::as_str) {
        let is_reported = findings.violations.iter().any(|known| known.path == name);
        match object.get(name) {
            None => findings.add(name, "is required"),
            Some(Value::String(text)) if mode.is_of_caller() && text.trim().is_empty() && !is_reported => {
                findings.add(name, "must not be empty");
            }
            Some(_) => {}
        }
    }

    findings
}

fn check_value(schema: &Fields, value: &mut Value, mode: Mode) -> Findings {
    let Some(kind) = schema.get("type").and_then(Value::as_str) else { return Findings::default() };
    if mode.coerces() {
        coerce(schema, kind, value);
    }
    let other_kind = schema.get(OR_TYPE).and_then(Value::as_str);
    let has_type = has_type(kind, value) || other_kind.is_some_and(|other| has_type(other, value));

    let rule = match value {
        value if !has_type => Some(wrong_type(kind, value)),
        Value::String(text) => broken_by_text(schema, text),
        Value::Number(number) => broken_by_number(schema, number),
        Value::Array(items) => return check_items(schema, items, mode),
        Value::Object(object) => match schema.get(KNOWN).and_then(Value::as_object) {
            None => return check(schema, object, mode),
            Some(usual) if mode == Mode::PassedThrough => {
                return Findings { violations: Vec::new(), ..check(usual, object, mode) };
            }
            Some(known) => return check(known, object, Mode::PassedThrough),
        },
        Value::Null | Value::Bool(_) => None,
    };
    let violations = rule.into_iter().map(|rule| Violation::new("", rule)).collect();
    Findings { violations, warnings: Vec::new() }
}

fn broken_by_text(schema: &Fields, text: &str) -> Option<String> {
    if let Some(Value::Array(allowed)) = schema.get("enum") {
        let allowed: Vec<_> = allowed.iter().filter_map(Value::as_str).collect();
        return (!allowed.contains(&text)).then(|| format!("must be one of {}", allowed.join(", ")));
    }

    let length = text.chars().count();
    if limit(schema, "minLength").is_some_and(|least| length < least) {
        Some("must not be empty".to_owned())
    } else if let Some(most) = limit(schema, "maxLength").filter(|most| length > *most) {
        Some(format!("must have at most {most} characters, got {length}"))
    } else {
        let is_broken = schema.get("format").is_some_and(|format| format == "uuid") && !is_uuid(text);
        is_broken.then(|| "must be a UUID such as 3f2b8c1e-7a4d-4e59-9b60-1c2d3e4f5a6b".to_owned())
    }
}

fn broken_by_number(schema: &Fields, number: &serde_json::Number) -> Option<String> {
    let value = number.as_f64().unwrap_or(f64::NAN);
    let [least, most] = ["minimum", "maximum"].map(|name| schema.get(name).and_then(Value::as_f64));
    if !(least.is_some_and(|least| value < least) || most.is_some_and(|most| value > most)) {
        return None;
    }

    // The text of a number may be very long.
    let number = quoted_argument(&number.to_string());
    Some(match (least, most) {
        (Some(least), Some(most)) => format!("must be from {least} to {most}, got {number}"),
        (Some(least), None) => format!("must be {least} or more, got {number}"),
        (None, most) => format!("must be {} or less, got {number}", most.unwrap_or_default()),
    })
}

fn check_items(schema: &Fields, items: &mut [Value], mode: Mode) -> Findings {
    let mut findings = Findings::default();
    if limit(schema, "minItems").is_some_and(|least| items.len() < least) {
        findings.add("", "must not be empty");
    }
    if let Some(most) = limit(schema, "maxItems").filter(|most| items.len() > *most) {
        findings.add("", format!("must have at most {most} entries, got {}", items.len()));
    }

    if let Some(Value::Object(item)) = schema.get("items") {
        for (index, value) in items.iter_mut().enumerate() {
            if findings.violations.len() >= MAX_VIOLATIONS {
                break;
            }
            findings.add_below(&index.to_string(), check_value(item, value, mode));
        }
    }

    if schema.contains_key("uniqueItems") {
        let mut seen = IndexSet::new();
        if let Some(index) = items.iter().position(|item| !seen.insert(item)) {
            findings.add(&index.to_string(), "must not repeat an earlier entry");
        }
    }

    findings
}

/// Returns whether an optional argument is as good as absent. Models send empty texts and objects, and the words `null` and
/// `undefined` in place of an id, for arguments that they leave out.
fn stands_for_nothing(name: &str, schema: Option<&Value>, value: &Value) -> bool {
    let keyword = |keyword: &str| schema.and_then(|schema| schema.get(keyword));
    let is_id = || name.ends_with("_id") || keyword("format").is_some_and(|format| format == "uuid");
    let is_map = || keyword("additionalProperties").is_some_and(|any| *any != json!({}));

    match value {
        Value::String(text) if keyword("type").is_some_and(|kind| kind == "string") => {
            text.is_empty() || (is_id() && matches!(text.as_str(), "null" | "undefined"))
        }
        Value::Object(fields) => fields.is_empty() && is_map(),
        _ => false,
    }
}

fn wrong_type(kind: &str, value: &Value) -> String {
    let expected = if kind == "boolean" { "true or false".to_owned() } else { with_article(kind) };
    if let Value::String(text) = value
        && matches!(kind, "object" | "array")
        && let Err(error) = serde_json::from_str::<Value>(text)
    {
        return format!("must be {expected}, but the text is not valid JSON: {error}");
    }

    format!("must be {expected}, got {}", with_article(type_of(value)))
}

/// Adds the most similar known name, or all known names after `which`, to the rule `unknown` that a name breaks.
pub(crate) fn unknown_name(unknown: &str, which: &str, name: &str, known: &Fields) -> String {
    if let Some(nearest) = most_similar(&shorten_name(name), known.keys().map(String::as_str)) {
        return format!("{unknown}; the nearest is `{nearest}`");
    }

    let known: Vec<_> = known.keys().map(|name| format!("`{name}`")).collect();
    format!("{unknown}, {which} {}", known.join(", "))
}

fn limit(schema: &Fields, keyword: &str) -> Option<usize> {
    schema.get(keyword).and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok())
}

/// Converts `value` to the type `kind` of the schema if its meaning is clear.
fn coerce(schema: &Fields, kind: &str, value: &mut Value) {
    let coerced = match (kind, &*value) {
        ("integer" | "number", Value::String(text)) => parse(text.trim()).filter(Value::is_number),
        ("integer", Value::Number(number)) if number.is_f64() => number
            .as_f64()
            // Above 2^53, about 9e15, a float no longer represents every integer.
            .filter(|value| value.fract() == 0.0 && value.abs() < 9e15)
            .and_then(|value| format!("{value:.0}").parse::<i64>().ok().map(Value::from)),
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        ("string", Value::Number(number)) => Some(Value::String(number.to_string())),
        ("string", Value::String(text)) => spelled_as_listed(schema, text),
        // Some hosts send the only item of a list without the list.
        ("array", Value::String(text)) => {
            Some(parse(text).filter(Value::is_array).unwrap_or_else(|| json!([text])))
        }
        ("array", Value::Number(_)) => Some(json!([&*value])),
        ("object", Value::String(text)) => parse(text).filter(Value::is_object),
        _ => None,
    };

    if let Some(coerced) = coerced {
        *value = coerced;
    }

    // A host may send the alternative type as a string of JSON. The text `null` remains text.
    if let (Some(other), Value::String(text)) = (schema.get(OR_TYPE).and_then(Value::as_str), &*value)
        && let Some(other) = parse(text).filter(|parsed| !parsed.is_null() && has_type(other, parsed))
    {
        *value = other;
    }
}

fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// Returns the value of the `enum` that equals `text` if letter case is ignored.
fn spelled_as_listed(schema: &Fields, text: &str) -> Option<Value> {
    let allowed = schema.get("enum")?.as_array()?;
    allowed.iter().find(|one| one.as_str().is_some_and(|one| one.eq_ignore_ascii_case(text))).cloned()
}

fn has_type(kind: &str, value: &Value) -> bool {
    match kind {
        "integer" => value.is_i64() || value.is_u64(),
        kind => kind == type_of(value),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => kind.to_owned(),
        "integer" | "array" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

/// Returns whether `text` is a UUID in the hyphenated form that the service accepts.
pub fn is_uuid(text: &str) -> bool {
    // The parser of the crate also accepts other forms, such as braces.
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}
