//! `change_plan_tests`: the tests of a plan, without losing what the change does not name.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
};

async fn tests_of(host: &mut Host, plan: &str) -> Vec<Value> {
    let plan = host.succeed("get_test_plan", json!({"test_plan_id": plan})).await;
    let items = plan["test_items"].as_array().expect("a list").iter();
    items.map(|item| item["multiplayer_test_id"].clone()).collect()
}

#[tokio::test]
async fn a_test_is_added_at_its_place_once() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let mut expected = tests_of(&mut host, seed::PLAN_SMOKE).await;
    expected.insert(1, json!(seed::TEST_SKIPPED));
    let call =
        json!({"test_plan_id": seed::PLAN_SMOKE, "add": [seed::TEST_SKIPPED], "position": 2, "retries": 1});

    let changed = host.succeed("change_plan_tests", call.clone()).await;
    assert_eq!(changed["status"], "changed", "{changed}");
    assert_eq!(changed["after"], json!(expected));
    assert_eq!(tests_of(&mut host, seed::PLAN_SMOKE).await, expected);

    let again = host.succeed("change_plan_tests", call).await;
    assert_eq!(again["status"], "nothing_to_change", "{again}");
    assert_eq!(service.writes().await.len(), 1);
}

#[tokio::test]
async fn a_plan_becomes_shorter_only_if_a_person_agrees() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let before = tests_of(&mut host, seed::PLAN_SMOKE).await;
    let (first, others) = before.split_first().expect("a test");
    let call =
        |flag: &str, is_set: bool| json!({"test_plan_id": seed::PLAN_SMOKE, "remove": [first], flag: is_set});

    let error = host.fail("change_plan_tests", call("confirm", false)).await;
    assert_eq!(error["message"], "change_plan_tests shortens the plan `Release smoke` from 4 to 3 tests");
    let shown = host.succeed("change_plan_tests", call("dry_run", true)).await;
    assert_eq!((&shown["after"], &shown["request"]["method"]), (&json!(others), &json!("PATCH")), "{shown}");
    assert_eq!(service.writes().await, [""; 0]);

    host.succeed("change_plan_tests", call("confirm", true)).await;
    assert_eq!(tests_of(&mut host, seed::PLAN_SMOKE).await, others);
}

#[tokio::test]
async fn the_fields_of_tests_are_written_as_they_were_read() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let item = |id: &str| json!({"multiplayer_test_id": id, "retries": 2, "weight": {"of": "tomorrow"}});
    let items = json!([item(seed::TEST_PASSES), item(seed::TEST_FAILS)]);
    let call = json!({
        "test_plan_id": seed::PLAN_SMOKE,
        "replace": {seed::TEST_FAILS.to_uppercase(): seed::TEST_SKIPPED},
        "dry_run": true,
    });

    let answer = |items: Value| json!({"operation": "get_test_plan", "body": {"id": seed::PLAN_SMOKE, "test_items": items}, "times": 1});

    service.fault(answer(items)).await;
    let shown = host.succeed("change_plan_tests", call.clone()).await;
    let written = &shown["request"]["body"]["patch"]["test_items"];
    assert_eq!(*written, json!([item(seed::TEST_PASSES), item(seed::TEST_SKIPPED)]), "{shown}");

    // A test that cannot be read would be lost.
    service.fault(answer(json!([item(seed::TEST_FAILS), null]))).await;
    let error = host.fail("change_plan_tests", call).await;
    assert_eq!(error["code"], "bad_response", "{error}");
}
