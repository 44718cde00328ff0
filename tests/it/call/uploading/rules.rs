//! Arguments that the tools refuse before any request, and arguments that they correct.

use serde_json::{Value, json};

use super::{build, fixture, with};
use crate::support::fixture::Session;

fn completion(parts: &Value) -> Value {
    json!({"build_id": "b", "upload_id": "u", "object_key": "o", "parts": parts})
}

#[tokio::test]
async fn values_beyond_a_limit_are_refused_before_any_request() {
    let Session { service, mut host, .. } = fixture().open().await;
    let long = |length| "ä".repeat(length);
    let cases = [
        (json!({"name": ""}), "name: must not be empty"),
        (json!({"name": long(256)}), "name: must have at most 255 characters, got 256"),
        (json!({"file_name": long(256)}), "file_name: must have at most 255 characters, got 256"),
        (json!({"file_size": 0}), "file_size: must be 1 or more, got 0"),
        (json!({"description": long(1_001)}), "description: must have at most 1000 characters, got 1001"),
        (json!({"tags": ["a", long(51)]}), "tags.1: must have at most 50 characters, got 51"),
        (json!({"tags": [""]}), "tags.0: must not be empty"),
        (json!({"upload_timeout": 0}), "upload_timeout: must be from 1 to 1440, got 0"),
        (json!({"upload_timeout": 1_441}), "upload_timeout: must be from 1 to 1440, got 1441"),
        (
            json!({"details": {"vcs": {"type": "cvs"}}}),
            "details.vcs.type: must be one of git, mercurial, svn",
        ),
        (json!({"deletion_policy": "oldest"}), "deletion_policy: requires `auto_delete`"),
    ];

    for (wrong, rule) in cases {
        assert_eq!(host.violations("initiate_build_upload", with(build(1), wrong)).await, [rule]);
    }

    let web = host.violations("initiate_build_upload", with(build(1), json!({"platform": "web"}))).await;

    assert!(web[0].starts_with("platform: must be one of windows, macos, linux, android,"), "{web:?}");
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn parts_are_numbered_from_one_in_order_without_a_gap() {
    let Session { service, mut host, .. } = fixture().open().await;
    let part = |number: i32| json!({"part_number": number, "etag": "e"});
    let must_be = |index: usize, number: usize| {
        format!(
            "parts.{index}.part_number: must be {number}: parts are numbered from 1 in ascending order, without gaps"
        )
    };
    let cases = [
        (json!([part(2)]), must_be(0, 1)),
        (json!([part(2), part(1)]), must_be(0, 1)),
        (json!([part(1), part(3)]), must_be(1, 2)),
        (json!([part(1), part(2), part(2)]), must_be(2, 3)),
        (json!([]), "parts: must not be empty".to_owned()),
    ];

    for (parts, rule) in cases {
        assert_eq!(host.violations("complete_build_upload", completion(&parts)).await, [rule]);
    }

    assert_eq!(
        host.violations(
            "get_build_upload_parts",
            json!({"upload_id": "u", "object_key": "o", "part_numbers": [1, 0]})
        )
        .await,
        ["part_numbers.1: must be 1 or more, got 0"]
    );
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn a_completion_has_one_of_two_forms() {
    let Session { service, mut host, .. } = fixture().open().await;
    let parts = json!([{"part_number": 1, "etag": "e"}]);
    let cases = [
        (json!({"upload_id": "u"}), vec!["upload_id: requires `parts`", "upload_id: requires `object_key`"]),
        (json!({"upload_id": "u", "object_key": "o"}), vec!["upload_id: requires `parts`"]),
        (json!({"parts": parts}), vec!["parts: requires `upload_id`", "parts: requires `object_key`"]),
    ];

    for (arguments, rules) in cases {
        let arguments = with(arguments, json!({"build_id": "b"}));
        assert_eq!(host.violations("complete_build_upload", arguments).await, rules);
    }

    assert_eq!(service.requests().await, [""; 0]);
}
