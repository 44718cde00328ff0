//! Texts name offered tools only, under every selection and in read-only mode.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tas_mcp::{
    failure::Code,
    sandbox::{keys, seed},
    service::tool::Toolset,
    settings::Settings,
    tools::{catalog, selection::Selection},
};

use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    service::settings,
    stub::Stub,
};

const ID: &str = "00000000-0000-4000-8000-000000000000";

/// Returns the words that select each toolset alone, each tool alone, and the usual selections.
fn selections() -> Vec<&'static str> {
    let sets = Toolset::ALL.map(|(_, name)| name);
    let tools = catalog::tools().map(|entry| entry.name);
    ["lean", "default", "all"].into_iter().chain(sets).chain(tools).collect()
}

/// Returns the settings of every selection, with and without read-only mode, in project and in global scope.
pub(super) fn every_settings() -> Vec<(String, Settings)> {
    let scopes = [("TAS_PROJECT_ID", "demo"), ("TAS_PROJECTS", "demo,arena")];
    let mut all = Vec::new();

    for (index, words) in selections().into_iter().enumerate() {
        for read_only in ["false", "true"] {
            let variables = [("TAS_TOOLSETS", words), ("TAS_READ_ONLY", read_only), scopes[index % 2]];
            all.push((format!("{variables:?}"), settings(&variables)));
        }
    }

    all
}

/// Returns the tools that `text` names although they are not offered.
pub(super) fn unoffered_names(text: &str, selection: &Selection) -> BTreeSet<&'static str> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let named = words.filter_map(catalog::find_tool).filter(|tool| !selection.offers(tool));
    named.map(|tool| tool.name).collect()
}

/// Returns the instructions and everything that the host lists.
async fn listed_texts(settings: &Settings) -> Vec<(&'static str, Value)> {
    let mut host = Host::connect(settings);
    let mut texts = vec![("initialize", host.initialize("2025-11-25").await["instructions"].clone())];

    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        texts.push((method, host.request(method, json!({})).await["result"].clone()));
    }

    texts
}

/// Returns the text of each listed prompt: once with its required arguments, and once with as many arguments as can be
/// combined.
async fn prompt_texts(settings: &Settings) -> Vec<String> {
    let mut host = Host::open(settings).await;
    let prompts = host.request("prompts/list", json!({})).await["result"]["prompts"].clone();
    let mut texts = Vec::new();

    for prompt in prompts.as_array().expect("a list") {
        for argument in prompt["arguments"].as_array().expect("arguments") {
            let required = prompt["arguments"].as_array().expect("arguments").iter();
            let names = required.filter(|one| one["required"] == true).chain([argument]);
            let arguments: serde_json::Map<_, _> =
                names.map(|one| (one["name"].as_str().expect("a name").to_owned(), json!(ID))).collect();
            let params = json!({"name": prompt["name"], "arguments": arguments});
            let answer = host.request("prompts/get", params).await;
            texts.extend(answer["result"]["messages"][0]["content"]["text"].as_str().map(str::to_owned));
        }
    }

    texts
}

#[tokio::test]
async fn listed_texts_name_offered_tools_only() {
    for (name, settings) in every_settings() {
        let selection = settings.selection();

        for (method, text) in listed_texts(&settings).await {
            let named = unoffered_names(&text.to_string(), &selection);
            assert!(named.is_empty(), "{name}: {method}: {named:?}");
        }
    }
}

#[tokio::test]
async fn prompts_name_offered_tools_only() {
    let mut texts = 0;
    for (name, settings) in every_settings() {
        let selection = settings.selection();

        for text in prompt_texts(&settings).await {
            let named = unoffered_names(&text, &selection);
            assert!(named.is_empty(), "{name}: {named:?}: {text}");
            texts += 1;
        }
    }

    assert!(texts > 20, "{texts}");
}

/// Visits the schema of every argument, with the name of the argument.
fn visit_arguments(schema: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    for (name, argument) in schema["properties"].as_object().into_iter().flatten() {
        visit(name, argument);
        visit_arguments(argument, visit);
    }
    for inner in ["items", "additionalProperties"] {
        if schema[inner].is_object() {
            visit_arguments(&schema[inner], visit);
        }
    }
}

#[tokio::test]
async fn what_is_left_of_a_text_is_complete() {
    for (name, settings) in every_settings() {
        let mut host = Host::open(&settings).await;
        let tools = host.request("tools/list", json!({})).await["result"]["tools"].clone();

        for tool in tools.as_array().expect("tools") {
            let check = |text: &str, first_choice: &Value| {
                // A text begins with a capital letter, a digit, a name in backticks or the first choice.
                let begins = !text.starts_with(|first: char| first.is_lowercase())
                    || first_choice.as_str().is_some_and(|choice| text.starts_with(choice));
                assert!(begins && text.ends_with('.'), "{name}: {}: {text}", tool["name"]);
            };
            check(tool["description"].as_str().expect("a description"), &Value::Null);

            visit_arguments(&tool["inputSchema"], &mut |argument, schema| {
                let Some(text) = schema["description"].as_str() else { return };
                let choices = schema.get("enum").unwrap_or(&schema["items"]["enum"]);
                check(text, &choices[0]);
                // Only the source of an id may be missing as a whole.
                let is_id = ["_id", "_ids", "_key", "version"].iter().any(|end| argument.ends_with(end));
                assert!(is_id || text != "Ask the person for it.", "{name}: {}: {argument}", tool["name"]);
            });
        }
    }
}

/// A text says no more than the contract, and no less where a caller would guess.
#[tokio::test]
async fn descriptions_say_what_callers_would_guess() {
    let mut host = Host::open(&settings(&[])).await;
    let tools = host.request("tools/list", json!({})).await["result"]["tools"].clone();
    for (tool, argument, expected) in [
        ("start_run", "multiplayer_test_id", "From find_by_name."),
        ("start_run", "retries", "more runs of the same job after ERROR, TIMEOUT or STOPPED"),
        ("start_run", "build_id", "Needs deployment_config_id"),
        ("start_run", "player_deployment_configs", "Two players on one private device are refused."),
        ("start_run", "run_on_all_configured_devices", "Multiplies instances."),
        ("start_test_plan_run", "", "build_id is that of slot 1"),
        ("stop_runs", "", "not stated whether remaining retries are dropped"),
        ("stop_runs", "confirm", "after confirmation_required"),
        ("export_tmsys_run", "", "the export is new unless already_exported is true"),
        ("export_tmsys_run", "force_new_run", "returns the existing export, or makes the first"),
        ("export_tmsys_run", "custom_run_name", "without outer white space, which is removed"),
        (
            "list_test_plan_executions",
            "",
            "test_status.failed also counts ERROR, TIMEOUT, BLOCKED and MAX_STEPS",
        ),
        ("update_test_plan", "", "send the items of get_test_plan back as read"),
        ("update_test", "patch", "Null is sent as null."),
    ] {
        let tool = tools.as_array().expect("tools").iter().find(|one| one["name"] == tool).expect("a tool");
        let argument = &tool["inputSchema"]["properties"][argument]["description"];
        let text = argument.as_str().or(tool["description"].as_str()).expect("a text");
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[tokio::test]
async fn hints_of_failures_name_offered_tools_only() {
    let writes = [
        ("start_run", json!({"multiplayer_test_id": ID, "deployment_config_id": ID})),
        ("start_test_plan_run", json!({"test_plan_id": ID, "deployment_config_id": ID})),
        ("stop_runs", json!({"job_ids": [ID], "confirm": true})),
        ("create_test", json!({"test": {"name": "x"}})),
        ("create_test_folder", json!({"name": "x"})),
        ("update_test", json!({"test_id": ID, "expected_version": 1, "patch": {}})),
        ("update_test_plan", json!({"test_plan_id": ID, "patch": {}})),
        ("delete_build", json!({"build_id": ID, "confirm": true})),
    ];
    // The service accepts the request, but its answer is not an answer of the operation.
    let stub = Stub::start(async |_| (200, json!([]))).await;

    for (tool, arguments) in writes {
        let mut hints = Vec::new();
        for words in [tool, "all"] {
            let settings = stub.settings(keys::DEMO, &[("TAS_TOOLSETS", words), ("TAS_PROJECT_ID", "demo")]);
            let error = Host::open(&settings).await.fail(tool, arguments.clone()).await;
            let hint = error["hint"].as_str().expect("a hint").to_owned();
            let named = unoffered_names(&hint, &settings.selection());

            assert!(named.is_empty(), "{tool}: {hint}");
            hints.push(hint);
        }

        assert_eq!(hints[0], Code::OutcomeUnknown.general_hint(), "{tool}");
        assert!(hints[1].contains('`'), "{tool}: {}", hints[1]);
    }
}

#[tokio::test]
async fn advice_in_replies_names_offered_tools_only() {
    for (words, expected) in [
        ("wait_for_completion", "no offered tool helps here: tell the person"),
        ("wait_for_completion,summarize_results", "to find out why, call `summarize_results`"),
    ] {
        let mut session = Fixture::new().variables(&[("TAS_TOOLSETS", words)]).open().await;
        let waited = session.host.succeed("wait_for_completion", json!({"run_id": seed::RUN_FAILED})).await;

        assert!(waited["next_step"].as_str().expect("advice").starts_with(expected), "{waited}");
    }
}

#[tokio::test]
async fn names_of_tools_in_texts_of_the_service_are_kept() {
    let Session { service, mut host, .. } =
        Fixture::new().variables(&[("TAS_TOOLSETS", "get_run")]).open().await;
    let text = "See `list_runs`. Call `start_run`.";
    service
        .fault(json!({"operation": "get_run", "body": {"id": "x", "project_id": "demo", "next": text}}))
        .await;

    let run = host.succeed("get_run", json!({"run_id": "x"})).await;

    assert_eq!(run["next"], text);
}
