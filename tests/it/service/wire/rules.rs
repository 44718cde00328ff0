//! The check of arguments refuses exactly the bodies that the schemas of the contract refuse.

use serde_json::{Value, json};
use tas_mcp::{
    fields::Fields,
    service::{
        arguments::{self, Mode},
        catalog::OperationEntry,
    },
};

use super::{fields_schema, operations_with_contract, unwrapped, wrapped};
use crate::support::{
    contract::{self, Operation, members, resolved},
    schema::Validator,
};

const ID: &str = "c4d5e6f7-0819-4a2b-8c3d-4e5f60718293";

/// Whether the check of arguments accepts this body. Rules that only this server has are left out.
fn we_accept(entry: &OperationEntry, operation: &Operation, body: &Value) -> bool {
    let Some(mut given) = unwrapped(entry, body) else { return false };
    // The server adds the project to such a body itself.
    if entry.request.project_in_body
        && !given.shift_remove("project_id").is_some_and(|project| project.is_string())
    {
        return false;
    }

    let mut fields = operation.sample("path");
    fields.extend(given);

    let mode = if entry.request.denies_unknown_fields { Mode::ClosedBody } else { Mode::Body };
    let mut broken = arguments::check(entry.input_schema(), &mut fields, mode).violations;

    for rule in entry.rules.iter().filter(|rule| rule.is_of_service()) {
        rule.check(&fields, &mut broken);
    }

    broken.is_empty()
}

fn validator(operation: &Operation) -> Option<Validator> {
    Some(contract::validator(operation.body?))
}

/// A good value for every property of the body.
fn samples(entry: &OperationEntry, fields_schema: &'static Value) -> Vec<(String, Value)> {
    let requests = &contract::operation(entry.name).requests;
    let sample = |name: &str, schema: &'static Value| {
        let example = requests.values().find_map(|request| unwrapped(entry, request)?.shift_remove(name));
        match (resolved(schema)["type"].as_str(), resolved(schema)["format"].as_str()) {
            (Some("boolean"), _) => json!(true),
            _ if example.is_some() => json!(example),
            (_, Some("uuid")) => json!(ID),
            (Some("string"), _) if resolved(schema).get("pattern").is_some() => json!(ID),
            (Some("object"), _) => json!({}),
            (Some("array"), _) => json!(["a"]),
            (Some("integer"), _) => json!(1),
            _ => json!("text"),
        }
    };

    members(&fields_schema["properties"])
        .map(|(name, schema)| (name.to_owned(), sample(name, schema)))
        .collect()
}

/// Valid and invalid values for every kind of field.
fn values_of_every_kind() -> Vec<Value> {
    let Value::Array(mut values) = json!([
        [
            null,
            true,
            false,
            0,
            1,
            -1,
            10,
            11,
            1.5,
            "",
            " ",
            "auto",
            ID,
            ID.to_uppercase(),
            ID.replace('-', "")
        ],
        [format!("{{{ID}}}"), format!("urn:uuid:{ID}"), padded(250), padded(251)],
        [[], [ID], [ID, ID], ["a", "b"], ["a", ""], [1], [null], numbers(100), numbers(101)],
        configs(),
        options(),
        records_and_patches(),
        uploads(),
    ]) else {
        return Vec::new();
    };

    values.iter_mut().filter_map(Value::as_array_mut).flat_map(std::mem::take).collect()
}

/// A name of that many characters, and spaces around it.
fn padded(length: usize) -> String {
    format!(" {} ", "ä".repeat(length))
}

/// That many different ids.
fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|id| id.to_string()).collect()
}

/// Configs of players or slots.
fn configs() -> Value {
    let good = json!({"deployment_config_id": ID});
    json!([
        {}, {"1": good}, {"2": good}, {"1": good, "2": good}, {"99999999999999": good},
        {"0": good}, {"01": good}, {"-1": good}, {"+1": good}, {"a": good}, {"": good},
        {"1": {}}, {"1": null}, {"1": {"deployment_config_id": "x"}},
        {"1": {"deployment_config_id": ID, "build_id": null}},
        {"1": {"deployment_config_id": ID, "build_id": ID, "more": 1}},
        {"2": {"deployment_config_id": ID, "build_id": "x"}},
    ])
}

/// Options of a run.
fn options() -> Value {
    json!([
        {"performance_monitoring": "yes"}, {"min_seconds": 1}, {"max_seconds": null}, {"mobile_geolocation": 3},
        {"mobile_gpslocation": "auto"}, {"mobile_gpslocation": "auto", "mobile_geolocation": "Bern"},
        {"mobile_gpslocation": "home"}, {"mobile_gpslocation": null}, {"mobile_gpslocation": {"lat": "1"}},
        {"mobile_gpslocation": {"lat": "1", "long": "2"}}, {"mobile_gpslocation": {"lat": 1, "long": 2}},
    ])
}

/// Tests, and patches of tests, plans and shared steps.
fn records_and_patches() -> Value {
    let step = json!({"goal": "Go", "expected_results": [{"expected": "There"}], "screenshots": 2});

    json!([
        {"name": 3}, {"name": null}, {"name": "a"}, {"name": "a", "colour": "red"},
        {"test_items": [{"multiplayer_test_id": ID}]}, {"test_items": [{"multiplayer_test_id": "x"}]},
        {"test_items": [{"multiplayer_test_id": ID, "retries": -1}]}, {"test_items": [{}]},
        {"test_items": [{"multiplayer_test_id": ID, "retries": 11, "more": 1}]}, {"test_items": {}},
        {"steps_by_key": {"1": step}}, {"steps_by_key": {"1": null}}, {"steps_by_key": {"1": 3}},
        {"step_order": ["1"]}, {"step_order": "1"}, {"1": step}, {"1": {"goal": 3}},
        {"1": {"expected_results": ["There"]}}, {"1": {"finish_condition": null}},
        {"name": "a", "test_type": "verification"}, {"name": "a", "test_type": "riddle"},
        {"name": "a", "test_type": "verification", "min_seconds": 1},
        {"name": "a", "test_type": "task", "min_seconds": 1}, {"name": "a", "max_seconds": 19_801},
        {"name": "a", "memory": null}, {"name": "a", "memory": "full"}, {"name": "a", "tmsys": null},
        {"name": "a", "tags": "b"}, {"name": "a", "players_by_key": {"1": {"anything": [1]}}},
        {"name": "a", "players_by_key": {"1": 1}}, {"name": "a", "quarantined": "yes"},
    ])
}

/// Parts, tags, sizes and details of uploads.
fn uploads() -> Value {
    let part = json!({"part_number": 1, "etag": "abc"});

    json!([
        [part], [part, {"part_number": 2, "etag": "d"}], [{"part_number": 1}], [{"etag": "abc"}], [1, part],
        [{"part_number": 0, "etag": "abc"}], [{"part_number": 1, "etag": ""}], [{"part_number": "1", "etag": "a"}],
        [{"part_number": 1, "etag": "abc", "size": 3}], 1_440, 1_441, 5_000_000_000_u64, "oldest", "ios-native", "web",
        "a".repeat(255), "ä".repeat(256), "a".repeat(1_000), "a".repeat(1_001), ["a".repeat(50)], ["a".repeat(51)],
        {"vcs": {"type": "git", "commit": {"hash": "abc"}, "pr": {"number": 3}}}, {"vcs": {"type": "cvs"}},
        {"vcs": {"pr": {"number": "3"}}}, {"vcs": 1}, {"ci": {"system": "jenkins"}}, {"ci": {"system": "own"}},
        {"ci": {"build_number": 7}}, {"app": {"version_code": 1.5}}, {"app": null}, {"other": [1]},
        {"build": {"configuration": "fast"}}, {"build": {"dependencies": {"a": 1}, "duration": 3}},
        {"upload": {"method": "carrier pigeon"}}, {"upload": {"method": 3}}, {"build": {"dependencies": []}},
    ])
}

/// Asserts that the check and the contract agree on a body. Returns whether they accept it.
#[track_caller]
fn assert_agreement(
    entry: &OperationEntry,
    operation: &Operation,
    validator: &Validator,
    body: &Value,
) -> bool {
    let theirs = validator.is_valid(body);
    let ours = we_accept(entry, operation, body);
    assert_eq!(ours, theirs, "{}: {body}: we say {ours}, the contract says {theirs}", entry.name);
    theirs
}

#[test]
fn every_combination_of_fields_is_accepted_or_refused_as_by_the_contract() {
    for (entry, operation) in operations_with_contract() {
        let Some((validator, fields_schema)) = validator(operation).zip(fields_schema(entry, operation))
        else {
            continue;
        };
        // Each field without a rule would double the number of combinations, and show nothing.
        let free =
            ["additional_tags", "agent_config_id", "name", "options", "render_templates", "template_data"];
        let decides = |name: &str| {
            let required = fields_schema["required"].as_array();
            required.is_some_and(|names| names.contains(&json!(name))) || !free.contains(&name)
        };
        let samples: Vec<_> =
            samples(entry, fields_schema).into_iter().filter(|(name, _)| decides(name)).collect();
        let mut verdicts = [0, 0];

        for chosen in 0..1_u32 << samples.len() {
            let given = samples.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1);
            let body: Fields = given.map(|(_, sample)| sample.clone()).collect();
            verdicts[usize::from(assert_agreement(entry, operation, &validator, &wrapped(entry, body)))] += 1;
        }

        // A body that may be missing has no required fields, so that no combination is refused.
        let least = [usize::from(entry.request.has_body()), 1];

        assert!(
            verdicts.iter().zip(least).all(|(count, least)| *count >= least),
            "{} {verdicts:?}",
            entry.name
        );
    }
}

#[test]
fn every_value_in_every_example_is_accepted_or_refused_as_by_the_contract() {
    for (entry, operation) in operations_with_contract() {
        let Some((validator, fields_schema)) = validator(operation).zip(fields_schema(entry, operation))
        else {
            continue;
        };
        let mut verdicts = [0, 0];

        for example in operation.requests.values() {
            let example = unwrapped(entry, example).unwrap();
            let check = |fields| assert_agreement(entry, operation, &validator, &wrapped(entry, fields));

            for (name, sample) in samples(entry, fields_schema) {
                for value in values_of_every_kind().into_iter().chain([sample]) {
                    let mut changed = example.clone();
                    changed.insert(name.clone(), value);
                    verdicts[usize::from(check(changed))] += 1;
                }
                let mut without = example.clone();
                without.shift_remove(&name);
                check(without);
            }

            let mut unknown = example.clone();
            unknown.insert("unknown_field".to_owned(), json!(1));
            check(unknown);
        }

        assert!(verdicts[0] > 40 && verdicts[1] > 0, "{} {verdicts:?}", entry.name);
    }
}
