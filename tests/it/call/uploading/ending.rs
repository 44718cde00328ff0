//! Uploads that are cancelled, interrupted or completed twice.

use serde_json::{Value, json};

use super::{
    build, file, fixture, part_urls, put_accepted, put_parts, put_refused, text, upload_build, upload_ids,
    uploads_and_files, with,
};
use crate::support::fixture::Session;

#[tokio::test]
async fn a_cancelled_upload_leaves_no_files() {
    let Session { service, mut host, .. } = fixture().open().await;
    let upload = host.succeed("initiate_build_upload", build(2_500)).await;
    let parts = put_parts(&mut host, &upload, &file(2_500)).await;

    assert_eq!(uploads_and_files(&service).await, (1, 3));

    let urls = part_urls(&mut host, &upload, &[1]).await;

    assert_eq!(host.succeed("cancel_build_upload", upload_ids(&upload)).await, json!({"success": true}));
    assert_eq!(uploads_and_files(&service).await, (0, 0));
    assert_eq!(put_refused(&urls[0], &file(1_000)).await, (404, "NoSuchUpload".to_owned()));

    for (tool, arguments) in [
        ("cancel_build_upload", upload_ids(&upload)),
        ("complete_build_upload", with(upload_ids(&upload), json!({"parts": parts}))),
    ] {
        let error = host.fail(tool, arguments).await;
        assert_eq!(error["code"], "not_found");
        let service_error = [&error["details"]["service_error"], &error["details"]["code"]];
        assert_eq!(service_error, ["Upload not found", "UPLOAD_NOT_FOUND"]);
    }
}

#[tokio::test]
async fn an_upload_in_one_piece_is_cancelled_without_an_upload_id() {
    let Session { service, mut host, .. } = fixture().open().await;
    let single = with(build(3), json!({"multipart": false}));
    let upload = host.succeed("initiate_build_upload", single).await;

    put_accepted(text(&upload["upload_url"]), b"abc").await;
    let arguments = json!({"build_id": upload["build_id"], "object_key": upload["object_key"]});
    host.succeed("cancel_build_upload", arguments).await;

    assert_eq!(uploads_and_files(&service).await, (0, 0));
}

#[tokio::test]
async fn an_upload_is_completed_once() {
    let Session { service, mut host, .. } = fixture().open().await;
    let upload = host.succeed("initiate_build_upload", build(3)).await;
    let parts = put_parts(&mut host, &upload, b"abc").await;
    let urls = part_urls(&mut host, &upload, &[1]).await;
    let completion = with(upload_ids(&upload), json!({"parts": parts}));

    host.succeed("complete_build_upload", completion.clone()).await;

    assert_eq!(host.fail("complete_build_upload", completion).await["code"], "not_found");
    assert_eq!(host.fail("cancel_build_upload", upload_ids(&upload)).await["code"], "not_found");
    assert_eq!(put_refused(&urls[0], b"xyz").await, (404, "NoSuchUpload".to_owned()));
    assert_eq!(service.content(text(&upload["build_id"])).await, Some(b"abc".to_vec()));
}

#[tokio::test]
async fn the_files_are_removed_with_the_sandbox() {
    let Session { service, mut host, .. } = fixture().open().await;

    assert_eq!(service.control("uploads").await["directory"], Value::Null);

    upload_build(&mut host, &file(10)).await;
    let directory = service.control("uploads").await["directory"].as_str().expect("a path").to_owned();

    assert!(std::fs::read_dir(&directory).is_ok_and(|files| files.count() == 1));

    drop(service);

    assert!(!std::path::Path::new(&directory).exists());
}
