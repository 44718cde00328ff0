//! The checks of our own refuse exactly the bodies that the document's schemas refuse.

use jsonschema::Validator;
use serde_json::{Value, json};
use tas_mcp::{
    arguments::{self, Mode},
    catalog::Entry,
    operation::Fields,
};

use super::both;
use crate::support::contract::{Contract, Operation, members, resolved, standalone};

const ID: &str = "c4d5e6f7-0819-4a2b-8c3d-4e5f60718293";

/// Whether the service would take this body, as we see it: the rules of our own do not count.
fn we_accept(entry: &Entry, operation: &Operation, body: &Value) -> bool {
    let mut fields = operation.sample("path");
    fields.extend(body.as_object().cloned().unwrap_or_default());
    let mode = if entry.closed { Mode::ClosedBody } else { Mode::Body };
    let mut broken = arguments::check(entry.input_schema(), &mut fields, mode);
    for rule in entry.rules {
        rule.check(&fields, &mut broken);
    }
    broken.is_empty()
}

fn validator(operation: &Operation) -> Option<Validator> {
    let options = jsonschema::draft202012::options().should_validate_formats(true);
    Some(options.build(&standalone(operation.body?)).expect("schemas of the contract are valid"))
}

/// A good value for every property of the body.
fn samples(operation: &Operation, body: &'static Value) -> Vec<(String, Value)> {
    let requests = Contract::load().examples(operation.id).requests;
    let sample = |name: &str, schema: &'static Value| {
        let example = requests.values().find_map(|request| request.get(name));
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
    members(&body["properties"]).map(|(name, schema)| (name.to_owned(), sample(name, schema))).collect()
}

/// Values of every kind, good and bad.
fn palette() -> Vec<Value> {
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

#[track_caller]
fn agree(entry: &Entry, operation: &Operation, validator: &Validator, body: &Value) -> bool {
    let theirs = validator.is_valid(body);
    let ours = we_accept(entry, operation, body);
    assert_eq!(ours, theirs, "{}: {body}: we say {ours}, the contract says {theirs}", entry.name);
    theirs
}

#[test]
fn every_combination_of_fields_is_judged_as_by_the_contract() {
    for (entry, operation) in both() {
        let Some((validator, body)) = validator(operation).zip(operation.body) else { continue };
        // What no rule of the document speaks of would only double the number of combinations.
        let free =
            ["additional_tags", "agent_config_id", "name", "options", "render_templates", "template_data"];
        let samples: Vec<_> =
            samples(operation, body).into_iter().filter(|(name, _)| !free.contains(&name.as_str())).collect();
        let mut verdicts = [0, 0];
        for chosen in 0..1_u32 << samples.len() {
            let given = samples.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1);
            let body: Fields = given.map(|(_, sample)| sample.clone()).collect();
            verdicts[usize::from(agree(entry, operation, &validator, &Value::Object(body)))] += 1;
        }
        assert!(verdicts.iter().all(|count| *count > 0), "{} {verdicts:?}", entry.name);
    }
}

#[test]
fn every_value_in_every_example_is_judged_as_by_the_contract() {
    for (entry, operation) in both() {
        let Some((validator, body)) = validator(operation).zip(operation.body) else { continue };
        let mut verdicts = [0, 0];
        for example in Contract::load().examples(entry.name).requests.into_values() {
            for (name, sample) in samples(operation, body) {
                for value in palette().into_iter().chain([sample]) {
                    let mut changed = example.clone();
                    changed[&name] = value;
                    verdicts[usize::from(agree(entry, operation, &validator, &changed))] += 1;
                }
                let mut without = example.clone();
                without.as_object_mut().unwrap().shift_remove(&name);
                agree(entry, operation, &validator, &without);
            }
            let mut unknown = example.clone();
            unknown["unknown_field"] = json!(1);
            agree(entry, operation, &validator, &unknown);
        }
        assert!(verdicts[0] > 40 && verdicts[1] > 0, "{} {verdicts:?}", entry.name);
    }
}
