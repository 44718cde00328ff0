//! The list of prompts. Prompts name offered tools only.

use serde_json::{Value, json};
use tas_mcp::tools::catalog;

use super::{steps, text};
use crate::{
    mcp::server::{MODERN, modern},
    support::{host::Host, service::settings},
};

const ID: &str = "00000000-0000-4000-8000-000000000000";

async fn prompts(host: &mut Host) -> Vec<Value> {
    host.request("prompts/list", json!({})).await["result"]["prompts"].as_array().expect("a list").clone()
}

async fn names(variables: &[(&str, &str)]) -> Vec<String> {
    let listed = prompts(&mut Host::open(&settings(variables)).await).await;
    listed.iter().map(|one| one["name"].as_str().expect("a name").to_owned()).collect()
}

/// Returns every subset of the arguments of a prompt.
fn argument_subsets(prompt: &Value) -> Vec<Value> {
    let arguments = prompt["arguments"].as_array().expect("arguments");
    let name = |at: usize| arguments[at]["name"].as_str().expect("a name");
    let sets = (0..1 << arguments.len()).map(|set: usize| {
        let chosen = (0..arguments.len()).filter(|at| set >> at & 1 == 1);
        Value::Object(chosen.map(|at| (name(at).to_owned(), json!(ID))).collect())
    });

    sets.collect()
}

#[tokio::test]
async fn a_prompt_is_listed_if_its_tools_are_offered() {
    let all = [
        "triage_run",
        "test_this_build",
        "nightly_report",
        "export_results",
        "release_smoke",
        "write_a_test",
        "keep_flaky_tests_down",
    ];
    let reading = ["triage_run", "nightly_report", "keep_flaky_tests_down"];
    assert_eq!(names(&[]).await, all);
    assert_eq!(names(&[("TAS_READ_ONLY", "true")]).await, reading);
    assert_eq!(names(&[("TAS_TOOLSETS", "-exports,-configs,-tests")]).await, reading);
    assert_eq!(names(&[("TAS_TOOLSETS", "builds,configs")]).await, [""; 0]);
}

#[tokio::test]
async fn a_prompt_that_is_not_listed_is_refused() {
    let mut host = Host::open(&settings(&[("TAS_READ_ONLY", "true")])).await;
    for name in ["export_results", "nothing"] {
        let answer = host.request("prompts/get", json!({"name": name, "arguments": {}})).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(answer["error"]["message"].as_str().expect("a message").contains("triage_run"), "{answer}");
    }
}

#[tokio::test]
async fn every_text_is_short_and_names_offered_tools_with_valid_arguments() {
    for variables in [
        [("TAS_TOOLSETS", "all"), ("TAS_PROJECT_ID", "demo")],
        [("TAS_TOOLSETS", "default"), ("TAS_PROJECTS", "")],
        [("TAS_TOOLSETS", "runs,exports,list_deployment_configs"), ("TAS_PROJECTS", "")],
        [("TAS_TOOLSETS", "default"), ("TAS_READ_ONLY", "true")],
    ] {
        let mut host = Host::open(&settings(&variables)).await;
        let tools = host.request("tools/list", json!({})).await["result"]["tools"].clone();
        let mut texts = 0;
        for prompt in prompts(&mut host).await {
            let name = prompt["name"].as_str().expect("a name");

            assert!(prompt["title"].is_string() && prompt["description"].is_string(), "{name}");
            for arguments in argument_subsets(&prompt) {
                let params = json!({"name": name, "arguments": arguments});
                // Some arguments exclude each other.
                if host.request("prompts/get", params).await["error"].is_object() {
                    continue;
                }

                let text = text(&mut host, name, arguments.clone()).await;

                assert!(text.chars().count() < 1_700, "{name} {arguments}: {}", text.len());
                assert!(!steps(&text).is_empty(), "{name} {arguments}");

                for step in steps(&text) {
                    let tool = tools.as_array().expect("tools").iter().find(|tool| tool["name"] == step.tool);
                    let tool = tool.unwrap_or_else(|| panic!("{name} {arguments}: {}", step.tool));
                    let written: Value = serde_json::from_str(&step.arguments).expect("JSON");

                    for argument in written.as_object().expect("an object").keys() {
                        assert!(
                            tool["inputSchema"]["properties"][argument].is_object(),
                            "{}: {argument}",
                            step.tool
                        );
                    }
                }

                for word in text.split('`').skip(1).step_by(2) {
                    assert!(
                        catalog::find_tool(word).is_none(),
                        "{name}: `{word}` is a tool outside the calls"
                    );
                }

                texts += 1;
            }
        }
        assert!(texts >= 4, "{variables:?}: {texts}");
    }
}

#[tokio::test]
async fn arguments_have_descriptions_and_the_project_in_global_scope_only() {
    let arguments = async |variables: &[(&str, &str)], at: usize| {
        let listed = prompts(&mut Host::open(&settings(variables)).await).await;
        let arguments = listed[at]["arguments"].as_array().expect("arguments").clone();
        assert!(arguments.iter().all(|one| one["description"].is_string()), "{arguments:?}");
        arguments
            .iter()
            .map(|one| {
                format!(
                    "{}{}",
                    one["name"].as_str().expect("a name"),
                    if one["required"] == true { "!" } else { "" }
                )
            })
            .collect::<Vec<_>>()
    };

    assert_eq!(arguments(&[], 0).await, ["run_id!", "project_id"]);
    assert_eq!(arguments(&[("TAS_PROJECT_ID", "demo")], 0).await, ["run_id!"]);

    let build = ["build_id!", "test_plan_id", "test_id", "deployment_config_id", "project_id"];

    assert_eq!(arguments(&[], 1).await, build);
    let without_plan = [("TAS_TOOLSETS", "-list_test_plan_executions")];

    assert_eq!(arguments(&without_plan, 2).await, ["test_plan_execution_id!", "compare_with", "project_id"]);

    let with_plan = ["test_plan_execution_id", "test_plan_id", "compare_with", "project_id"];

    assert_eq!(arguments(&[], 2).await, with_plan);
    assert_eq!(arguments(&[], 3).await, ["test_plan_execution_id", "run_id", "project_id"]);
}

#[tokio::test]
async fn prompts_work_in_the_newest_revision() {
    let mut host = Host::connect(&settings(&[]));
    let list = host.request("prompts/list", json!({"_meta": modern(MODERN)})).await["result"].clone();

    assert_eq!((&list["cacheScope"], list["prompts"].as_array().map(Vec::len)), (&json!("public"), Some(7)));
    assert!(list["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0));

    let params = json!({"name": "triage_run", "arguments": {"run_id": "x"}, "_meta": modern(MODERN)});
    let prompt = host.request("prompts/get", params).await["result"].clone();

    assert_eq!(
        (&prompt["resultType"], prompt["messages"].as_array().map(Vec::len)),
        (&json!("complete"), Some(1))
    );
    assert_eq!(prompt["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tas-mcp");
}
