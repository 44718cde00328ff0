//! What a failure says: what it is about, and what still works.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::fixture::{Fixture, Session};

/// Asserts that the message begins with `message`, and that the hint contains every text of `hints`.
fn assert_texts(error: &Value, message: &str, hints: &[&str]) {
    let text = |name: &str| error[name].as_str().expect("a text");

    assert!(text("message").starts_with(message), "{error}");
    for hint in hints {
        assert!(text("hint").contains(hint), "{hint}: {error}");
    }
}

#[tokio::test]
async fn a_failure_names_the_record() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    let run = host.fail("get_run", json!({"run_id": "zzz"})).await;
    let folder = json!({"name": "Caves", "parent_path": "No/Such"});
    let folder = host.fail("create_test_folder", folder).await;

    assert_texts(&run, "get_run: run zzz: the service answered 404", &["check the id and its kind"]);
    assert_texts(
        &folder,
        "create_test_folder: \"Caves\": the service answered 404",
        &["`create_intermediate_parents: true`"],
    );
    let folder = host
        .fail("create_test_folder", json!({"name": "Caves", "parent_folder_id": seed::TEST_PASSES}))
        .await;
    assert_texts(&folder, "create_test_folder: ", &["pass the id of an existing folder"]);
    assert!(!folder.to_string().contains("create_intermediate_parents"), "{folder}");
}

/// What a list is filtered by cannot be what the service did not find.
#[tokio::test]
async fn a_list_that_the_service_does_not_find_gets_no_hint_about_ids() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    for (tool, arguments) in [
        ("list_jobs", json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED})),
        ("list_tests", json!({"folder_id": seed::FOLDER_LEVELS})),
    ] {
        service.fault(json!({"operation": tool, "status": 404})).await;
        let error = host.fail(tool, arguments).await;
        assert_texts(&error, tool, &["the project does not exist, or the service lacks this operation"]);
    }
}

#[tokio::test]
async fn a_missing_feature_names_the_project_and_what_works_without_it() {
    let fixture = Fixture::new().key(keys::ORGANIZATION).variables(&[("TAS_PROJECTS", "demo,arena")]);
    let Session { service: _service, mut host, .. } = fixture.open().await;
    let error = host.fail("list_bugs", json!({"project_id": seed::ARENA_PROJECT})).await;

    assert_eq!(error["code"], "feature_disabled");
    assert_texts(&error, "list_bugs: the service answered 403", &["project `arena`", "`list_run_bugs`"]);
}

#[tokio::test]
async fn a_missing_permission_says_what_still_works() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let body = json!({"error": "Missing required permission: project:view-configs"});
    service.fault(json!({"operation": "list_deployment_configs", "status": 403, "body": body})).await;
    let error = host.fail("list_deployment_configs", json!({})).await;

    assert_eq!(error["details"]["required_permission"], "project:view-configs");
    assert_texts(
        &error,
        "list_deployment_configs: ",
        &["a key with this permission", "`deployment_config_id`"],
    );
}

#[tokio::test]
async fn an_answer_whose_ids_are_no_ids_is_refused() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let start = json!({"multiplayer_test_id": seed::TEST_FAILS, "deployment_config_id": seed::CONFIG_PHONES});
    for (operation, arguments, answer) in [
        ("start_run", start, json!({"ok": true, "job_ids": ["x;touch y\n#"]})),
        ("get_run", json!({"run_id": "x"}), json!({"multiplayer_run_id": "b1\nBASH_ENV=/tmp/x"})),
        ("list_builds", json!({}), json!({"data": [{"id": "a"}, {"id": "--read-only"}]})),
    ] {
        service.fault(json!({"operation": operation, "body": answer})).await;
        let error = host.fail(operation, arguments).await;
        assert_eq!(error["code"], "bad_response", "{error}");
        assert!(error["message"].as_str().is_some_and(|message| message.contains("an id in `")), "{error}");
    }
}
