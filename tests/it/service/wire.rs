//! Requests of every operation have the method, path, query and body that the contract requires.

use reqwest::Url;
use serde_json::{Value, json};
use tas_mcp::{
    fields::Fields,
    service::{
        catalog::{OPERATIONS, OperationEntry},
        operation::UrlBase,
        request::Request,
        tool::Access,
    },
};

use crate::support::contract::{self, Operation, resolved};

mod examples;
mod hostile_values;
mod names;
mod rules;
mod samples;

const PROJECT: &str = "demo-project";

/// Each operation of the crate with its operation of the contract.
fn operations_with_contract() -> impl Iterator<Item = (&'static OperationEntry, &'static Operation)> {
    OPERATIONS.iter().map(|entry| (entry, contract::operation(entry.name)))
}

/// Schema of the object that holds the fields of a body.
fn fields_schema(entry: &OperationEntry, operation: &Operation) -> Option<&'static Value> {
    let body = operation.body?;
    Some(entry.request.wrapper.map_or(body, |wrapper| resolved(&body["properties"][wrapper])))
}

/// The fields of a body, without the object that wraps them.
fn unwrapped(entry: &OperationEntry, body: &Value) -> Option<Fields> {
    entry.request.wrapper.map_or(body, |wrapper| &body[wrapper]).as_object().cloned()
}

/// The body of these fields, with the object that wraps them.
fn wrapped(entry: &OperationEntry, fields: Fields) -> Value {
    let fields = Value::Object(fields);
    entry.request.wrapper.map_or(fields.clone(), |wrapper| json!({wrapper: fields}))
}

/// The request to a project with these arguments, which must be valid.
fn laid_out(entry: &'static OperationEntry, arguments: &Fields, project: Option<&str>) -> Request {
    let request = Request::new(entry, arguments.clone(), project, "tmsys");
    request.unwrap_or_else(|broken| panic!("{}: {broken:?}", entry.name))
}

/// The decoded names and values of a query.
fn pairs(target: &str) -> Vec<(String, String)> {
    url(target).query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

/// The URL of a target, parsed by another crate than the one under test.
fn url(target: &str) -> Url {
    Url::parse(&format!("https://service.example/api/v1{target}")).expect("a target makes an address")
}

/// The text of a value in a query.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// A value for each placeholder of the path, the project among them where the path names it.
fn path_sample(entry: &OperationEntry, operation: &Operation) -> Fields {
    let mut sample = operation.sample("path");
    if entry.request.names_project() && entry.request.path.contains(tas_mcp::service::operation::PROJECT) {
        sample.insert("project_id".to_owned(), json!(PROJECT));
    }
    sample
}

/// The path of the contract with the same values.
fn path_on_wire(operation: &Operation) -> String {
    operation.sample_path().replace("{projectId}", PROJECT)
}

#[test]
fn methods_are_those_of_the_contract() {
    for (entry, operation) in operations_with_contract() {
        assert_eq!(entry.request.method.as_str(), operation.method, "{}", entry.name);
    }
}

#[test]
fn permissions_are_those_of_the_contract() {
    for (entry, operation) in operations_with_contract() {
        let access = match operation.permission {
            "none" => Access::NoKey,
            "any-key" | "any-project-key" => Access::AnyKey,
            permission => Access::Permission(permission),
        };
        assert_eq!(entry.access, access, "{}", entry.name);
    }
}

#[test]
fn paths_are_those_of_the_contract() {
    for (entry, operation) in operations_with_contract() {
        let target = |project| laid_out(entry, &path_sample(entry, operation), project).target;
        let path = path_on_wire(operation);
        let in_project = matches!(entry.request.url_base, UrlBase::Project | UrlBase::NamedProject);
        let prefix = if in_project { format!("/project/{PROJECT}") } else { String::new() };
        assert_eq!(target(Some(PROJECT)), format!("{prefix}{path}"), "{}", entry.name);
        assert_eq!(target(None), path, "{}", entry.name);
    }
}

#[test]
fn every_query_parameter_is_sent_as_the_contract_requires() {
    for (entry, operation) in operations_with_contract() {
        let query = operation.sample("query");
        let mut arguments = path_sample(entry, operation);
        arguments.extend(query.clone());

        let request = laid_out(entry, &arguments, None);
        let expected: Vec<_> = query.iter().map(|(name, value)| (name.clone(), text(value))).collect();

        assert_eq!(pairs(&laid_out(entry, &arguments, Some(PROJECT)).target), expected, "{}", entry.name);
        assert_eq!(url(&request.target).path(), format!("/api/v1{}", path_on_wire(operation)));

        let body = entry.request.has_body().then(|| wrapped(entry, Fields::new()).to_string().into_bytes());

        assert_eq!(request.body, body, "{}", entry.name);
    }
}

#[test]
fn a_deletion_has_a_body_only_if_it_has_body_fields() {
    let entry = tas_mcp::service::catalog::find("delete_test").unwrap();
    let arguments = |more: Value| {
        let mut arguments = json!({"test_id": "t"}).as_object().cloned().unwrap();
        arguments.extend(more.as_object().cloned().unwrap());
        let request = laid_out(entry, &arguments, None);
        (request.target, request.body.map(|body| String::from_utf8(body).expect("UTF-8")))
    };
    let target = || "/tests/t".to_owned();

    assert_eq!(arguments(json!({})), (target(), None));

    let body = r#"{"force_delete":false}"#.to_owned();
    assert_eq!(arguments(json!({"force_delete": false})), (target(), Some(body)));
}

#[test]
fn own_arguments_are_not_sent() {
    let mut count = 0;
    for (entry, operation) in operations_with_contract() {
        let plain = laid_out(entry, &path_sample(entry, operation), None);
        for name in entry.request.own_arguments {
            let mut arguments = path_sample(entry, operation);
            arguments.insert((*name).to_owned(), json!(1));
            let request = laid_out(entry, &arguments, None);
            assert_eq!((request.target, request.body), (plain.target.clone(), None));
            count += 1;
        }
    }

    assert!(count > 0);
}

#[test]
fn the_deployment_name_is_part_of_the_path() {
    let entry = tas_mcp::service::catalog::find("export_tmsys_run").unwrap();
    let request = Request::new(entry, Fields::new(), None, "acme rail").unwrap();
    assert_eq!(request.target, "/runs/export/acme%20rail");
}
