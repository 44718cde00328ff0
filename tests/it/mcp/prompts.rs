//! Prompts: the list, and the texts with the arguments of a user.

use serde_json::{Value, json};

use super::server::{MODERN, modern};
use crate::support::{host::Host, service::settings};

async fn prompts(host: &mut Host) -> Vec<Value> {
    host.request("prompts/list", json!({})).await["result"]["prompts"].as_array().expect("a list").clone()
}

async fn names(variables: &[(&str, &str)]) -> Vec<String> {
    let listed = prompts(&mut Host::open(&settings(variables)).await).await;
    listed.iter().map(|one| one["name"].as_str().expect("a name").to_owned()).collect()
}

/// Returns the text of a prompt.
async fn text(host: &mut Host, prompt: &str, arguments: Value) -> String {
    let answer = host.request("prompts/get", json!({"name": prompt, "arguments": arguments})).await;
    let messages = answer["result"]["messages"].as_array().unwrap_or_else(|| panic!("{prompt}: {answer}"));
    assert_eq!((messages.len(), &messages[0]["role"]), (1, &json!("user")));
    messages[0]["content"]["text"].as_str().expect("a text").to_owned()
}

async fn refusal(prompt: &str, arguments: Value) -> String {
    let mut host = Host::open(&settings(&[])).await;
    let answer = host.request("prompts/get", json!({"name": prompt, "arguments": arguments})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    answer["error"]["message"].as_str().expect("a message").to_owned()
}

#[tokio::test]
async fn a_prompt_is_listed_if_its_tools_are_offered() {
    let all = [
        "triage-run",
        "nightly-report",
        "release-smoke",
        "write-a-test",
        "keep-flaky-tests-down",
        "export-results",
    ];
    assert_eq!(names(&[]).await, all);
    assert_eq!(names(&[("TAS_READ_ONLY", "true")]).await, [all[0], all[1], all[4]]);
    assert_eq!(names(&[("TAS_TOOLSETS", "builds,configs")]).await, [""; 0]);

    let mut host = Host::open(&settings(&[("TAS_READ_ONLY", "true")])).await;
    for name in ["export-results", "nothing"] {
        let answer = host.request("prompts/get", json!({"name": name, "arguments": {}})).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(answer["error"]["message"].as_str().expect("a message").contains("triage-run"), "{answer}");
    }
}

#[tokio::test]
async fn a_prompt_is_the_skill_of_its_name_with_the_given_arguments() {
    let mut host = Host::open(&settings(&[])).await;
    for prompt in prompts(&mut host).await {
        let name = prompt["name"].as_str().expect("a name");
        let arguments = prompt["arguments"].as_array().expect("arguments").iter();
        let given: serde_json::Map<_, _> =
            arguments.map(|one| (one["name"].as_str().expect("a name").to_owned(), json!("an-id"))).collect();
        let uri = format!("skill://{name}/SKILL.md");
        let skill = host.request("resources/read", json!({"uri": uri})).await;
        let skill = skill["result"]["contents"][0]["text"].as_str().expect("a text").to_owned();

        let text = text(&mut host, name, json!(given)).await;
        let rules = skill.split("\n## Rules\n").nth(1).expect("rules").trim();
        assert!(text.starts_with("# ") && text.contains(rules), "{name}: {text}");
        let written = text.rsplit("\n\n").next().expect("the arguments");
        assert_eq!(serde_json::from_str::<Value>(written).expect("JSON"), json!(given), "{name}");
    }
}

#[tokio::test]
async fn arguments_are_data_of_one_line() {
    for value in
        ["a\nb", "a\rb", "a\tb", "a\u{2028}b", "a\u{202e}b", "a\u{200b}b", "a\u{0}b", &"x".repeat(201)]
    {
        let message = refusal("triage-run", json!({"run_id": value})).await;
        assert!(message.starts_with("triage-run: `run_id` must"), "{value:?}: {message}");
    }

    let mut host = Host::open(&settings(&[])).await;
    for (value, written) in [(json!(" a "), "a"), (json!(7), "7")] {
        let text = text(&mut host, "triage-run", json!({"run_id": value, "project_id": ""})).await;
        assert!(text.ends_with(&format!("{{\n  \"run_id\": \"{written}\"\n}}")), "{text}");
    }
}

#[tokio::test]
async fn all_invalid_arguments_are_reported_at_once() {
    let arguments = json!({"bild_id": "x", "deployment_config_id": {}});
    let message = refusal("release-smoke", arguments).await;
    for part in [
        "`bild_id`",
        "`build_id` is required",
        "`test_plan_id` is required",
        "`deployment_config_id` must be text",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[tokio::test]
async fn the_project_is_an_argument_in_global_scope_only() {
    for (variables, has_project) in [(&[][..], true), (&[("TAS_PROJECT_ID", "demo")], false)] {
        let mut host = Host::open(&settings(variables)).await;
        for prompt in prompts(&mut host).await {
            assert_eq!(prompt.to_string().contains("project_id"), has_project, "{prompt}");
        }
    }
}

#[tokio::test]
async fn prompts_work_in_the_newest_revision() {
    let mut host = Host::connect(&settings(&[]));
    let list = host.request("prompts/list", json!({"_meta": modern(MODERN)})).await["result"].clone();
    assert_eq!((&list["cacheScope"], list["prompts"].as_array().map(Vec::len)), (&json!("public"), Some(6)));

    let params = json!({"name": "triage-run", "arguments": {"run_id": "x"}, "_meta": modern(MODERN)});
    let prompt = host.request("prompts/get", params).await["result"].clone();
    assert_eq!(prompt["resultType"], "complete");
    assert_eq!(prompt["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tas-mcp");
}
