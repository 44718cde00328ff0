//! Completions: values for what a person types.

use std::sync::{Arc, atomic::Ordering};

use serde_json::{Value, json};
use tas_mcp::{
    clock::Clock,
    mcp::Server,
    sandbox::{keys, seed},
    tools::dispatcher::Dispatcher,
};

use crate::{
    mcp::server::{MODERN, modern},
    support::{
        host::Host,
        service::{Service, settings},
        time::Simulated,
    },
};

mod finding;

const RUN: &str = "tas://projects/{project}/runs/{run}";
const BUG: &str = "tas://projects/{project}/bugs/{bug}";

struct Scene {
    service: Arc<Service>,
    clock: Arc<Simulated>,
    host: Host,
}

async fn open(key: &str, more: &[(&str, &str)]) -> Scene {
    let service = Arc::new(Service::start().await);
    let clock = Simulated::of(&service);
    let settings = service.settings(key, more);
    let dispatcher = Dispatcher::new(settings.tools_config()).with_clock(clock.clone());
    let mut host = Host::to(Server::new(dispatcher, &settings));

    host.initialize("2025-11-25").await;

    Scene { service, clock, host }
}

fn template(uri: &str) -> Value {
    json!({"type": "ref/resource", "uri": uri})
}

fn prompt(name: &str) -> Value {
    json!({"type": "ref/prompt", "name": name})
}

/// A request for the values of an argument; `given` has been given before.
fn asked(reference: &Value, argument: &str, typed: &str, given: &Value) -> Value {
    json!({"ref": reference, "argument": {"name": argument, "value": typed}, "context": {"arguments": given}})
}

impl Host {
    async fn complete(&mut self, reference: Value, argument: &str, typed: &str) -> Value {
        let answer =
            self.request("completion/complete", asked(&reference, argument, typed, &json!({}))).await;
        assert!(answer["error"].is_null(), "{argument}: {answer}");
        answer["result"]["completion"].clone()
    }

    async fn values(&mut self, reference: Value, argument: &str, typed: &str) -> Vec<String> {
        let completion = self.complete(reference, argument, typed).await;
        let values = completion["values"].as_array().expect("values");
        values.iter().map(|value| value.as_str().expect("text").to_owned()).collect()
    }
}

/// A page of runs that were created at these minutes, all of them there are.
fn runs(minutes: &[usize]) -> Value {
    let run = |minute: &usize| {
        let created = format!("2026-03-01T{:02}:{:02}:00+00:00", minute / 60, minute % 60);
        json!({"multiplayer_run_id": format!("run-{minute}"), "test": {"name": "T"}, "created_at": created})
    };
    let data: Vec<_> = minutes.iter().map(run).collect();
    json!({"data": data, "pagination": {"page": 0, "page_size": 100, "total_count": minutes.len(), "total_pages": 1}})
}

#[tokio::test]
async fn every_variable_and_argument_has_values() {
    let mut scene = open(keys::DEMO, &[("TAS_TOOLSETS", "all")]).await;
    let knowledge = "tas://projects/{project}/knowledge/";

    for (reference, argument, value) in [
        (template(RUN), "run", seed::RUN_FAILED),
        (template(BUG), "bug", seed::BUG_ACTIVE),
        (template("tas://projects/{project}/test-plans/{id}"), "id", seed::PLAN_SMOKE),
        (template("tas://projects/{project}/shared-steps/{id}"), "id", seed::STEPS_SIGN_IN),
        (template(&format!("{knowledge}agent/{{agent_id}}")), "agent_id", seed::AGENT_CAREFUL),
        (template(&format!("{knowledge}test_case/{{test_case_id}}")), "test_case_id", seed::TEST_PASSES),
        (template("tas://projects/{project}/knowledge"), "project", "demo"),
        (prompt("triage_run"), "run_id", seed::RUN_FAILED),
        (prompt("triage_run"), "project_id", "demo"),
        (prompt("test_this_build"), "build_id", seed::BUILD_ANDROID),
        (prompt("test_this_build"), "test_plan_id", seed::PLAN_SMOKE),
        (prompt("test_this_build"), "test_id", seed::TEST_PASSES),
        (prompt("test_this_build"), "deployment_config_id", seed::CONFIG_PHONES),
        (prompt("nightly_report"), "test_plan_execution_id", seed::EXECUTION_COMPLETED),
        (prompt("nightly_report"), "compare_with", seed::EXECUTION_COMPLETED),
        (prompt("export_results"), "run_id", seed::RUN_PASSED),
    ] {
        let values = scene.host.values(reference, argument, "").await;
        assert!(values.iter().any(|known| known == value), "{argument}: {values:?}");
    }
}

#[tokio::test]
async fn the_newest_come_first_whatever_the_order_of_the_list() {
    let mut scene = open(keys::DEMO, &[]).await;
    scene.service.fault(json!({"operation": "list_runs", "body": runs(&[7, 70, 9, 8])})).await;
    let values = scene.host.values(template(RUN), "run", "").await;
    assert_eq!(values, ["run-70", "run-9", "run-8", "run-7"]);
}

#[tokio::test]
async fn what_begins_so_comes_before_what_is_named_so() {
    let mut scene = open(keys::DEMO, &[]).await;
    let names =
        [("bug_b", "Rope snaps"), ("rope", "Other"), ("bug_a", "A ROPE bridge"), ("bug_c", "Nothing")];
    let data: Vec<_> = names.iter().map(|(id, title)| json!({"id": id, "title": title})).collect();

    scene.service.fault(json!({"operation": "list_bugs", "body": {"data": data}})).await;

    assert_eq!(scene.host.values(template(BUG), "bug", "Rope").await, ["rope", "bug_b", "bug_a"]);
    assert_eq!(scene.host.values(template(BUG), "bug", "bug_").await, ["bug_b", "bug_a", "bug_c"]);
    assert_eq!(scene.host.values(template(BUG), "bug", "snow").await, [""; 0]);
}

#[tokio::test]
async fn an_execution_is_found_by_the_name_of_its_plan() {
    let mut scene = open(keys::DEMO, &[]).await;
    let values = scene.host.values(prompt("nightly_report"), "test_plan_execution_id", "cross-play").await;
    assert!(values.contains(&seed::EXECUTION_QUEUED.to_owned()), "{values:?}");
    assert!(!values.contains(&seed::EXECUTION_COMPLETED.to_owned()), "{values:?}");
}

#[tokio::test]
async fn at_most_100_values_are_told_and_how_many_there_are() {
    let mut scene = open(keys::DEMO, &[]).await;
    let many: Vec<_> = (0..130).collect();
    scene.service.fault(json!({"operation": "list_runs", "body": runs(&many)})).await;

    let completion = scene.host.complete(template(RUN), "run", "").await;

    assert_eq!(completion["values"].as_array().map(Vec::len), Some(100));
    assert_eq!(
        (&completion["values"][0], &completion["total"], &completion["hasMore"]),
        (&json!("run-129"), &json!(130), &json!(true))
    );

    let completion = scene.host.complete(template(RUN), "run", "run-12").await;

    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(11), &json!(false)));
}

#[tokio::test]
async fn a_list_that_goes_on_says_that_there_is_more_and_not_how_much() {
    let mut scene = open(keys::DEMO, &[]).await;
    let mut page = runs(&[1, 2]);
    page["pagination"]["total_count"] = json!(500);
    scene.service.fault(json!({"operation": "list_runs", "body": page})).await;
    let completion = scene.host.complete(template(RUN), "run", "run-1").await;
    assert_eq!(completion, json!({"values": ["run-1"], "hasMore": true}));
}

#[tokio::test]
async fn typing_costs_one_request_and_a_pause_another() {
    let mut scene = open(keys::DEMO, &[]).await;
    for typed in ["", "h", "hu", "hui"] {
        scene.host.complete(template(RUN), "run", typed).await;
    }

    scene.host.complete(prompt("triage_run"), "run_id", "").await;

    assert_eq!(scene.service.requests().await.len(), 1);

    scene.clock.sleep(std::time::Duration::from_secs(10)).await;
    scene.host.complete(template(RUN), "run", "huid").await;

    assert_eq!(scene.service.requests().await.len(), 2);
}

#[tokio::test]
async fn the_project_that_was_given_decides_which_ids_there_are() {
    let mut scene = open(keys::ORGANIZATION, &[("TAS_PROJECTS", "demo,arena")]).await;
    for (reference, argument, given) in
        [(template(RUN), "run", "project"), (prompt("triage_run"), "run_id", "project_id")]
    {
        let request = asked(&reference, argument, "", &json!({given: "arena"}));
        let answer = scene.host.request("completion/complete", request).await;
        let values = answer["result"]["completion"]["values"].to_string();
        assert!(values.len() > 2 && !values.contains(seed::RUN_FAILED), "{values}");
    }

    assert_eq!(scene.host.values(template(RUN), "project", "").await, ["arena", "demo"]);
    assert_eq!(scene.host.values(template(RUN), "project", "ar").await, ["arena"]);
}

#[tokio::test]
async fn projects_are_those_of_the_settings_of_the_session_and_of_the_key() {
    let mut scene = open(keys::DEMO, &[("TAS_PROJECT_ID", "demo")]).await;

    assert_eq!(scene.host.values(template(RUN), "project", "").await, ["demo"]);
    assert_eq!(scene.service.requests().await, [""; 0]);

    let mut scene = open(keys::DEMO, &[]).await;

    assert_eq!(scene.host.values(template(RUN), "project", "").await, ["demo"]);

    let mut scene = open(keys::ORGANIZATION, &[]).await;

    assert_eq!(scene.host.values(template(RUN), "project", "").await, [""; 0]);

    scene.host.succeed("list_runs", json!({"project_id": "arena"})).await;
    scene.clock.sleep(std::time::Duration::from_secs(10)).await;

    assert_eq!(scene.host.values(template(RUN), "project", "").await, ["arena"]);
}

#[tokio::test]
async fn a_service_that_fails_or_sleeps_leaves_nothing_to_complete_with_and_is_not_asked_again_at_once() {
    let empty = json!({"values": [], "total": 0, "hasMore": false});
    let mut scene = open(keys::DEMO, &[]).await;
    scene.service.fault(json!({"operation": "list_runs", "status": 403, "body": {"error": "no"}})).await;

    for typed in ["", "h"] {
        assert_eq!(scene.host.complete(template(RUN), "run", typed).await, empty);
    }

    assert_eq!(scene.service.requests().await.len(), 1);

    let mut scene = open(keys::DEMO, &[]).await;
    scene.clock.is_slow.store(true, Ordering::Relaxed);
    scene.service.fault(json!({"operation": "list_runs", "delay_ms": 60_000})).await;

    assert_eq!(scene.host.complete(template(RUN), "run", "").await, empty);

    let mut host = Host::open(&settings(&[])).await;

    assert_eq!(host.complete(template(RUN), "run", "").await, empty);
    assert_eq!(host.complete(template(RUN), "project", "").await, empty);
}

#[tokio::test]
async fn what_is_not_offered_is_invalid_params() {
    let mut host = Host::open(&settings(&[("TAS_READ_ONLY", "1"), ("TAS_TOOLSETS", "-bugs")])).await;
    for (reference, argument) in [
        (template(BUG), "bug"),
        (template("tas://projects/demo/runs/x"), "run"),
        (template(RUN), "bug"),
        (prompt("export_results"), "run_id"),
        (prompt("triage_run"), "id"),
    ] {
        let request = asked(&reference, argument, "", &json!({}));
        let answer = host.request("completion/complete", request).await;
        assert_eq!(answer["error"]["code"], -32602, "{reference} {argument}: {answer}");
    }
}

#[tokio::test]
async fn the_newest_revision_completes_too() {
    let service = Service::start().await;
    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
    let mut request = asked(&template(RUN), "run", seed::RUN_FAILED, &json!({}));

    request["_meta"] = modern(MODERN);
    let result = host.request("completion/complete", request).await["result"].clone();

    assert_eq!(
        (&result["resultType"], &result["completion"]["values"]),
        (&json!("complete"), &json!([seed::RUN_FAILED]))
    );
}

#[tokio::test]
async fn a_slow_list_holds_up_no_other_and_serves_all_who_wait_for_it() {
    let mut scene = open(keys::DEMO, &[]).await;
    scene.service.fault(json!({"operation": "list_runs", "delay_ms": 20_000})).await;

    let request = |reference, argument| asked(&reference, argument, "", &json!({}));
    let mut slow = Vec::new();

    for _ in 0..2 {
        slow.push(scene.host.start("completion/complete", request(template(RUN), "run")).await);
    }

    while scene.service.requests().await.is_empty() {
        tokio::task::yield_now().await;
    }

    let quick = scene.host.start("completion/complete", request(template(BUG), "bug")).await;

    assert_eq!(scene.host.receive().await["id"], quick);

    scene.service.release().await;
    for _ in 0..2 {
        let answer = scene.host.receive().await;
        assert!(slow.contains(&answer["id"].as_u64().expect("an id")), "{answer}");
        assert!(answer["result"]["completion"]["values"].to_string().contains(seed::RUN_FAILED), "{answer}");
    }

    assert_eq!(scene.service.requests().await.len(), 2);
}
