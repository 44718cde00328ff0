//! Coercions and violations of the check of arguments.

use serde_json::{Value, json};
use tas_mcp::{
    failure::Violation,
    service::{
        arguments::{Mode, check},
        catalog,
    },
};

const ID: &str = "c4d5e6f7-0819-4a2b-8c3d-4e5f60718293";

/// The arguments after the check, and the violations that it reports.
fn checked(tool: &str, mut arguments: Value, mode: Mode) -> (Value, Vec<Violation>) {
    let entry = catalog::find(tool).unwrap_or_else(|| panic!("no tool `{tool}`"));
    let violations =
        check(entry.input_schema(), arguments.as_object_mut().expect("arguments"), mode).violations;
    (arguments, violations)
}

fn paths(violations: &[Violation]) -> Vec<&str> {
    violations.iter().map(|violation| violation.path.as_str()).collect()
}

#[track_caller]
fn assert_coerced(tool: &str, given: Value, expected: &Value) {
    assert_eq!(checked(tool, given, Mode::Arguments), (expected.clone(), Vec::new()));
}

#[test]
fn every_violation_is_reported_at_once() {
    let arguments = json!({
        "multiplayer_test_id": "x", "retries": 11, "instances": 0, "additional_tags": ["a", 1, {}],
        "player_deployment_configs": {"1": {}, "2": {"deployment_config_id": "y"}}, "options": 3, "colour": "red",
    });
    let (_, violations) = checked("start_run", arguments, Mode::Arguments);
    let mut found = paths(&violations);

    found.sort_unstable();
    let expected = [
        "additional_tags.2",
        "colour",
        "instances",
        "multiplayer_test_id",
        "options",
        "player_deployment_configs.1.deployment_config_id",
        "player_deployment_configs.2.deployment_config_id",
        "retries",
    ];

    assert_eq!(found, expected);
}

#[test]
fn a_missing_argument_is_named() {
    let (_, violations) = checked("get_job", json!({}), Mode::Arguments);
    assert_eq!(violations, [Violation::new("job_id", "is required")]);
    let (_, violations) = checked("get_job", json!({"job_id": null}), Mode::Arguments);
    assert_eq!(violations, [Violation::new("job_id", "is required")]);
}

#[test]
fn numbers_in_strings_are_coerced() {
    assert_coerced(
        "list_runs",
        json!({"page": "3", "page_size": " 100 "}),
        &json!({"page": 3, "page_size": 100}),
    );
    assert_coerced("list_runs", json!({"page": 3.0}), &json!({"page": 3}));
    for other in [json!("three"), json!(""), json!("3.5"), json!(3.5), json!(true), json!([3]), json!("0x3")]
    {
        let (_, violations) = checked("list_runs", json!({"page": other}), Mode::Arguments);
        assert_eq!(paths(&violations), ["page"], "{other}");
    }
}

#[test]
fn booleans_in_strings_are_coerced() {
    assert_coerced("list_runs", json!({"bugs": "true"}), &json!({"bugs": true}));
    assert_coerced("list_runs", json!({"bugs": "False"}), &json!({"bugs": false}));
    for other in [json!("yes"), json!(1), json!("1"), json!("")] {
        let (_, violations) = checked("list_runs", json!({"bugs": other}), Mode::Arguments);
        assert_eq!(paths(&violations), ["bugs"], "{other}");
    }
}

#[test]
fn lists_and_objects_in_strings_are_coerced() {
    let ids = json!([ID]);

    assert_coerced("stop_runs", json!({"job_ids": ids.to_string()}), &json!({"job_ids": ids}));
    assert_coerced("stop_runs", json!({"job_ids": ID}), &json!({"job_ids": [ID]}));

    let configs = json!({"1": {"deployment_config_id": ID}});

    assert_coerced(
        "start_run",
        json!({"player_deployment_configs": configs.to_string()}),
        &json!({"player_deployment_configs": configs}),
    );

    let options = json!({"mobile_gpslocation": {"lat": "47.3", "long": "8.5"}});
    let as_text = json!({"mobile_gpslocation": options["mobile_gpslocation"].to_string()});

    assert_coerced("start_run", json!({"options": as_text.to_string()}), &json!({"options": options}));
}

#[test]
fn numbers_are_coerced_to_strings() {
    assert_coerced("list_tests", json!({"folder_path": 12}), &json!({"folder_path": "12"}));
    assert_coerced("get_run", json!({"run_id": 4711}), &json!({"run_id": "4711"}));
}

#[test]
fn words_of_an_enumeration_are_accepted_in_any_letter_case() {
    assert_coerced("list_jobs", json!({"status": "QUEUED"}), &json!({"status": "queued"}));
    let (_, violations) = checked("list_jobs", json!({"status": "done"}), Mode::Arguments);
    assert_eq!(violations, [Violation::new("status", "must be one of queued, running, completed, all")]);
}

#[test]
fn null_counts_as_absent() {
    assert_coerced("list_runs", json!({"page": null, "tags": null}), &json!({}));
    assert_coerced("start_run", json!({"options": {"mobile_geolocation": null}}), &json!({"options": {}}));
    let free = json!({"template_data": {"level": null}});
    assert_coerced("start_run", free.clone(), &free);
}

#[test]
fn an_unknown_name_suggests_the_nearest() {
    for (tool, unknown, nearest) in [
        ("start_run", "deployment_config", "deployment_config_id"),
        ("start_run", "multiplayerTestId", "multiplayer_test_id"),
        ("get_run", "multiplayer_run_id", "run_id"),
        ("get_job", "jobId", "job_id"),
        ("list_runs", "pageSize", "page_size"),
        ("list_jobs", "tag", "tags"),
    ] {
        let (_, violations) = checked(tool, json!({unknown: "x"}), Mode::Arguments);
        let rule = format!("is not an argument of this tool; the nearest is `{nearest}`");
        assert!(violations.contains(&Violation::new(unknown, rule)), "{tool}: {violations:?}");
    }
}

#[test]
fn an_unknown_name_without_a_similar_one_lists_the_arguments() {
    let (_, violations) = checked("list_deployment_configs", json!({"zzz": 1}), Mode::Arguments);
    let rule = "is not an argument of this tool, which takes `page`, `page_size`";
    assert_eq!(violations, [Violation::new("zzz", rule)]);
}

#[test]
fn bodies_are_not_coerced() {
    for body in [json!({"retries": "3"}), json!({"additional_tags": "a"}), json!({"options": "{}"})] {
        let (after, violations) = checked("start_run", body.clone(), Mode::Body);
        assert_eq!((&after, violations.len()), (&body, 1), "{body}");
    }
}

#[test]
fn unknown_names_are_refused_only_in_arguments_and_closed_bodies() {
    let count = |mode| checked("export_tmsys_run", json!({"colour": 1}), mode).1.len();
    assert_eq!([Mode::Query, Mode::Body, Mode::ClosedBody, Mode::Arguments].map(count), [0, 0, 1, 1]);
}

#[test]
fn a_long_name_is_cut_in_the_violation() {
    let name = "a".repeat(1 << 20);
    let (_, violations) = checked("get_job", json!({"job_id": ID, name: 1}), Mode::Arguments);
    let length: usize =
        violations.iter().map(|violation| violation.path.len() + violation.rule.to_string().len()).sum();
    assert!((1..500).contains(&length), "{length}");
}

#[test]
fn limits_of_lists_are_checked() {
    let refused = |ids: Value| {
        let (_, violations) =
            checked("export_tmsys_run", json!({"multiplayer_run_ids": ids}), Mode::Arguments);
        violations.into_iter().map(|violation| violation.path).collect::<Vec<_>>()
    };

    assert_eq!(refused(json!(["a", "b"])), [""; 0]);
    assert_eq!(refused(json!([])), ["multiplayer_run_ids"]);
    assert_eq!(
        refused(json!((0..101).map(|id| id.to_string()).collect::<Vec<_>>())),
        ["multiplayer_run_ids"]
    );
    assert_eq!(refused(json!(["a", "b", "a"])), ["multiplayer_run_ids.2"]);
    assert_eq!(refused(json!(["a", ""])), ["multiplayer_run_ids.1"]);
}
