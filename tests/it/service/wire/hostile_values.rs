//! Hostile values cannot change the structure of a request.

use reqwest::Url;
use serde_json::json;
use tas_mcp::{
    failure::Violation,
    fields::Fields,
    service::{
        catalog::{self, OperationEntry},
        request::{self, Request},
    },
};

use super::{laid_out, operations_with_contract, pairs, path_sample, url};
use crate::support::contract::Operation;

/// Values that would change a path or a query if they were not encoded or refused.
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

fn paths(violations: &[Violation]) -> Vec<&str> {
    violations.iter().map(|violation| violation.path.as_str()).collect()
}

/// Percent-encodes all but the unreserved characters (RFC 3986, 2.3), independently of the code under test.
fn url_encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encode).collect()
}

#[test]
fn a_hostile_id_is_one_encoded_segment_or_refused() {
    let endless = "a".repeat(1 << 20);
    for (entry, operation) in operations_with_contract() {
        // The name of a file has several segments; a test of its own covers it.
        for field in entry.request.path_fields().filter(|field| *field != "filename") {
            for hostile in HOSTILE.into_iter().chain([endless.as_str()]) {
                assert_one_segment_or_refused(entry, operation, field, hostile);
            }
        }
    }
}

/// Asserts that a value of a path field changes neither the number of segments nor the query, unless it is refused.
fn assert_one_segment_or_refused(
    entry: &'static OperationEntry,
    operation: &Operation,
    field: &str,
    hostile: &str,
) {
    let mut arguments = path_sample(entry, operation);
    let harmless = url(&laid_out(entry, &arguments, None).target);
    arguments.insert(field.to_owned(), json!(hostile));

    let request = match Request::new(entry, arguments, None, "tmsys") {
        Ok(request) => request,
        Err(violations) => {
            assert_eq!(paths(&violations), [field], "{} {hostile:?}", entry.name);
            return;
        }
    };

    let target = url(&request.target);
    let count_segments = |url: &Url| url.path_segments().map_or(0, Iterator::count);
    let encoded = url_encoded(hostile);

    assert_eq!(count_segments(&target), count_segments(&harmless), "{} {hostile:?}", entry.name);
    assert_eq!((target.query(), target.fragment()), (None, None), "{} {hostile:?}", entry.name);
    assert!(target.path().split('/').any(|segment| segment == encoded), "{} {hostile:?}", entry.name);
}

#[test]
fn a_file_name_is_a_relative_path_or_refused() {
    let (entry, operation) =
        operations_with_contract().find(|(entry, _)| entry.name == "get_run_artifact").unwrap();
    let path = |name: &str| {
        let mut arguments = operation.sample("path");
        arguments.insert("filename".to_owned(), json!(name));
        Request::new(entry, arguments, None, "tmsys").map(|request| request.target)
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
        let violations = path(name).expect_err(name);
        assert_eq!(paths(&violations), ["filename"], "{name}");
    }
}

#[test]
fn a_hostile_query_value_is_one_encoded_value() {
    for (entry, operation) in operations_with_contract().filter(|(entry, _)| !entry.request.has_body()) {
        for parameter in operation.parameters_in("query") {
            let name = parameter["name"].as_str().unwrap();
            for hostile in HOSTILE {
                let mut arguments = path_sample(entry, operation);
                arguments.insert(name.to_owned(), json!(hostile));

                let target = laid_out(entry, &arguments, None).target;

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
fn a_query_above_the_length_limit_is_refused_with_its_longest_argument() {
    let entry = catalog::find("list_bugs").unwrap();
    let arguments = json!({"category": "ui", "search": "ä".repeat(1 << 20), "sort_by": "severity"});
    let arguments = arguments.as_object().cloned().unwrap();
    let violations = Request::new(entry, arguments, None, "tmsys").unwrap_err();

    assert_eq!(paths(&violations), ["search"]);
}

#[test]
fn a_hostile_project_is_one_encoded_segment_or_refused() {
    let entry = catalog::find("list_runs").unwrap();
    for hostile in HOSTILE {
        if request::check_id(hostile).is_err() {
            continue;
        }
        let target = url(&laid_out(entry, &Fields::new(), Some(hostile)).target);
        let segments: Vec<_> = target.path_segments().unwrap().collect();
        assert_eq!(segments, ["api", "v1", "project", &url_encoded(hostile), "runs"], "{hostile:?}");
        assert_eq!((target.query(), target.fragment()), (None, None), "{hostile:?}");
    }
}
