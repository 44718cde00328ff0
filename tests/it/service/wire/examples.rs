//! The request examples of the contract are sent unchanged.

use std::collections::BTreeMap;

use serde_json::Value;
use tas_mcp::{
    fields::Fields,
    service::{
        arguments::{self, Mode},
        catalog::OperationEntry,
    },
};

use super::{laid_out, operations_with_contract, unwrapped, wrapped};
use crate::support::contract::Operation;

/// Number of request examples of each operation with a body.
const EXAMPLES: [(&str, usize); 14] = [
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

#[test]
fn every_request_example_is_sent_unchanged() {
    let mut counts = BTreeMap::new();

    for (entry, operation) in operations_with_contract().filter(|(_, operation)| operation.body.is_some()) {
        for (name, example) in &operation.requests {
            let label = format!("{} {name}", entry.name);
            let arguments = arguments_of(entry, operation, example, &label);
            let (body, query) = sent_body_and_query(entry, &arguments, &label);

            let mut expected = unwrapped(entry, example).unwrap();
            expected.retain(|_, value| !value.is_null());

            assert_eq!((body, query.as_str()), (wrapped(entry, expected), ""), "{label}");
            *counts.entry(entry.name).or_insert(0) += 1;
        }
    }

    assert_eq!(counts, BTreeMap::from(EXAMPLES));
}

/// The arguments that an example means. Asserts that the check and the rules neither refuse nor change them.
fn arguments_of(entry: &OperationEntry, operation: &Operation, example: &Value, label: &str) -> Fields {
    let mut arguments = operation.sample("path");
    arguments.extend(unwrapped(entry, example).expect("examples are objects"));
    // Null counts as absent: such an example means the default.
    arguments.retain(|_, value| !value.is_null());

    // The project is no argument of the operation. The server adds it to the body after the check.
    let project = arguments.shift_remove("project_id");
    assert_eq!(project.is_some(), entry.request.project_in_body, "{label}");

    let mut checked = arguments.clone();
    let mut violations = arguments::check(entry.input_schema(), &mut checked, Mode::Arguments).violations;
    for rule in entry.rules.iter().filter(|rule| !rule.is_advice()) {
        rule.check(&checked, &mut violations);
    }
    assert_eq!((violations, &checked), (Vec::new(), &arguments), "{label}");

    arguments.extend(project.map(|project| ("project_id".to_owned(), project)));
    arguments
}

/// The body and the query of the request. An empty body may be left out where the request may lack it.
fn sent_body_and_query(entry: &'static OperationEntry, arguments: &Fields, label: &str) -> (Value, String) {
    let request = laid_out(entry, arguments, None);
    let body = request.body.unwrap_or_else(|| {
        assert!(!entry.request.has_body(), "{label}");
        b"{}".to_vec()
    });

    let query = request.target.split_once('?').map_or("", |(_, query)| query);
    (serde_json::from_slice(&body).expect("JSON"), query.to_owned())
}
