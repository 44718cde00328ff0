//! Part URLs, and uploads that expire.

use serde_json::json;

use super::{build, fixture, part_urls, put_accepted, put_refused, uploads_and_files, with};
use crate::support::fixture::Session;

const MINUTE: f64 = 60.0;

#[tokio::test]
async fn an_upload_ends_at_its_timeout_and_leaves_no_files() {
    // The default timeout is 60 minutes, or 10 minutes for an upload in one piece.
    let cases = [(json!({"upload_timeout": 5}), 5), (json!({}), 60), (json!({"multipart": false}), 10)];
    for (more, minutes) in cases {
        let Session { service, mut host, .. } = fixture().open().await;
        let upload = host.succeed("initiate_build_upload", with(build(3), more)).await;
        let url = match upload["upload_url"].as_str() {
            Some(url) => url.to_owned(),
            None => part_urls(&mut host, &upload, &[1]).await.remove(0),
        };

        put_accepted(&url, b"abc").await;
        // One second before the timeout the upload is still there.
        service.advance(f64::from(minutes) * MINUTE - 1.0);

        assert_eq!(uploads_and_files(&service).await, (1, 1));

        service.advance(1.0);

        assert_eq!(uploads_and_files(&service).await, (0, 0));

        assert_eq!(put_refused(&url, b"abc").await, (404, "NoSuchUpload".to_owned()));

        let error = host.fail("complete_build_upload", json!({"build_id": upload["build_id"]})).await;

        assert_eq!(error["code"], "not_found");
    }
}
