//! The arguments of a tool are the parameters and body properties of the document, all of them and no others.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tas_mcp::operation::Fields;

use super::both;
use crate::support::contract::{Operation, argument, is_comma_separated, members, resolved};

/// Argument that is either a word or an object; the document says so with `oneOf`, which hosts do not take.
const WORD_OR_OBJECT: &str = "mobile_gpslocation";

/// Argument whose length counts after trimming, which a schema cannot say: a rule checks it.
const TRIMMED: &str = "custom_run_name";

/// What the document calls the arguments, with the schema of each and whether it is required.
fn documented(operation: &Operation) -> Vec<(String, &'static Value, bool)> {
    let mut arguments = Vec::new();
    for parameter in ["path", "query"].into_iter().flat_map(|place| operation.parameters_in(place)) {
        let schema = if is_comma_separated(parameter) { parameter } else { resolved(&parameter["schema"]) };
        arguments.push((argument(parameter), schema, parameter["required"] == true));
    }
    if let Some(body) = operation.body {
        for (name, schema) in members(&body["properties"]) {
            arguments.push((name.to_owned(), resolved(schema), is_required(body, name)));
        }
    }
    arguments
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|required| required.contains(&json!(name)))
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    names.collect()
}

fn properties(schema: &Fields) -> &Fields {
    schema["properties"].as_object().expect("arguments are an object")
}

#[test]
fn every_parameter_and_property_of_the_contract_is_an_argument_and_vice_versa() {
    for (entry, operation) in both() {
        let documented = documented(operation);
        let ours = names(properties(entry.input_schema()).keys().map(String::as_str));
        assert_eq!(ours, names(documented.iter().map(|(name, ..)| name.as_str())), "{}", entry.name);
    }
}

#[test]
fn required_arguments_are_those_of_the_contract() {
    for (entry, operation) in both() {
        let documented = documented(operation);
        let required = documented.iter().filter(|(.., required)| *required).map(|(name, ..)| name.as_str());
        let ours = entry.input_schema().get("required").and_then(Value::as_array);
        let ours = ours.into_iter().flatten().filter_map(Value::as_str);
        assert_eq!(names(ours), names(required), "{}", entry.name);
    }
}

#[test]
fn path_fields_are_the_placeholders_of_the_contract() {
    for (entry, operation) in both() {
        let placeholders: Vec<_> = operation.parameters_in("path").map(argument).collect();
        assert_eq!(entry.path_fields().collect::<Vec<_>>(), placeholders, "{}", entry.name);
    }
}

#[test]
fn bodies_are_closed_where_the_contract_closes_them() {
    for (entry, operation) in both() {
        let closed = operation.body.is_some_and(|body| body["additionalProperties"] == false);
        assert_eq!(entry.closed, closed, "{}", entry.name);
    }
}

#[test]
fn limits_of_arguments_are_those_of_the_contract() {
    for (entry, operation) in both() {
        for (name, theirs, _) in documented(operation) {
            compare(&format!("{}.{name}", entry.name), theirs, &properties(entry.input_schema())[&name]);
        }
    }
}

/// Compares all that both sides say of a value, and of what is in it.
fn compare(path: &str, theirs: &'static Value, ours: &Value) {
    const LIMITS: [&str; 9] = [
        "type",
        "enum",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "format",
    ];
    if is_comma_separated(theirs) {
        assert_eq!((&ours["type"], &ours["items"]["type"]), (&json!("array"), &json!("string")), "{path}");
        return;
    }
    if path.ends_with(WORD_OR_OBJECT) {
        assert!(theirs["oneOf"].is_array(), "{path}");
        return;
    }
    for limit in LIMITS {
        assert_eq!(ours.get(limit), theirs.get(limit), "{path}: {limit}");
    }
    if theirs["format"] != "uuid" {
        assert_eq!(ours.get("minLength"), theirs.get("minLength"), "{path}: minLength");
        assert!(theirs.get("pattern").is_none() || path.ends_with(TRIMMED), "{path}");
    }
    compare_default(path, theirs.get("default"), ours);
    if let Some(items) = theirs.get("items") {
        compare(&format!("{path}.items"), resolved(items), &ours["items"]);
    }
    if let Some(any) = theirs.get("additionalProperties").filter(|any| any.is_object()) {
        compare(&format!("{path}.*"), resolved(any), &ours["additionalProperties"]);
    }
    let inner = names(members(&theirs["properties"]).map(|(name, _)| name));
    let empty = Fields::new();
    let known = ours["properties"].as_object().unwrap_or(&empty);
    assert_eq!(names(known.keys().map(String::as_str)), inner, "{path}");
    for (name, theirs) in members(&theirs["properties"]) {
        compare(&format!("{path}.{name}"), resolved(theirs), &known[name]);
    }
    for name in inner {
        assert_eq!(is_required(ours, name), is_required(theirs, name), "{path}.{name}");
    }
}

/// A default stands in the description, which every host shows; in the schema too it is the same one.
fn compare_default(path: &str, theirs: Option<&Value>, ours: &Value) {
    let Some(default) = theirs else {
        assert_eq!(ours.get("default"), None, "{path}: default");
        return;
    };
    if let Some(ours) = ours.get("default") {
        assert_eq!(ours, default, "{path}: default");
    }
    let text = ours["description"].as_str().unwrap_or_default().to_lowercase();
    let value = if default.is_string() {
        default.as_str().unwrap_or_default().to_owned()
    } else {
        default.to_string()
    };
    let said = [
        format!("default {value}"),
        format!("default `{value}`"),
        format!("default \"{value}\""),
        format!("{value} (default)"),
    ];
    let found = said.iter().any(|said| text.contains(&said.to_lowercase()));
    assert!(found, "{path}: `{text}` does not say `default {value}`");
}
