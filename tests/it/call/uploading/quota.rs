//! The storage of a project, and the size of a file, are limited (service.md 10.4).

use serde_json::json;

use super::{build, fixture, with};
use crate::support::fixture::Session;

#[tokio::test]
async fn an_upload_above_the_quota_is_refused_with_the_numbers() {
    let numbers = json!({"used": 1_468_006_400, "capacity": 2_000_000_000, "needed": 600_000_000});
    let body = json!({"error": "Storage capacity exceeded", "code": "QUOTA_EXCEEDED", "details": numbers});
    let Session { service, mut host, .. } = fixture().open().await;
    service.fault(json!({"status": 402, "body": body})).await;
    let error = host.fail("initiate_build_upload", build(600_000_000)).await;

    assert_eq!((&error["code"], &error["status"]), (&json!("quota_exceeded"), &json!(402)));
    let details =
        json!({"service_error": "Storage capacity exceeded", "code": "QUOTA_EXCEEDED", "details": numbers});
    assert_eq!(error["details"], details);
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
