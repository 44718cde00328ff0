//! Arguments that the tools refuse before any request, and arguments that they correct.

use serde_json::{Value, json};

use super::{fixture, with};
use crate::support::fixture::Session;

fn completion(parts: &Value) -> Value {
    json!({"build_id": "b", "upload_id": "u", "object_key": "o", "parts": parts})
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
