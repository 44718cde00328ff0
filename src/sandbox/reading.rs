//! A request as the fields of its operation: path, query and body, checked by the operation's schema and rules.

use http::StatusCode;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::{Endpoint, Fault, Invalid};
use crate::{
    fields::Fields,
    service::{
        arguments::{Mode, check},
        catalog::OperationEntry,
        rule::Rule,
    },
    violation::Violation,
};

/// Texts of the service for rules that have a fixed one (supplement 1.5).
const FIXED_TEXTS: &[([&str; 2], &str)] = &[
    (["folder_path", "folder_id"], "supply either folder_path or folder_id, not both"),
    (["parent_path", "parent_folder_id"], "supply either parent_path or parent_folder_id, not both"),
];

/// The word of the service for a field that is missing (supplement 1.5).
const REQUIRED: &str = "Required";

/// The checked fields of a request. `path` holds the decoded values of the path.
pub(super) fn fields(entry: &Endpoint, path: Fields, query: &str, body: &[u8]) -> Result<Fields, Fault> {
    let mut fields = query_fields(entry.input_schema(), query);
    // What belongs in the body does not count elsewhere, and what is ours is not the service's.
    fields.retain(|name, _| {
        !entry.request.is_in_body(name) && !entry.request.own_arguments.contains(&name.as_str())
    });

    let has_body = entry.request.has_body() || !(entry.request.body_fields.is_empty() || body.is_empty());
    if has_body {
        // What a query says is text; what is wrong with it shows below.
        check(entry.input_schema(), &mut fields, Mode::Query);
        let body = object(body).and_then(|body| unwrapped(entry, body));
        let body = match body {
            Err(_) if entry.invalid == Invalid::Ignored => Fields::new(),
            body => body.map_err(|rule| entry.invalid.refuse(rule))?,
        };
        fields.extend(body.into_iter().filter(|(name, _)| entry.request.is_in_body(name)));
    }

    fields.extend(path);
    let mode = match (has_body, entry.request.denies_unknown_fields) {
        (false, _) => Mode::Query,
        (true, false) => Mode::Body,
        (true, true) => Mode::ClosedBody,
    };
    let mut broken = violations(entry, &mut fields, mode);

    if entry.invalid == Invalid::Ignored {
        for violation in broken {
            fields.shift_remove(violation.path.split('.').next().unwrap_or_default());
        }
        broken = violations(entry, &mut fields, mode);
    }

    match broken.into_iter().next() {
        Some(violation) => Err(entry.invalid.refuse(refusal(entry, &violation))),
        None => Ok(fields),
    }
}

/// The refusal of a body that exceeds the limit.
pub(super) fn too_large() -> Fault {
    Fault::new(StatusCode::PAYLOAD_TOO_LARGE, "request body too large")
}

fn violations(entry: &OperationEntry, fields: &mut Fields, mode: Mode) -> Vec<Violation> {
    let mut violations = check(entry.input_schema(), fields, mode);
    for rule in entry.rules {
        let earlier = violations.len();
        rule.check(fields, &mut violations);
        if let (Some(text), Some(violation)) = (fixed_text(rule), violations.get_mut(earlier)) {
            *violation = Violation::new("", text);
        }
    }

    violations
}

fn fixed_text(rule: &Rule) -> Option<&'static str> {
    let names = rule.names();
    FIXED_TEXTS.iter().find(|(fixed, _)| fixed.as_slice() == names.as_slice()).map(|(_, text)| *text)
}

fn refusal(entry: &Endpoint, violation: &Violation) -> String {
    let rule = if violation.rule == "is required" { REQUIRED } else { &violation.rule };
    match (violation.path.as_str(), entry.request.wrapper) {
        ("", _) => rule.to_owned(),
        (path, Some(wrapper)) => format!("invalid request: {wrapper}.{path}: {rule}"),
        (path, None) => format!("invalid request: {path}: {rule}"),
    }
}

/// The fields of a body that holds them in an object.
fn unwrapped(entry: &OperationEntry, mut body: Fields) -> Result<Fields, String> {
    let Some(wrapper) = entry.request.wrapper else { return Ok(body) };
    match body.shift_remove(wrapper) {
        Some(Value::Object(fields)) => Ok(fields),
        Some(_) => Err(format!("invalid request: {wrapper}: must be an object")),
        None => Err(format!("invalid request: {wrapper}: {REQUIRED}")),
    }
}

fn object(body: &[u8]) -> Result<Fields, String> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("invalid request: the body must be a JSON object".to_owned()),
        Err(error) => Err(format!("invalid request: the body is not JSON: {error}")),
    }
}

/// The fields of a query: lists are comma-separated, or repeated; of other repeated names the last one counts.
fn query_fields(schema: &Fields, query: &str) -> Fields {
    let mut fields = Fields::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decoded(name), decoded(value));

        if is_list(schema, &name) {
            let list = fields.entry(name).or_insert_with(|| json!([]));
            if let Value::Array(list) = list {
                list.extend(value.split(',').map(str::trim).filter(|one| !one.is_empty()).map(Value::from));
            }
        } else {
            fields.insert(name, Value::String(value));
        }
    }

    fields
}

fn is_list(schema: &Fields, name: &str) -> bool {
    let kind = schema.get("properties").and_then(|all| all.get(name)).and_then(|one| one.get("type"));
    kind.is_some_and(|kind| kind == "array")
}

fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}
