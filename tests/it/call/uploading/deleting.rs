//! Deletion of a build, which a person confirms first (service.md 10.3).

use serde_json::json;
use tas_mcp::sandbox::seed;

use super::{file, fixture, upload_build, uploads_and_files};
use crate::support::fixture::Session;

#[tokio::test]
async fn the_bytes_of_a_deleted_build_are_deleted() {
    let Session { service, mut host, .. } = fixture().open().await;
    let build = upload_build(&mut host, &file(2_500)).await;

    assert_eq!(uploads_and_files(&service).await, (0, 3));

    let arguments = json!({"build_id": build, "confirm": true});
    let deleted = host.succeed("delete_build", arguments.clone()).await;

    assert_eq!(deleted, json!({"message": "build deleted successfully"}));
    assert_eq!((uploads_and_files(&service).await, service.content(&build).await), ((0, 0), None));
    assert_eq!(host.fail("get_build", json!({"build_id": build})).await["code"], "not_found");
    assert_eq!(host.fail("delete_build", arguments).await["code"], "not_found");
}

#[tokio::test]
async fn runs_keep_the_record_of_a_deleted_build() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let run = host.succeed("get_run", json!({"run_id": seed::RUN_FAILED})).await;
    let build = &run["build"]["id"];

    assert!(build.is_string(), "{run}");

    host.succeed("delete_build", json!({"build_id": build, "confirm": true})).await;

    assert_eq!(host.succeed("get_run", json!({"run_id": seed::RUN_FAILED})).await["build"], run["build"]);

    let start = json!({
        "multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_PHONES, "build_id": build,
    });

    assert_eq!(host.fail("start_run", start).await["status"], 400);
}
