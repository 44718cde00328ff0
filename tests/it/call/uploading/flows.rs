//! Both ways to upload a build, from the first call to a started run.

use serde_json::json;
use tas_mcp::sandbox::seed;

use super::{
    build, file, fixture, part_urls, put_accepted, put_parts, text, upload_ids, uploads_and_files, with,
};
use crate::support::fixture::Session;

#[tokio::test]
async fn an_upload_in_parts_keeps_the_bytes() {
    let Session { service, mut host, .. } = fixture().open().await;
    // One part, a full part, and several parts with a short last one.
    for size in [1, 999, 1_000, 1_001, 2_500] {
        let file = file(size);
        let upload = host.succeed("initiate_build_upload", build(size)).await;
        let expected = [json!(size.div_ceil(1_000)), json!(1_000), json!("multipart")];

        assert_eq!(["total_parts", "part_size", "upload_type"].map(|name| upload[name].clone()), expected);

        let parts = put_parts(&mut host, &upload, &file).await;
        let build_id = text(&upload["build_id"]);

        assert_eq!(service.content(build_id).await, None, "the upload is not complete");

        host.succeed("complete_build_upload", with(upload_ids(&upload), json!({"parts": parts}))).await;

        assert_eq!(service.content(build_id).await, Some(file));
    }

    assert_eq!(uploads_and_files(&service).await, (0, 8));
}

#[tokio::test]
async fn an_upload_in_one_piece_keeps_the_bytes() {
    let Session { service, mut host, .. } = fixture().open().await;
    let file = file(2_500);
    let single = with(build(file.len()), json!({"multipart": false}));
    let upload = host.succeed("initiate_build_upload", single).await;

    assert_eq!(upload["upload_type"], "single-part");
    assert_eq!(upload.get("upload_id"), None);

    put_accepted(text(&upload["upload_url"]), &file).await;
    let build_id = &upload["build_id"];
    let done = host.succeed("complete_build_upload", json!({"build_id": build_id})).await;

    assert_eq!(done, json!({"status": "success"}));
    assert_eq!(service.content(text(build_id)).await, Some(file));
}

#[tokio::test]
async fn an_uploaded_build_has_its_description_and_can_be_started() {
    let Session { service: _service, mut host, .. } = fixture().open().await;
    let file = file(10);
    let more = json!({
        "description": "Fixes the pause menu.", "tags": ["nightly", "pause"],
        "details": {"vcs": {"branch": "main"}, "upload": {"method": "api"}},
    });
    let upload = host.succeed("initiate_build_upload", with(build(file.len()), more.clone())).await;
    let parts = put_parts(&mut host, &upload, &file).await;

    host.succeed("complete_build_upload", with(upload_ids(&upload), json!({"parts": parts}))).await;
    let build_record = host.succeed("get_build", json!({"build_id": upload["build_id"]})).await;

    for name in ["description", "tags", "details"] {
        assert_eq!(build_record[name], more[name]);
    }

    assert_eq!((&build_record["file_size"], &build_record["status"]), (&json!(10), &json!("OK")));

    let listed = host.succeed("list_builds", json!({"tags": ["pause"]})).await;

    assert_eq!(listed["data"][0]["id"], upload["build_id"]);

    let start = json!({
        "multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_PHONES,
        "build_id": upload["build_id"],
    });

    assert_eq!(host.succeed("start_run", start).await["build_id"], upload["build_id"]);
}

#[tokio::test]
async fn parts_are_accepted_in_any_order_and_the_last_upload_of_a_part_counts() {
    let Session { service, mut host, .. } = fixture().open().await;
    let (file, wrong) = (file(2_500), vec![0; 1_000]);
    let upload = host.succeed("initiate_build_upload", build(file.len())).await;
    let urls = part_urls(&mut host, &upload, &[3, 1, 2]).await;
    let third = put_accepted(&urls[0], &file[2_000..]).await;
    let earlier = put_accepted(&urls[2], &wrong).await;
    let second = put_accepted(&urls[2], &file[1_000..2_000]).await;
    let first = put_accepted(&urls[1], &file[..1_000]).await;

    assert_ne!(earlier, second);
    assert_eq!(uploads_and_files(&service).await, (1, 3));

    let with_second = |etag: &str| {
        let parts = [&first, etag, &third].into_iter().zip(1..);
        let parts: Vec<_> =
            parts.map(|(etag, number)| json!({"part_number": number, "etag": etag})).collect();
        with(upload_ids(&upload), json!({"parts": parts}))
    };

    let error = host.fail("complete_build_upload", with_second(&earlier)).await;

    assert_eq!((&error["code"], &error["status"]), (&json!("rejected"), &json!(400)));

    host.succeed("complete_build_upload", with_second(&second)).await;

    assert_eq!(service.content(text(&upload["build_id"])).await, Some(file));
}
