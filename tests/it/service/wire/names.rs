//! The arguments of a tool are exactly the parameters and body properties of the contract.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tas_mcp::{
    fields::Fields,
    service::{
        catalog::OperationEntry,
        operation::{PROJECT, UrlBase},
        schema::{KNOWN, OR_TYPE},
    },
};

use super::{
    fields_schema, operations_with_contract,
    samples::{argument, is_comma_separated},
};
use crate::support::contract::{Operation, members, resolved};

/// Argument that is a word or an object. The contract uses `oneOf`, which hosts do not support.
const WORD_OR_OBJECT: &str = "mobile_gpslocation";

/// Arguments with a pattern, which hosts do not support. A rule checks each of them.
const BY_RULE: [&str; 3] =
    ["export_tmsys_run.custom_run_name", "create_test_folder.name", "complete_build_upload.parts.items.etag"];

/// The arguments of the contract: name, schema, and whether the argument is required.
fn contract_arguments(entry: &OperationEntry, operation: &Operation) -> Vec<(String, &'static Value, bool)> {
    let mut arguments = Vec::new();
    for parameter in ["path", "query"].into_iter().flat_map(|place| operation.parameters_in(place)) {
        let schema = if is_comma_separated(parameter) { parameter } else { resolved(&parameter["schema"]) };
        arguments.push((argument(parameter), schema, parameter["required"] == true));
    }

    if let Some(body) = fields_schema(entry, operation) {
        // The server adds the project to such a body itself.
        let ours = |name: &str| !(entry.request.project_in_body && name == "project_id");
        for (name, schema) in members(&body["properties"]).filter(|(name, _)| ours(name)) {
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
fn arguments_are_exactly_the_parameters_and_properties_of_the_contract() {
    for (entry, operation) in operations_with_contract() {
        let contract_arguments = contract_arguments(entry, operation);
        let ours = names(properties(entry.input_schema()).keys().map(String::as_str));
        // Own arguments change the request or the reply, and are no parameters of the service.
        let theirs = contract_arguments.iter().map(|(name, ..)| name.as_str());
        let expected = names(theirs.chain(entry.request.own_arguments.iter().copied()));
        assert_eq!(ours, expected, "{}", entry.name);
        assert!(
            contract_arguments.iter().all(|(name, ..)| !entry.request.own_arguments.contains(&name.as_str()))
        );
    }
}

#[test]
fn required_arguments_are_those_of_the_contract() {
    for (entry, operation) in operations_with_contract() {
        let contract_arguments = contract_arguments(entry, operation);
        let required =
            contract_arguments.iter().filter(|(.., required)| *required).map(|(name, ..)| name.as_str());
        let ours = entry.input_schema().get("required").and_then(Value::as_array);
        let ours = ours.into_iter().flatten().filter_map(Value::as_str);
        assert_eq!(names(ours), names(required), "{}", entry.name);
    }
}

#[test]
fn path_fields_are_the_placeholders_of_the_contract() {
    for (entry, operation) in operations_with_contract() {
        let placeholders: Vec<_> = operation.parameters_in("path").map(argument).collect();
        let ours = entry.request.path_fields().filter(|field| *field != "project_id");
        assert_eq!(ours.collect::<Vec<_>>(), placeholders, "{}", entry.name);
    }
}

#[test]
fn the_project_is_in_the_path_where_the_contract_has_it() {
    let mut elsewhere = 0;
    for (entry, operation) in operations_with_contract() {
        let named = operation.parameters.iter().any(|parameter| parameter["name"] == "projectId");
        let below = matches!(entry.request.url_base, UrlBase::Project | UrlBase::NamedProject);
        assert_eq!(named, below || entry.request.path.contains(PROJECT), "{}", entry.name);
        assert_eq!(operation.elsewhere, entry.request.url_base == UrlBase::Knowledge, "{}", entry.name);
        elsewhere += usize::from(operation.elsewhere);
    }

    assert!(elsewhere > 0);
}

#[test]
fn a_value_has_several_segments_where_the_contract_allows_it() {
    for (entry, operation) in operations_with_contract() {
        for parameter in operation.parameters_in("path") {
            let several = entry.request.path.contains(&format!("{{*{}}}", argument(parameter)));
            assert_eq!(several, parameter["x-multi-segment"] == true, "{}", entry.name);
        }
    }
}

#[test]
fn headers_of_the_contract_are_no_arguments() {
    let mut headers = 0;
    for (entry, operation) in operations_with_contract() {
        for parameter in operation.parameters_in("header") {
            assert!(!properties(entry.input_schema()).contains_key(&argument(parameter)), "{}", entry.name);
            headers += 1;
        }
    }

    assert!(headers > 0);
}

#[test]
fn bodies_deny_unknown_fields_where_the_contract_does() {
    for (entry, operation) in operations_with_contract() {
        let closed = operation.body.is_some_and(|body| body["additionalProperties"] == false);
        assert_eq!(entry.request.denies_unknown_fields, closed, "{}", entry.name);
    }
}

#[test]
fn limits_of_arguments_are_those_of_the_contract() {
    for (entry, operation) in operations_with_contract() {
        for (name, theirs, _) in contract_arguments(entry, operation) {
            compare(&format!("{}.{name}", entry.name), theirs, &properties(entry.input_schema())[&name]);
        }
    }
}

/// Compares both schemas of a value, and of the values in it.
fn compare(path: &str, theirs: &'static Value, ours: &Value) {
    if is_comma_separated(theirs) {
        let pattern = theirs["schema"]["pattern"].as_str().unwrap_or_default();
        let numbers = pattern.starts_with("^[1-9][0-9]*").then(|| json!({"type": "integer", "minimum": 1}));
        assert_eq!(ours["type"], "array", "{path}");
        assert_eq!(ours["items"], numbers.unwrap_or_else(|| json!({"type": "string"})), "{path}");
        return;
    }

    if path.ends_with(WORD_OR_OBJECT) {
        assert!(theirs["oneOf"].is_array(), "{path}");
        return;
    }

    // The check of an object that passes through unchanged has the full schema. It knows usual fields of objects that the
    // contract leaves open, too.
    let is_open = theirs.get("properties").is_none() && !theirs["additionalProperties"].is_object();
    let ours = ours.get(KNOWN).filter(|_| !is_open).unwrap_or(ours);

    compare_limits(path, theirs, ours);
    compare_default(path, theirs.get("default"), ours);
    if let Some(items) = theirs.get("items") {
        compare(&format!("{path}.items"), resolved(items), &ours["items"]);
    }
    if let Some(any) = theirs.get("additionalProperties").filter(|any| any.is_object()) {
        compare(&format!("{path}.*"), resolved(any), &ours["additionalProperties"]);
    }
    compare_properties(path, theirs, ours);
}

/// Compares the types and limits of a value.
fn compare_limits(path: &str, theirs: &Value, ours: &Value) {
    const LIMITS: [&str; 10] = [
        "type",
        "enum",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxLength",
        "format",
    ];

    let nullable = theirs["type"].as_array().is_some_and(|types| types.contains(&json!("null")));

    assert_eq!(nullable, ours.get(OR_TYPE).is_some(), "{path}: null");
    for limit in LIMITS {
        assert_eq!(ours.get(limit).cloned(), theirs.get(limit).map(without_null), "{path}: {limit}");
    }

    // The format of a UUID replaces a minimum length and a pattern.
    if theirs["format"] != "uuid" {
        assert_eq!(ours.get("minLength"), theirs.get("minLength"), "{path}: minLength");
        assert!(theirs.get("pattern").is_none() || BY_RULE.contains(&path), "{path}");
    }
}

/// Compares the properties of an object, and which of them are required.
fn compare_properties(path: &str, theirs: &'static Value, ours: &Value) {
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

/// The types or values of a limit without null, which hosts do not support. A single type is not a list.
fn without_null(limit: &Value) -> Value {
    let Value::Array(all) = limit else { return limit.clone() };
    let others: Vec<_> = all.iter().filter(|one| !one.is_null() && **one != json!("null")).cloned().collect();
    match others.as_slice() {
        [only] if all.len() == 2 => only.clone(),
        _ => json!(others),
    }
}

/// Compares defaults: the description states the default, which every host shows. The schema may state it too.
fn compare_default(path: &str, theirs: Option<&Value>, ours: &Value) {
    let Some(default) = theirs else {
        assert_eq!(ours.get("default"), None, "{path}: default");
        return;
    };

    if let Some(ours) = ours.get("default") {
        assert_eq!(ours, default, "{path}: default");
    }

    let text = ours["description"].as_str().unwrap_or_default().to_lowercase().replace('`', "");
    let value = if default.is_string() {
        default.as_str().unwrap_or_default().to_owned()
    } else {
        default.to_string()
    };
    let forms = [format!("default {value}"), format!("default \"{value}\""), format!("{value} (default)")];

    let found = forms.iter().any(|form| text.contains(&form.to_lowercase()));

    assert!(found, "{path}: `{text}` does not say `default {value}`");
}

#[test]
fn a_body_wraps_its_fields_where_the_contract_does() {
    let mut wrapped = 0;
    for (entry, operation) in operations_with_contract() {
        let Some(body) = operation.body else {
            assert_eq!(entry.request.wrapper, None, "{}", entry.name);
            continue;
        };
        let properties: Vec<_> = members(&body["properties"]).collect();
        // A patch is an object too, but an argument of its own and no wrapper.
        let only = match properties.as_slice() {
            [(name, schema)] if *name != "patch" && resolved(schema)["type"] == "object" => Some(*name),
            _ => None,
        };

        assert_eq!(entry.request.wrapper, only, "{}", entry.name);

        wrapped += usize::from(only.is_some_and(|name| is_required(body, name)));
    }

    assert_eq!(wrapped, 3);
}
