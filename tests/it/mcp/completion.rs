//! Completion of what a person types.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::{
    mcp::server::{MODERN, modern},
    support::{
        fixture::{Fixture, Session},
        host::Host,
        service::{Service, settings},
    },
};

const RUN: &str = "tas://projects/{project}/runs/{run}";
const BUG: &str = "tas://projects/{project}/bugs/{bug}";

async fn open(key: &str, variables: &[(&str, &str)]) -> Session {
    Fixture::new().key(key).variables(variables).simulated_time().open().await
}

fn template(uri: &str) -> Value {
    json!({"type": "ref/resource", "uri": uri})
}

fn prompt(name: &str) -> Value {
    json!({"type": "ref/prompt", "name": name})
}

/// Returns the parameters of a completion request. `given` holds the arguments that were entered before.
fn completion_request(reference: &Value, argument: &str, typed: &str, given: &Value) -> Value {
    json!({"ref": reference, "argument": {"name": argument, "value": typed}, "context": {"arguments": given}})
}

impl Host {
    async fn complete(&mut self, reference: Value, argument: &str, typed: &str) -> Value {
        let answer = self
            .request("completion/complete", completion_request(&reference, argument, typed, &json!({})))
            .await;
        assert!(answer["error"].is_null(), "{argument}: {answer}");
        answer["result"]["completion"].clone()
    }

    async fn values(&mut self, reference: Value, argument: &str, typed: &str) -> Vec<String> {
        let completion = self.complete(reference, argument, typed).await;
        let values = completion["values"].as_array().expect("values");
        values.iter().map(|value| value.as_str().expect("text").to_owned()).collect()
    }
}

/// Returns the only page of a list of runs that were created at these minutes.
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
    let mut session = open(keys::DEMO, &[("TAS_TOOLSETS", "all")]).await;
    let knowledge = "tas://projects/{project}/knowledge/";

    for (reference, argument, value) in [
        (template(RUN), "run", seed::RUN_FAILED),
        (template(BUG), "bug", seed::BUG_ACTIVE),
        (template("tas://projects/{project}/test-plans/{id}"), "id", seed::PLAN_SMOKE),
        (template("tas://projects/{project}/shared-steps/{id}"), "id", seed::STEPS_SIGN_IN),
        (template(&format!("{knowledge}agent/{{agent_id}}")), "agent_id", seed::AGENT_CAREFUL),
        (template(&format!("{knowledge}test_case/{{test_case_id}}")), "test_case_id", seed::TEST_PASSES),
        (prompt("triage-run"), "run_id", seed::RUN_FAILED),
        (prompt("release-smoke"), "build_id", seed::BUILD_ANDROID),
        (prompt("release-smoke"), "test_plan_id", seed::PLAN_SMOKE),
        (prompt("write-a-test"), "test_id", seed::TEST_PASSES),
        (prompt("release-smoke"), "deployment_config_id", seed::CONFIG_PHONES),
        (prompt("nightly-report"), "test_plan_execution_id", seed::EXECUTION_COMPLETED),
        (prompt("nightly-report"), "compare_with", seed::EXECUTION_COMPLETED),
        (prompt("export-results"), "run_id", seed::RUN_PASSED),
    ] {
        let values = session.host.values(reference, argument, "").await;
        assert!(values.iter().any(|known| known == value), "{argument}: {values:?}");
    }
}

#[tokio::test]
async fn values_that_begin_with_the_typed_text_come_before_matching_names() {
    let mut session = open(keys::DEMO, &[]).await;
    let names =
        [("bug_b", "Rope snaps"), ("rope", "Other"), ("bug_a", "A ROPE bridge"), ("bug_c", "Nothing")];
    let data: Vec<_> = names.iter().map(|(id, title)| json!({"id": id, "title": title})).collect();

    session.service.fault(json!({"operation": "list_bugs", "body": {"data": data}, "times": 3})).await;

    assert_eq!(session.host.values(template(BUG), "bug", "Rope").await, ["rope", "bug_b", "bug_a"]);
    assert_eq!(session.host.values(template(BUG), "bug", "bug_").await, ["bug_b", "bug_a", "bug_c"]);
    assert_eq!(session.host.values(template(BUG), "bug", "snow").await, [""; 0]);
}

#[tokio::test]
async fn only_the_first_page_of_a_list_is_read_which_then_has_more_values_and_no_total() {
    let mut session = open(keys::DEMO, &[]).await;
    let mut page = runs(&[1, 2]);
    page["pagination"]["total_count"] = json!(500);
    page["pagination"]["total_pages"] = json!(5);
    session.service.fault(json!({"operation": "list_runs", "body": page})).await;

    let completion = session.host.complete(template(RUN), "run", "run-1").await;

    assert_eq!(completion, json!({"values": ["run-1"], "hasMore": true}));

    let log = session.service.control("requests").await.to_string();

    assert!(session.service.requests().await.len() == 1 && log.contains("page=0"), "{log}");
}

#[tokio::test]
async fn the_entered_project_decides_which_ids_are_listed() {
    let mut session = open(keys::ORGANIZATION, &[("TAS_PROJECTS", "demo,arena")]).await;
    for (reference, argument, given) in
        [(template(RUN), "run", "project"), (prompt("triage-run"), "run_id", "project_id")]
    {
        let request = completion_request(&reference, argument, "", &json!({given: "arena"}));
        let answer = session.host.request("completion/complete", request).await;
        let values = answer["result"]["completion"]["values"].to_string();
        assert!(values.len() > 2 && !values.contains(seed::RUN_FAILED), "{values}");
    }

    assert_eq!(session.host.values(template(RUN), "project", "").await, ["arena", "demo"]);
    assert_eq!(session.host.values(template(RUN), "project", "ar").await, ["arena"]);
}

#[tokio::test]
async fn an_unknown_prompt_template_or_argument_is_invalid_params() {
    let mut host = Host::open(&settings(&[("TAS_READ_ONLY", "1"), ("TAS_TOOLSETS", "-bugs")])).await;
    for (reference, argument) in [
        (template(BUG), "bug"),
        (template("tas://projects/demo/runs/x"), "run"),
        (template(RUN), "bug"),
        (prompt("export-results"), "run_id"),
        (prompt("triage-run"), "id"),
    ] {
        let request = completion_request(&reference, argument, "", &json!({}));
        let answer = host.request("completion/complete", request).await;
        assert_eq!(answer["error"]["code"], -32602, "{reference} {argument}: {answer}");
    }
}

#[tokio::test]
async fn completion_works_in_the_newest_revision() {
    let service = Service::start().await;
    let mut host = Host::connect(&service.settings(keys::DEMO, &[]));
    let mut request = completion_request(&template(RUN), "run", seed::RUN_FAILED, &json!({}));

    request["_meta"] = modern(MODERN);
    let result = host.request("completion/complete", request).await["result"].clone();

    assert_eq!(
        (&result["resultType"], &result["completion"]["values"]),
        (&json!("complete"), &json!([seed::RUN_FAILED]))
    );
}

#[tokio::test]
async fn the_list_is_that_of_the_only_known_project_and_else_there_is_none() {
    for (projects, is_known) in [("arena", true), ("demo,arena", false)] {
        let mut session = open(keys::ORGANIZATION, &[("TAS_PROJECTS", projects)]).await;
        let values = session.host.values(prompt("triage-run"), "run_id", "").await;
        assert_eq!(values.contains(&seed::ARENA_RUN_FAILED.to_owned()), is_known, "{projects}: {values:?}");
    }
}

#[tokio::test]
async fn at_most_100_values_are_returned_with_the_total() {
    let mut session = open(keys::DEMO, &[]).await;
    let many: Vec<_> = (0..130).collect();
    session.service.fault(json!({"operation": "list_runs", "body": runs(&many), "times": 2})).await;

    let completion = session.host.complete(template(RUN), "run", "").await;
    assert_eq!(completion["values"].as_array().map(Vec::len), Some(100));
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(130), &json!(true)));

    let completion = session.host.complete(template(RUN), "run", "run-12").await;
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(11), &json!(false)));
}

#[tokio::test]
async fn a_list_that_cannot_be_read_is_empty() {
    let empty = json!({"values": [], "total": 0, "hasMore": false});
    let mut session = open(keys::DEMO, &[]).await;
    session.service.fault(json!({"operation": "list_runs", "status": 403, "body": {"error": "no"}})).await;
    assert_eq!(session.host.complete(template(RUN), "run", "").await, empty);

    let mut host = Host::open(&settings(&[])).await;
    assert_eq!(host.complete(template(RUN), "run", "").await, empty);
    assert_eq!(host.complete(template(RUN), "project", "").await, empty);
}
