//! `change_plan_tests`: the tests of one plan or of several, without losing what somebody else has written.

use serde_json::{Value, json};
use tas_mcp::sandbox::seed;

use crate::support::fixture::{Fixture, Session};

async fn tests_of(host: &mut crate::support::host::Host, plan: &str) -> Vec<String> {
    let plan = host.succeed("get_test_plan", json!({"test_plan_id": plan})).await;
    let items = plan["test_items"].as_array().expect("a list").iter();
    items.map(|item| item["multiplayer_test_id"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn a_test_is_added_at_its_place_once() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let mut expected = tests_of(&mut host, seed::PLAN_SMOKE).await;
    expected.insert(1, seed::TEST_SKIPPED.to_owned());
    let call =
        json!({"test_plan_id": seed::PLAN_SMOKE, "add": [seed::TEST_SKIPPED], "position": 2, "retries": 1});

    let changed = host.succeed("change_plan_tests", call.clone()).await;
    assert_eq!(changed["status"], "changed", "{changed}");
    assert_eq!(changed["plans"][0]["after"], json!(expected));
    assert_eq!(tests_of(&mut host, seed::PLAN_SMOKE).await, expected);

    let again = host.succeed("change_plan_tests", call).await;
    assert_eq!(again["status"], "nothing_to_change", "{again}");
    assert_eq!(service.writes().await.len(), 1);
}

#[tokio::test]
async fn all_plans_with_a_name_are_changed_and_the_others_are_named() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    for name in ["Nightly A", "Nightly B"] {
        let tests =
            json!([{"multiplayer_test_id": seed::TEST_FAILS}, {"multiplayer_test_id": seed::TEST_PASSES}]);
        host.succeed("create_test_plan", json!({"name": name, "test_items": tests})).await;
    }
    host.succeed(
        "create_test_plan",
        json!({"name": "Nightly C", "test_items": [{"multiplayer_test_id": seed::TEST_PASSES}]}),
    )
    .await;

    let call = json!({"plan_name": "nightly", "remove": [seed::TEST_FAILS]});
    let changed = host.succeed("change_plan_tests", call).await;

    assert_eq!(changed["plans"].as_array().map(Vec::len), Some(2), "{changed}");
    assert_eq!(changed["unchanged"], json!(["Nightly C"]));
    assert_eq!(service.writes().await.len(), 5);
}

#[tokio::test]
async fn a_change_of_more_than_five_plans_needs_the_agreement_of_a_user() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    for number in 0..6 {
        let name = format!("Many {number}");
        let tests = json!([{"multiplayer_test_id": seed::TEST_PASSES}]);
        host.succeed("create_test_plan", json!({"name": name, "test_items": tests})).await;
    }
    let call = |more: Value| {
        let mut call = json!({"plan_name": "Many", "add": [seed::TEST_FAILS]});
        call.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        call
    };

    let error = host.fail("change_plan_tests", call(json!({}))).await;
    assert_eq!(error["message"], "change_plan_tests changes the tests of 6 plans");
    let shown = host.succeed("change_plan_tests", call(json!({"dry_run": true}))).await;
    assert_eq!(shown["plans"][5]["request"]["method"], "PATCH", "{shown}");
    assert_eq!(service.writes().await.len(), 6);

    let changed = host.succeed("change_plan_tests", call(json!({"confirm": true, "max_plans": 6}))).await;
    assert_eq!(changed["status"], "changed", "{changed}");
}

/// Between the two readings of a plan, another writer adds all its tests.
#[tokio::test]
async fn what_another_writer_changes_meanwhile_stays() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let mut expected = tests_of(&mut host, seed::PLAN_SMOKE).await;
    expected.push(seed::TEST_SKIPPED.to_owned());
    let stale = json!({"id": seed::PLAN_SMOKE, "name": "Smoke", "test_items": []});
    service.fault(json!({"operation": "get_test_plan", "body": stale, "times": 1})).await;

    let call = json!({"test_plan_id": seed::PLAN_SMOKE, "add": [seed::TEST_SKIPPED]});
    host.succeed("change_plan_tests", call).await;

    assert_eq!(tests_of(&mut host, seed::PLAN_SMOKE).await, expected);
}

#[tokio::test]
async fn the_fields_of_tests_that_stay_are_written_as_they_were_read() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let item = json!({"multiplayer_test_id": seed::TEST_PASSES, "retries": 2, "weight": {"of": "tomorrow"}});
    let plan = json!({"id": seed::PLAN_SMOKE, "name": "Smoke", "test_items": [item]});
    service.fault(json!({"operation": "get_test_plan", "body": plan, "times": 1})).await;

    let call = json!({"test_plan_id": seed::PLAN_SMOKE, "add": [seed::TEST_FAILS], "dry_run": true});
    let shown = host.succeed("change_plan_tests", call).await;

    let written = &shown["plans"][0]["request"]["body"]["patch"]["test_items"];
    assert_eq!(
        (&written[0], &written[1]["multiplayer_test_id"]),
        (&item, &json!(seed::TEST_FAILS)),
        "{shown}"
    );
}

#[tokio::test]
async fn a_name_that_no_plan_has_changes_nothing() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;

    let error =
        host.fail("change_plan_tests", json!({"plan_name": "none", "remove": [seed::TEST_FAILS]})).await;

    assert_eq!(error["code"], "not_found");
    assert_eq!(service.writes().await, [""; 0]);
}
