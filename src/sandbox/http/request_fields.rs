//! Reads a request as the fields of its operation: path, query and body, checked by the schema and the rules.

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::failure::Violation;
use crate::fields::Fields;
use crate::sandbox::answers::answer::{ApiError, Endpoint};
use crate::service::arguments::{Mode, check};
use crate::service::catalog::OperationEntry;

/// Error texts of the service for certain rules (service.md 1.5).
const FIXED_TEXTS: &[([&str; 2], &str)] = &[
    (["folder_path", "folder_id"], "supply either folder_path or folder_id, not both"),
    (["parent_path", "parent_folder_id"], "supply either parent_path or parent_folder_id, not both"),
];

const REQUIRED: &str = "Required";

/// Returns the checked fields of a request. `path` contains the decoded values of the path.
///
/// # Errors
///
/// Returns a 400 with the first violation.
pub(super) fn read(endpoint: &Endpoint, path: Fields, query: &str, body: &[u8]) -> Result<Fields, ApiError> {
    let mut fields = query_fields(endpoint.input_schema(), query);
    // The service ignores body fields in a query, and the arguments that only the tool has.
    fields.retain(|name, _| {
        !endpoint.request.is_in_body(name) && !endpoint.request.own_arguments.contains(&name.as_str())
    });

    // The contract states bodies of `POST` and `PATCH`, and one optional body of `DELETE` (service.md 6.5).
    let has_body =
        endpoint.request.has_body() || !(endpoint.request.exceptions.is_empty() || body.is_empty());
    if has_body {
        // Query values are text. They are converted before the body is added, whose values have JSON types.
        // Violations are ignored here, because the complete fields are checked below.
        drop(check(endpoint.input_schema(), &mut fields, Mode::Query));
        fields.extend(read_body(endpoint, body)?);
    }

    fields.extend(path);
    let mode = match (has_body, endpoint.request.denies_unknown_fields) {
        (false, _) => Mode::Query,
        (true, false) => Mode::Body,
        (true, true) => Mode::ClosedBody,
    };

    match check_fields(endpoint, &mut fields, mode).into_iter().next() {
        Some(violation) => Err(ApiError::invalid(error_text(endpoint, &violation))),
        None => Ok(fields),
    }
}

fn read_body(endpoint: &Endpoint, body: &[u8]) -> Result<Fields, ApiError> {
    let fields =
        parse_object(body).and_then(|body| unwrap_body(endpoint, body)).map_err(ApiError::invalid)?;
    Ok(fields.into_iter().filter(|(name, _)| endpoint.request.is_in_body(name)).collect())
}

fn check_fields(entry: &OperationEntry, fields: &mut Fields, mode: Mode) -> Vec<Violation> {
    let mut violations = check(entry.input_schema(), fields, mode).violations;
    for rule in entry.rules.iter().filter(|rule| rule.is_of_service()) {
        let earlier = violations.len();
        rule.check(fields, &mut violations);

        let names = rule.names();
        let fixed = FIXED_TEXTS.iter().find(|(fixed, _)| fixed.as_slice() == names.as_slice());
        if let (Some((_, text)), Some(violation)) = (fixed, violations.get_mut(earlier)) {
            *violation = Violation::new("", *text);
        }
    }

    violations
}

fn error_text(endpoint: &Endpoint, violation: &Violation) -> String {
    let rule = violation.rule.to_string();
    let rule = if rule == "is required" { REQUIRED } else { &rule };
    match (violation.path.as_str(), endpoint.request.wrapper) {
        ("", _) => rule.to_owned(),
        (path, Some(wrapper)) => format!("invalid request: {wrapper}.{path}: {rule}"),
        (path, None) => format!("invalid request: {path}: {rule}"),
    }
}

/// Returns the fields in the wrapper object of a body, or the body if the operation has no wrapper.
fn unwrap_body(entry: &OperationEntry, mut body: Fields) -> Result<Fields, String> {
    let Some(wrapper) = entry.request.wrapper else { return Ok(body) };
    match body.shift_remove(wrapper) {
        Some(Value::Object(fields)) => Ok(fields),
        Some(_) => Err(format!("invalid request: {wrapper}: must be an object")),
        None => Err(format!("invalid request: {wrapper}: {REQUIRED}")),
    }
}

fn parse_object(body: &[u8]) -> Result<Fields, String> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("invalid request: the body must be a JSON object".to_owned()),
        Err(error) => Err(format!("invalid request: the body is not JSON: {error}")),
    }
}

/// Returns the names and values of a query, decoded.
fn query_pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    query.split('&').filter(|pair| !pair.is_empty()).map(move |pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    })
}

/// Returns the fields of a query. Every value is text, except lists of the schema.
///
/// A list is comma-separated or repeated. If another name is repeated, its last value counts. Bytes that are not
/// UTF-8 become the replacement character.
fn query_fields(schema: &Fields, query: &str) -> Fields {
    let mut fields = Fields::new();
    for (name, value) in query_pairs(query) {
        let property = schema.get("properties").and_then(|properties| properties.get(&name));
        if property.and_then(|property| property.get("type")).is_none_or(|kind| kind != "array") {
            fields.insert(name, Value::from(value));
            continue;
        }

        let list = fields.entry(name).or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            list.extend(value.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Value::from));
        }
    }

    fields
}
