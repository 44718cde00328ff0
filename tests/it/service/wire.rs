//! Every operation goes over the wire as the service's document says, built from the document's own examples.

use std::collections::BTreeMap;

use reqwest::Url;
use serde_json::{Value, json};
use tas_mcp::{
    fields::Fields,
    service::{
        arguments::{self, Mode},
        catalog::{OPERATIONS, OperationEntry},
        operation::UrlBase,
        request::{self, Layout, layout},
        tool::Access,
    },
};

use crate::support::contract::{Contract, Operation, resolved};

mod names;
mod rules;

const PROJECT: &str = "demo-project";

/// Ids that try to be something else than one segment of a path.
const HOSTILE: [&str; 18] = [
    "",
    " ",
    "\t\n",
    ".",
    "..",
    "../..",
    "a/b",
    "/",
    "a\\b",
    "?x=1",
    "a&b=c",
    "#",
    "%2e%2e",
    "%2F",
    "a b",
    "\0",
    "läuft\u{202e}",
    "id;v=1",
];

/// Each operation of ours with that of the document.
fn both() -> impl Iterator<Item = (&'static OperationEntry, &'static Operation)> {
    OPERATIONS.iter().map(|entry| (entry, Contract::load().operation(entry.name)))
}

/// Schema of the object that holds the fields of a body.
fn holder(entry: &OperationEntry, operation: &Operation) -> Option<&'static Value> {
    let body = operation.body?;
    Some(entry.request.wrapper.map_or(body, |wrapper| resolved(&body["properties"][wrapper])))
}

/// The fields that a body holds.
fn unwrapped(entry: &OperationEntry, body: &Value) -> Option<Fields> {
    entry.request.wrapper.map_or(body, |wrapper| &body[wrapper]).as_object().cloned()
}

/// The body that holds the fields.
fn wrapped(entry: &OperationEntry, fields: Fields) -> Value {
    let fields = Value::Object(fields);
    entry.request.wrapper.map_or(fields.clone(), |wrapper| json!({wrapper: fields}))
}

fn laid_out(entry: &OperationEntry, arguments: &Fields) -> Layout {
    layout(entry, arguments, "tmsys").unwrap_or_else(|broken| panic!("{}: {broken:?}", entry.name))
}

/// The names and values of a query, decoded by an independent reader.
fn pairs(target: &str) -> Vec<(String, String)> {
    url(target).query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

fn url(target: &str) -> Url {
    Url::parse(&format!("https://service.example/api/v1{target}")).expect("a target makes an address")
}

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

/// The path below its host, with the same values.
fn path_on_wire(operation: &Operation) -> String {
    operation.sample_path().replace("{projectId}", PROJECT)
}

#[test]
fn methods_are_those_of_the_contract() {
    for (entry, operation) in both() {
        assert_eq!(entry.request.method.as_str(), operation.method, "{}", entry.name);
    }
}

#[test]
fn permissions_are_those_of_the_contract() {
    for (entry, operation) in both() {
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
    for (entry, operation) in both() {
        let layout = laid_out(entry, &path_sample(entry, operation));
        let path = path_on_wire(operation);
        let in_project = matches!(entry.request.url_base, UrlBase::Project | UrlBase::NamedProject);
        let prefix = if in_project { format!("/project/{PROJECT}") } else { String::new() };
        assert_eq!(layout.target(Some(PROJECT)), format!("{prefix}{path}"), "{}", entry.name);
        assert_eq!(layout.target(None), path, "{}", entry.name);
    }
}

#[test]
fn every_query_parameter_of_the_contract_travels_as_the_contract_says() {
    for (entry, operation) in both() {
        let query = operation.sample("query");
        let mut arguments = path_sample(entry, operation);
        arguments.extend(query.clone());

        let layout = laid_out(entry, &arguments);
        let expected: Vec<_> = query.iter().map(|(name, value)| (name.clone(), text(value))).collect();

        assert_eq!(pairs(&layout.target(Some(PROJECT))), expected, "{}", entry.name);
        assert_eq!(url(&layout.target(None)).path(), format!("/api/v1{}", path_on_wire(operation)));

        let body = entry.request.has_body().then(|| wrapped(entry, Fields::new()).to_string().into_bytes());

        assert_eq!(layout.body, body, "{}", entry.name);
    }
}

#[test]
fn every_request_example_of_the_contract_travels_unchanged() {
    let mut seen = BTreeMap::new();
    for (entry, operation) in both().filter(|(_, operation)| operation.body.is_some()) {
        for (name, body) in Contract::load().examples(entry.name).requests {
            let mut arguments = operation.sample("path");
            arguments.extend(unwrapped(entry, body).expect("examples are objects"));
            // Null is as good as absent: the example means the default.
            arguments.retain(|_, value| !value.is_null());

            let project = arguments.shift_remove("project_id");

            assert_eq!(project.is_some(), entry.request.project_in_body, "{} {name}", entry.name);

            let given = arguments.clone();
            let mut broken = arguments::check(entry.input_schema(), &mut arguments, Mode::Arguments);

            for rule in entry.rules.iter().chain(entry.own_rules) {
                rule.check(&arguments, &mut broken);
            }

            assert_eq!((broken, &arguments), (Vec::new(), &given), "{} {name}", entry.name);

            // The gateway puts it back.
            arguments.extend(project.map(|project| ("project_id".to_owned(), project)));
            let layout = laid_out(entry, &arguments);
            // A body that a request may lack is left out when nothing is in it.
            let body_sent = layout.body.unwrap_or_else(|| {
                assert!(!entry.request.has_body(), "{} {name}", entry.name);
                b"{}".to_vec()
            });
            let sent: Value = serde_json::from_slice(&body_sent).unwrap();
            let mut expected = unwrapped(entry, body).unwrap();

            expected.retain(|_, value| !value.is_null());

            assert_eq!(
                (sent, layout.query.as_str()),
                (wrapped(entry, expected), ""),
                "{} {name}",
                entry.name
            );

            *seen.entry(entry.name).or_insert(0) += 1;
        }
    }

    let expected = [
        ("complete_build_upload", 2),
        ("create_shared_step", 1),
        ("create_test", 1),
        ("create_test_folder", 3),
        ("create_test_plan", 1),
        ("delete_test", 2),
        ("export_tmsys_run", 3),
        ("initiate_build_upload", 2),
        ("start_run", 5),
        ("start_test_plan_run", 3),
        ("stop_runs", 1),
        ("update_shared_step", 2),
        ("update_test", 2),
        ("update_test_plan", 2),
    ];

    assert_eq!(seen, BTreeMap::from(expected));
}

#[test]
fn a_body_of_a_deletion_is_there_when_something_is_in_it() {
    let entry = tas_mcp::service::catalog::find("delete_test").unwrap();
    let arguments = |more: Value| {
        let mut arguments = json!({"test_id": "t"}).as_object().cloned().unwrap();
        arguments.extend(more.as_object().cloned().unwrap());
        laid_out(entry, &arguments)
    };

    assert_eq!((arguments(json!({})).body, arguments(json!({})).query), (None, String::new()));

    let layout = arguments(json!({"force_delete": false}));

    assert_eq!(layout.body.as_deref(), Some(&br#"{"force_delete":false}"#[..]));
    assert_eq!((layout.query.as_str(), layout.path.as_str()), ("", "/tests/t"));
}

#[test]
fn a_hostile_id_is_one_segment_or_refused() {
    let endless = "a".repeat(1 << 20);
    for (entry, operation) in both() {
        for field in entry.request.path_fields().filter(|field| *field != "filename") {
            for hostile in HOSTILE.into_iter().chain([endless.as_str()]) {
                let mut arguments = path_sample(entry, operation);
                let harmless = url(&laid_out(entry, &arguments).target(Some(PROJECT)));
                arguments.insert(field.to_owned(), json!(hostile));

                let layout = match layout(entry, &arguments, "tmsys") {
                    Ok(layout) => layout,
                    Err(broken) => {
                        let paths: Vec<_> = broken.iter().map(|violation| violation.path.as_str()).collect();
                        assert_eq!(paths, [field], "{} {hostile:?}", entry.name);
                        continue;
                    }
                };

                let reached = url(&layout.target(Some(PROJECT)));
                let segments = |url: &Url| url.path_segments().map_or(0, Iterator::count);

                assert_eq!(segments(&reached), segments(&harmless), "{} {hostile:?}", entry.name);
                assert_eq!((reached.query(), reached.fragment()), (None, None), "{} {hostile:?}", entry.name);

                let encoded = url_encoded(hostile);

                assert!(
                    layout.path.split('/').any(|segment| segment == encoded),
                    "{} {hostile:?}",
                    entry.name
                );
            }
        }
    }
}

#[test]
fn the_name_of_a_file_is_relative_segments_or_refused() {
    let (entry, operation) = both().find(|(entry, _)| entry.name == "get_run_artifact").unwrap();
    let path = |name: &str| {
        let mut arguments = operation.sample("path");
        arguments.insert("filename".to_owned(), json!(name));
        layout(entry, &arguments, "tmsys").map(|layout| layout.path)
    };

    for name in ["a", "deliverables/report.json", "a b/Ä&b=c.log", "a\\b/?x=1/#/%2e%2e/%2F", "...", "c:/x"] {
        let encoded: Vec<_> = name.split('/').map(url_encoded).collect();
        let expected = format!("/runs/k3v9t2mq7xa-1/artifacts/{}", encoded.join("/"));
        assert_eq!(path(name).as_ref(), Ok(&expected), "{name}");
        assert_eq!(url(&expected).path(), format!("/api/v1{expected}"), "{name}");
    }

    let endless = format!("a/{}", "a".repeat(1 << 20));
    for name in [
        "",
        " ",
        "..",
        ".",
        "/",
        "/etc/passwd",
        "../jobs",
        "a/../b",
        "a/./b",
        "a//b",
        "a/",
        "a/ /b",
        &endless,
    ] {
        let broken = path(name).expect_err(name);
        assert_eq!(broken.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["filename"], "{name}");
    }
}

#[test]
fn arguments_of_our_own_do_not_travel() {
    let mut own = 0;
    for (entry, operation) in both() {
        let plain = laid_out(entry, &path_sample(entry, operation));
        for name in entry.request.own_arguments {
            let mut arguments = path_sample(entry, operation);
            arguments.insert((*name).to_owned(), json!(1));
            let layout = laid_out(entry, &arguments);
            assert_eq!((layout.path, layout.query, layout.body), (plain.path.clone(), String::new(), None));
            own += 1;
        }
    }

    assert!(own > 0);
}

#[test]
fn ids_that_cannot_be_a_segment_are_refused() {
    let entry = tas_mcp::service::catalog::find("get_run").unwrap();
    let endless = "a".repeat(1 << 20);
    for refused in ["", " ", "\t\n", ".", "..", &endless] {
        let arguments = Fields::from_iter([("run_id".to_owned(), json!(refused))]);
        assert!(layout(entry, &arguments, "tmsys").is_err(), "{refused:.20?}");
    }
}

#[test]
fn a_hostile_query_value_stays_one_value() {
    for (entry, operation) in both().filter(|(entry, _)| !entry.request.has_body()) {
        for parameter in operation.parameters_in("query") {
            let name = parameter["name"].as_str().unwrap();
            for hostile in HOSTILE {
                let mut arguments = path_sample(entry, operation);
                arguments.insert(name.to_owned(), json!(hostile));

                let target = laid_out(entry, &arguments).target(None);

                assert_eq!(
                    pairs(&target),
                    [(name.to_owned(), hostile.to_owned())],
                    "{} {hostile:?}",
                    entry.name
                );
                assert_eq!(url(&target).fragment(), None, "{} {hostile:?}", entry.name);
            }
        }
    }
}

#[test]
fn an_endless_query_is_refused_and_names_the_longest_argument() {
    let entry = tas_mcp::service::catalog::find("list_bugs").unwrap();
    let arguments = json!({"category": "ui", "search": "ä".repeat(1 << 20), "sort_by": "severity"});
    let broken = layout(entry, arguments.as_object().unwrap(), "tmsys").unwrap_err();
    assert_eq!(broken.iter().map(|violation| violation.path.as_str()).collect::<Vec<_>>(), ["search"]);
}

#[test]
fn a_hostile_project_is_one_segment_or_refused() {
    let layout = laid_out(tas_mcp::service::catalog::find("list_runs").unwrap(), &Fields::new());
    for hostile in HOSTILE {
        if request::check_segment(hostile).is_err() {
            continue;
        }
        let reached = url(&layout.target(Some(hostile)));
        let segments: Vec<_> = reached.path_segments().unwrap().collect();
        assert_eq!(segments, ["api", "v1", "project", &url_encoded(hostile), "runs"], "{hostile:?}");
        assert_eq!((reached.query(), reached.fragment()), (None, None), "{hostile:?}");
    }
}

#[test]
fn the_deployment_s_word_is_part_of_the_path() {
    let entry = tas_mcp::service::catalog::find("export_tmsys_run").unwrap();
    let layout = layout(entry, &Fields::new(), "acme rail").unwrap();
    assert_eq!(layout.path, "/runs/export/acme%20rail");
}

/// Percent-encodes all but the unreserved characters (RFC 3986, 2.3), written out once more.
fn url_encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encode).collect()
}
