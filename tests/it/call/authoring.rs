//! Writing tests, folders, plans and shared steps, as callers of the tools see it (service.md 4, 6, 7, 8).

use serde_json::{Value, json};
use tas_mcp::sandbox::{Options, seed};

use crate::support::{
    fixture::{Fixture, Session},
    service::still_sandbox,
    stub::Stub,
};

/// Asserts that each call is refused with exactly these violations, and that no request is sent.
async fn assert_refused(cases: &[(&str, Value, &[&str])]) {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    for (tool, arguments, expected) in cases {
        assert_eq!(host.violations(tool, arguments.clone()).await, *expected, "{tool} {arguments}");
    }
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn further_fields_of_open_objects_are_sent_and_near_misses_are_a_warning() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    let plan = |patch: Value| ("update_test_plan", json!({"test_plan_id": seed::PLAN_SMOKE, "patch": patch}));
    let test = json!({"test": {"name": "Open", "test_type": "verification", "game": {"a": 1}}});

    for ((tool, arguments), expected) in [
        (plan(json!({"game": "g", "nam": "x"})), json!(null)),
        (plan(json!({"test_item": []})), json!("`patch.test_item` is sent, but only `test_items` is known")),
        (("create_test", test), json!(null)),
    ] {
        let reply = host.succeed(tool, arguments.clone()).await;
        assert_eq!(reply["warning"], expected, "{arguments}");
    }
}

#[tokio::test]
async fn empty_optional_arguments_are_absent() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;

    for (tool, plain, with_empty) in [
        (
            "list_tests",
            json!({}),
            json!({"folder_id": "", "folder_path": "", "fields": "", "project_id": ""}),
        ),
        ("list_runs", json!({}), json!({"test_type": "", "multiplayer_test_id": "undefined"})),
        ("list_jobs", json!({}), json!({"test_plan_execution_id": "null", "project_id": "null"})),
        (
            "summarize_results",
            json!({"run_id": seed::RUN_FAILED}),
            json!({"run_id": seed::RUN_FAILED, "job_id": "", "compare_with": ""}),
        ),
    ] {
        let expected = host.succeed(tool, plain).await;
        assert_eq!(host.succeed(tool, with_empty.clone()).await, expected, "{tool} {with_empty}");
    }

    let missing = host.violations("get_run", json!({"run_id": ""})).await;
    assert_eq!(missing, ["run_id: must not be empty"]);
}

#[tokio::test]
async fn changes_that_the_service_forbids_are_refused_before_any_request() {
    let plan = |patch: Value| json!({"test_plan_id": seed::PLAN_SMOKE, "patch": patch});
    let steps =
        |patch: Value| json!({"shared_step_id": seed::STEPS_SIGN_IN, "expected_version": 2, "patch": patch});
    let test = |patch: Value| json!({"test_id": seed::TEST_PASSES, "expected_version": 3, "patch": patch});
    let managed = "is managed by the service: leave it out";

    assert_refused(&[
        ("update_test_plan", plan(json!({"id": "x"})), &["patch.id: cannot be changed"]),
        (
            "update_test_plan",
            plan(json!({"slots": [], "default_slot_name": null})),
            &[
                "patch.slots: is read-only through the API",
                "patch.default_slot_name: is read-only through the API",
            ],
        ),
        (
            "update_shared_step",
            steps(json!({"id": "x", "is_shared": false})),
            &["patch.id: cannot be changed", "patch.is_shared: cannot be changed"],
        ),
        ("update_shared_step", steps(json!({"version": 3})), &[&format!("patch.version: {managed}")]),
        (
            "update_shared_step",
            steps(json!({"steps_by_key": {"1": {"test_step_id": "step_1"}}})),
            &[&format!("patch.steps_by_key.1.test_step_id: {managed}")],
        ),
        ("update_test", test(json!({"id": "x"})), &["patch.id: cannot be changed"]),
        (
            "update_test",
            test(json!({"players_by_key": {"1": {"items_by_key": {
                "1": {"test_step_id": "step_1"}, "2": {"collection_id": "ssc_a", "version": 1},
            }}}})),
            &[
                &format!("patch.players_by_key.1.items_by_key.1.test_step_id: {managed}"),
                &format!("patch.players_by_key.1.items_by_key.2.version: {managed}"),
            ],
        ),
        (
            "create_test",
            json!({"test": {"name": "A", "test_type": "verification", "min_seconds": 5}}),
            &["test.min_seconds: verification tests have no minimum time: leave the field out"],
        ),
        (
            "create_test",
            json!({"test": {"max_seconds": 19_801}}),
            &["test.max_seconds: must be from 0 to 19800, got 19801", "test.name: is required"],
        ),
    ])
    .await;
}

/// The service replaces a list as a whole: what the patch does not repeat is lost.
#[tokio::test]
async fn a_patch_that_makes_a_list_shorter_needs_the_agreement_of_a_person() {
    for (kind, id, patch, loss) in [
        (
            "test_plan",
            seed::PLAN_SMOKE,
            json!({"test_items": [{"multiplayer_test_id": seed::TEST_PASSES}]}),
            "3 of 4 entries of `test_items` from `Release smoke`",
        ),
        (
            "shared_step",
            seed::STEPS_SIGN_IN,
            json!({"step_order": []}),
            "1 of 1 entries of `step_order` from `Sign in`",
        ),
        (
            "test",
            seed::TEST_TWO_PLAYERS,
            json!({"player_order": ["1"], "players_by_key": {"1": {"item_order": null}, "9": {"item_order": []}}}),
            "1 of 2 entries of `player_order`, 2 of 2 entries of `players_by_key.1.item_order` from `Co-op: light the beacon`",
        ),
    ] {
        let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
        let tool = format!("update_{kind}");
        let id_argument = format!("{kind}_id");
        let record = host.succeed(&format!("get_{kind}"), json!({&id_argument: id})).await;
        let call = |patch: &Value, flag: &str, is_set: bool| {
            let mut call = json!({&id_argument: id, "patch": patch, flag: is_set});
            if kind != "test_plan" {
                call["expected_version"] = record["version"].clone();
            }
            call
        };

        let error = host.fail(&tool, call(&patch, "confirm", false)).await;
        assert_eq!(error["message"], format!("{tool} removes {loss} in project `demo`"));
        host.succeed(&tool, call(&patch, "dry_run", true)).await;
        assert_eq!(service.writes().await, [""; 0]);

        // What takes nothing away asks nothing. Without a list the record is not read.
        let (list, _) = patch.as_object().and_then(|patch| patch.iter().next()).expect("a list");
        for (harmless, requests) in [(json!({list: record[list]}), 2), (json!({"name": "New"}), 1)] {
            let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
            host.succeed(&tool, call(&harmless, "confirm", false)).await;
            assert_eq!(service.requests().await.len(), requests, "{harmless}");
        }
        host.succeed(&tool, call(&patch, "confirm", true)).await;
    }
}

#[tokio::test]
async fn folders_have_one_parent_and_a_plain_name() {
    let parents = json!({
        "name": "A", "parent_path": "Levels", "parent_folder_id": seed::FOLDER_LEVELS,
    });

    assert_refused(&[
        ("create_test_folder", parents, &["parent_path: cannot be combined with `parent_folder_id`"]),
        (
            "create_test_folder",
            json!({"name": "A/B"}),
            &["name: must not contain `/`: parents go into `parent_path`"],
        ),
        ("create_test_folder", json!({"name": " A"}), &["name: must not begin or end with whitespace"]),
        ("create_test_folder", json!({"name": ""}), &["name: must not be empty"]),
        (
            "update_test",
            json!({
                "test_id": "a", "expected_version": 0, "patch": {}, "folder_path": "/", "folder_id": "b",
            }),
            &["folder_path: cannot be combined with `folder_id`"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn a_stale_version_is_a_conflict_with_both_versions_and_the_current_record() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    for (tool, id, id_value, latest) in [
        ("update_shared_step", "shared_step_id", seed::STEPS_SIGN_IN, 2),
        ("update_test", "test_id", seed::TEST_PASSES, 3),
    ] {
        let stale = json!({id: id_value, "expected_version": latest - 1, "patch": {"name": "Mine"}});
        let error = host.fail(tool, stale).await;

        assert_eq!((&error["code"], &error["status"]), (&json!("conflict"), &json!(409)));
        let details = &error["details"];
        assert_eq!(
            (&details["expected_version"], &details["latest_version"]),
            (&json!(latest - 1), &json!(latest))
        );
        assert_eq!(
            (&details["current"]["id"], &details["current"]["version"]),
            (&json!(id_value), &json!(latest))
        );

        let message = error["message"].as_str().expect("a message");
        let versions = format!("expected version {}, and the latest version is {latest}", latest - 1);
        assert!(message.contains(id_value) && message.contains(&versions), "{message}");
        let hint = error["hint"].as_str().expect("a hint");
        assert!(
            hint.contains("only your changed fields") && hint.contains("`details.latest_version`"),
            "{hint}"
        );

        let fresh = json!({id: id_value, "expected_version": details["current"]["version"], "patch": {"name": "Mine"}});
        assert_eq!(host.succeed(tool, fresh).await["version"], latest + 1);
    }
}

/// What a conflict means depends on the operation.
#[tokio::test]
async fn the_hint_of_a_conflict_says_what_to_do_with_what_exists() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    for (operation, arguments, said) in [
        (
            "export_tmsys_run",
            json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED, "force_new_run": true}),
            "do not repeat the call, tell the person",
        ),
        ("create_test_folder", json!({"name": "A new folder"}), "the folder exists: use it"),
    ] {
        service.fault(json!({"operation": operation, "status": 409, "body": {"error": "no"}})).await;
        let error = host.fail(operation, arguments).await;

        assert_eq!(error["code"], "conflict", "{error}");
        assert!(error["hint"].as_str().is_some_and(|hint| hint.contains(said)), "{error}");
    }
}

#[tokio::test]
async fn a_long_current_record_is_cut() {
    let stub = Stub::start(async |target: String| {
        if target.starts_with("PATCH") {
            return (409, json!({"error": "version conflict", "expected_version": 1, "latest_version": 2}));
        }
        let steps = vec!["s".repeat(100); 20_000];
        (200, json!({"id": "t", "project_id": "demo", "name": "Long", "version": 2, "steps": steps}))
    })
    .await;
    let mut session = Fixture::new().open_with(stub).await;
    let stale = json!({"test_id": "t", "expected_version": 1, "patch": {"name": "Mine"}});
    let error = session.host.fail("update_test", stale).await;

    let current = &error["details"]["current"];
    assert_eq!((&current["version"], &current["truncated"].is_object()), (&json!(2), &true), "{error}");
    assert!(error.to_string().chars().count() <= 20_000);
}

#[tokio::test]
async fn fields_are_sent_in_the_query_or_the_body_as_the_service_requires() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    host.succeed("create_test_folder", json!({"name": "World 3", "parent_path": "Levels"})).await;

    let test = json!({"name": "Walk", "test_type": "task"});
    let bare = json!({
        "test": test, "folder_path": "Levels/World 3", "include_shared_collection_steps": false,
        "shared_collection_steps_mode": "drop",
    });
    let created = host.succeed("create_test", bare).await;

    assert_eq!((&created["version"], &created["test_type"]), (&json!(0), &json!("task")));

    let moved = json!({
        "test_id": created["id"], "expected_version": 0, "patch": "{}", "folder_path": "/",
        "include_shared_collection_steps": false, "shared_collection_steps_mode": "drop",
    });
    host.succeed("update_test", moved).await;

    let id = created["id"].as_str().expect("an id");

    assert_eq!(
        service.writes().await,
        [
            "POST /test-folders 201".to_owned(),
            "POST /tests?include_shared_collection_steps=false&shared_collection_steps_mode=drop 201"
                .to_owned(),
            format!("PATCH /tests/{id}?include_shared_collection_steps=false 200"),
        ]
    );
}

#[tokio::test]
async fn case_links_have_the_deployment_name_only_in_requests() {
    let acme = Options { tmsys_name: "acme".to_owned(), ..still_sandbox() };
    let fixture = Fixture::new().sandbox(acme).variables(&[("TAS_TMSYS_NAME", "acme")]);
    let Session { service: _service, mut host, .. } = fixture.open().await;
    let links = json!({"cases": [{"suite_id": 11, "case_id": 1041}]});
    let arguments = json!({
        "test_id": seed::TEST_ERRORS, "expected_version": 3, "patch": {"tmsys": links},
    });
    let changed = host.succeed("update_test", arguments).await;

    assert_eq!((&changed["tmsys"], changed.get("acme")), (&links, None));
}
