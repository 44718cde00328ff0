//! Dry runs: everything is checked and read, and the request is shown instead of sent.

use serde_json::{Value, json};
use tas_mcp::{
    sandbox::{keys, seed},
    tools::catalog,
};

use crate::support::fixture::{Fixture, Session};

fn dry(mut arguments: Value) -> Value {
    arguments["dry_run"] = json!(true);
    arguments
}

#[tokio::test]
async fn a_dry_run_shows_exactly_the_request_that_the_call_then_sends() {
    for (tool, arguments) in [
        ("create_test_folder", json!({"name": "More levels"})),
        ("create_test", json!({"test": {"name": "New", "test_type": "task"}})),
        ("update_test_plan", json!({"test_plan_id": seed::PLAN_SMOKE, "patch": {"name": "Renamed"}})),
        (
            "start_run",
            json!({"multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_WINDOWS}),
        ),
        ("delete_build", json!({"build_id": seed::BUILD_ANDROID_EARLIER, "confirm": true})),
    ] {
        let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;

        let shown = host.succeed(tool, dry(arguments.clone())).await;
        assert_eq!(service.writes().await, [""; 0], "{tool}");
        host.succeed(tool, arguments.clone()).await;

        let request = format!(
            "{} {}",
            shown["request"]["method"].as_str().expect("a method"),
            shown["request"]["path"].as_str().expect("a path")
        );
        let sent = service.writes().await;
        assert!(sent.len() == 1 && sent[0].starts_with(&request), "{tool}: {request} and {sent:?}");
        assert_eq!(shown["dry_run"], true, "{shown}");
    }
}

#[tokio::test]
async fn a_dry_run_asks_nobody_and_checks_arguments_and_project() {
    let Session { service, mut host, .. } = Fixture::new()
        .all_tools()
        .key(keys::ORGANIZATION)
        .variables(&[("TAS_PROJECTS", "demo,arena")])
        .open()
        .await;
    let start =
        json!({"multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_WINDOWS});

    let deletion = json!({"test_id": seed::TEST_PASSES, "project_id": "demo"});
    let shown = host.succeed("delete_test", dry(deletion)).await;
    assert_eq!(shown["request"]["project_id"], "demo", "{shown}");

    let stop = json!({"job_ids": [seed::JOB_FAILED], "project_id": "arena"});
    assert_eq!(host.fail("stop_runs", dry(stop)).await["code"], "project_scope_mismatch");
    assert_eq!(host.fail("start_run", dry(start)).await["code"], "project_required");
    assert_eq!(host.violations("start_run", dry(json!({"project_id": "demo"}))).await.len(), 2);
    assert_eq!(service.writes().await, [""; 0]);
}

#[tokio::test]
async fn a_dry_run_of_an_upload_checks_the_file_and_reserves_nothing() {
    let session = Fixture::new().all_tools().files_root().open().await;
    std::fs::write(session.root().join("game.apk"), b"build").expect("it can be written");
    let Session { service, mut host, .. } = session;

    let shown = host.succeed("upload_build", dry(json!({"path": "game.apk"}))).await;
    assert_eq!(shown["status"], "dry_run");
    assert_eq!(shown["request"]["body"]["platform"], "android", "{shown}");
    assert_eq!(host.fail("upload_build", dry(json!({"path": "none.apk"}))).await["code"], "file_error");
    assert_eq!(service.writes().await, [""; 0]);
}

#[tokio::test]
async fn tools_that_change_nothing_at_the_service_take_no_dry_run() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().files_root().open().await;
    let listed = host.request("tools/list", json!({})).await;
    let takes = |tool: &Value| !tool["inputSchema"]["properties"]["dry_run"].is_null();

    for tool in listed["result"]["tools"].as_array().expect("a list") {
        let name = tool["name"].as_str().expect("a name");
        let expected = catalog::find_tool(name).expect("a tool").takes_dry_run();
        assert_eq!(takes(tool), expected, "{name}");
    }

    let violations = host.violations("get_run", dry(json!({"run_id": seed::RUN_FAILED}))).await;
    assert!(violations[0].starts_with("dry_run: "), "{violations:?}");
}
