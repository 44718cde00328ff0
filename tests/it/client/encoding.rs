//! Values cannot change the structure of a path or a query.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use crate::support::{host::Host, stub::Stub};

#[tokio::test]
async fn an_id_is_one_encoded_segment_of_the_path() {
    let stub = Stub::start(async |_| (404, Value::Null)).await;
    let mut host = Host::open(&stub.settings(keys::DEMO, &[])).await;
    let ids = [
        ("a?state=all", "a%3Fstate%3Dall"),
        ("a#b", "a%23b"),
        ("a b+c", "a%20b%2Bc"),
        ("ü;🚀", "%C3%BC%3B%F0%9F%9A%80"),
        ("a\r\nx: y", "a%0D%0Ax%3A%20y"),
        ("...", "..."),
        ("A-z_0.9~", "A-z_0.9~"),
    ];

    let mut expected = Vec::new();
    for (id, encoded) in ids {
        assert_eq!(host.fail("get_run", json!({"run_id": id})).await["code"], "not_found");
        expected.push(format!("GET /runs/{encoded}"));
    }

    assert_eq!(stub.requests(), expected);
}

#[tokio::test]
async fn a_value_is_one_encoded_value_of_the_query() {
    let stub = Stub::start(async |_| (200, json!({"data": []}))).await;
    let mut host = Host::open(&stub.settings(keys::DEMO, &[])).await;
    let arguments = json!({"tags": ["a&b=c", "d e", "f"], "test_type": "x&page=9", "bugs": true, "page": 2});
    host.succeed("list_runs", arguments).await;
    let expected = "GET /runs?tags=a%26b%3Dc%2Cd%20e%2Cf&test_type=x%26page%3D9&bugs=true&page=2";
    assert_eq!(stub.requests(), [expected]);
}
