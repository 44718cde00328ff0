//! The storage of a project is limited (service.md 10.4).

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{build, fixture, upload_ids, with};
use crate::support::{fixture::Session, host::Host};

/// Bytes of the two builds of `arena`.
const USED: u64 = 2 * 734_003_200;

/// Maximum bytes of the builds of `arena`.
const CAPACITY: u64 = 2_000_000_000;

async fn build_ids(host: &mut Host) -> Vec<String> {
    let list = host.succeed("list_builds", json!({})).await;
    let id = |build: &Value| build["id"].as_str().expect("an id").to_owned();
    let mut ids: Vec<_> = list["data"].as_array().expect("a list").iter().map(id).collect();
    ids.sort();
    ids
}

fn sorted(ids: &[&str]) -> Vec<String> {
    let mut ids: Vec<_> = ids.iter().map(|id| (*id).to_owned()).collect();
    ids.sort();
    ids
}

#[tokio::test]
async fn an_upload_above_the_quota_is_refused_with_the_numbers() {
    let Session { service: _service, mut host, .. } = fixture().key(keys::ARENA).open().await;
    let error = host.fail("initiate_build_upload", build(600_000_000)).await;

    assert_eq!((&error["code"], &error["status"]), (&json!("quota_exceeded"), &json!(402)));

    let details = json!({
        "service_error": "Storage capacity exceeded", "code": "QUOTA_EXCEEDED",
        "details": {"used": USED, "capacity": CAPACITY, "needed": 600_000_000},
    });

    assert_eq!(error["details"], details);
}

#[tokio::test]
async fn the_space_of_an_upload_is_reserved_until_it_ends() {
    let Session { service, mut host, .. } = fixture().key(keys::ARENA).open().await;
    let rest = usize::try_from(CAPACITY - USED).expect("it fits");
    let upload = host.succeed("initiate_build_upload", build(rest)).await;

    assert_eq!(host.fail("initiate_build_upload", build(1)).await["code"], "quota_exceeded");

    host.succeed("cancel_build_upload", upload_ids(&upload)).await;
    host.succeed("initiate_build_upload", with(build(rest), json!({"upload_timeout": 2}))).await;

    assert_eq!(host.fail("initiate_build_upload", build(1)).await["code"], "quota_exceeded");

    service.advance(120.0);
    host.succeed("initiate_build_upload", build(rest)).await;
}

#[tokio::test]
async fn deleting_a_build_frees_its_space() {
    let Session { service: _service, mut host, .. } = fixture().key(keys::ARENA).open().await;
    assert_eq!(host.fail("initiate_build_upload", build(600_000_000)).await["code"], "quota_exceeded");
    host.succeed("delete_build", json!({"build_id": seed::ARENA_BUILD_LINUX, "confirm": true})).await;
    host.succeed("initiate_build_upload", build(600_000_000)).await;
}

#[tokio::test]
async fn old_builds_are_deleted_after_a_confirmation() {
    // The Linux build is the older one. A run uses it, so that the other build is the least recently used one.
    for (policy, deleted, kept) in [
        ("oldest", seed::ARENA_BUILD_LINUX, seed::ARENA_BUILD_ANDROID),
        ("least_recent", seed::ARENA_BUILD_ANDROID, seed::ARENA_BUILD_LINUX),
    ] {
        let Session { service: _service, mut host, .. } = fixture().key(keys::ARENA).open().await;
        let start = json!({
            "multiplayer_test_id": seed::ARENA_TEST_PASSES, "deployment_config_id": seed::ARENA_CONFIG_LINUX,
            "build_id": seed::ARENA_BUILD_LINUX,
        });
        host.succeed("start_run", start).await;

        let upload = with(build(600_000_000), json!({"auto_delete": true, "deletion_policy": policy}));
        let error = host.fail("initiate_build_upload", upload.clone()).await;
        assert_eq!(error["code"], "confirmation_required");
        assert_eq!(build_ids(&mut host).await.len(), 2);

        host.succeed("initiate_build_upload", with(upload, json!({"confirm": true}))).await;
        assert_eq!(build_ids(&mut host).await, sorted(&[kept]), "{deleted} should have been deleted");
    }
}

/// Five builds of 734,003,200 bytes in 10 TB, one of them pinned.
#[tokio::test]
async fn a_pinned_build_is_not_deleted_for_an_upload() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let all = build_ids(&mut host).await;

    assert_eq!(all.len(), 5);

    host.succeed("initiate_build_upload", build(5_000_000_000_000)).await;
    let upload = |size: usize| with(build(size), json!({"auto_delete": true, "confirm": true}));
    let without_the_pinned = 5_000_000_000_000 - 734_003_200;
    let error = host.fail("initiate_build_upload", upload(without_the_pinned + 1)).await;

    assert_eq!(error["code"], "quota_exceeded");
    assert_eq!(build_ids(&mut host).await, all, "nothing is deleted if the space is still too small");

    host.succeed("initiate_build_upload", upload(without_the_pinned)).await;

    assert_eq!(build_ids(&mut host).await, sorted(&[seed::BUILD_PLAYSTATION]));
}

#[tokio::test]
async fn a_file_beyond_the_limits_is_too_large() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let single = json!({"multipart": false});
    for arguments in [build(5_000_000_000_001), with(build(3_000_000_000), single)] {
        let error = host.fail("initiate_build_upload", arguments).await;
        assert_eq!((&error["code"], &error["status"]), (&json!("too_large"), &json!(413)));
    }
}
