//! Skills: the lists, the files, and what they name.

use std::collections::BTreeSet;

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{
    offered_texts::{every_settings, unoffered_names},
    server::{MODERN, modern},
};
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    service::settings,
};

/// Sends a request of the newest revision.
async fn request(host: &mut Host, method: &str, mut params: Value) -> Value {
    params["_meta"] = modern(MODERN);
    host.request(method, params).await
}

async fn skills(host: &mut Host) -> Vec<Value> {
    let answer = request(host, "skills/list", json!({})).await;
    answer["result"]["skills"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

/// Reads a file of a skill.
async fn read(host: &mut Host, uri: &str) -> String {
    let answer = request(host, "resources/read", json!({"uri": uri})).await;
    let contents = &answer["result"]["contents"][0];
    assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!(uri), &json!("text/markdown")), "{answer}");
    contents["text"].as_str().expect("a text").to_owned()
}

async fn names(variables: &[(&str, &str)]) -> Vec<String> {
    let listed = skills(&mut Host::connect(&settings(variables))).await;
    listed.iter().map(|skill| skill["frontmatter"]["name"].as_str().expect("a name").to_owned()).collect()
}

/// Returns the URIs and digests of the files of a skill.
fn files(skill: &Value) -> Vec<(String, String, u64)> {
    let files = skill["resources"].as_array().expect("files").iter();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    files
        .map(|one| (text(&one["uri"]), text(&one["digest"]), one["size"].as_u64().expect("a size")))
        .collect()
}

#[tokio::test]
async fn the_files_of_every_skill_have_the_listed_digests() {
    let mut host = Host::connect(&settings(&[]));
    let mut read_files = 0;

    for skill in skills(&mut host).await {
        let uri = skill["uri"].as_str().expect("a URI").to_owned();
        let single = request(&mut host, "skills/get", json!({"uri": uri})).await["result"].clone();
        assert_eq!(single["skill"], skill);
        assert!(single["ttlMs"].is_u64() && single["cacheScope"] == "public", "{single}");

        for (uri, listed, size) in files(&skill) {
            let text = read(&mut host, &uri).await;
            let bytes = digest(&SHA256, text.as_bytes());
            let hex = bytes.as_ref().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
            assert_eq!((listed, size), (format!("sha256:{hex}"), text.len() as u64), "{uri}");
            read_files += 1;
        }
    }

    assert_eq!(read_files, 8);
}

#[tokio::test]
async fn a_skill_is_listed_if_its_tools_are_offered() {
    let all = [
        "triage-run",
        "nightly-report",
        "release-smoke",
        "write-a-test",
        "keep-flaky-tests-down",
        "export-results",
    ];
    let reading = ["triage-run", "nightly-report", "keep-flaky-tests-down"];

    assert_eq!(names(&[]).await, all);
    assert_eq!(names(&[("TAS_READ_ONLY", "true")]).await, reading);
    let lean = ["triage-run", "nightly-report", "release-smoke", "keep-flaky-tests-down", "export-results"];
    assert_eq!(names(&[("TAS_TOOLSETS", "lean")]).await, lean);
    assert_eq!(names(&[("TAS_TOOLSETS", "builds")]).await, [""; 0]);
}

#[tokio::test]
async fn skills_name_offered_tools_only_and_nothing_of_a_reference_is_left() {
    let mut texts = 0;
    for (name, settings) in every_settings() {
        let selection = settings.selection();
        let mut host = Host::connect(&settings);

        for (uri, ..) in skills(&mut host).await.iter().flat_map(files) {
            let text = read(&mut host, &uri).await;
            let named = unoffered_names(&text, &selection);
            assert!(named.is_empty(), "{name}: {uri}: {named:?}");
            for rest in ["tool:", "[[", "]]", "\n\n\n", "  \n", " \n"] {
                assert!(!text.contains(rest), "{name}: {uri}: {rest:?} in {text}");
            }
            texts += 1;
        }
    }

    assert!(texts > 30, "{texts}");
}

#[tokio::test]
async fn hosts_can_attach_a_skill_as_a_resource() {
    for revision in ["2025-11-25", "2024-11-05"] {
        let mut host = Host::connect(&settings(&[]));
        host.initialize(revision).await;
        let list = host.request("resources/list", json!({})).await["result"]["resources"].clone();
        let listed = list.as_array().expect("a list").iter();
        let skills: Vec<_> =
            listed.filter(|one| one["uri"].as_str().is_some_and(|uri| uri.starts_with("skill://"))).collect();

        assert_eq!(skills.len(), 6, "{list}");
        for skill in skills {
            let params = json!({"uri": skill["uri"]});
            let text = host.request("resources/read", params).await["result"]["contents"][0]["text"].clone();
            let (text, name) = (text.as_str().expect("a text"), skill["name"].as_str().expect("a name"));
            assert!(text.starts_with(&format!("---\nname: {name}\n")), "{text}");
            assert_eq!(skill["size"], text.len());
            assert!(text.contains(skill["description"].as_str().expect("a description")));
            assert!(skill["title"].is_string());
        }
    }
}

#[tokio::test]
async fn only_the_newest_revision_has_the_extension() {
    const EXTENSION: &str = "io.modelcontextprotocol/skills";
    let mut host = Host::connect(&settings(&[]));
    let discovered = request(&mut host, "server/discover", json!({})).await["result"]["capabilities"].clone();
    assert_eq!(discovered["extensions"][EXTENSION], json!({}), "{discovered}");

    let mut host = Host::connect(&settings(&[]));
    let initialized = host.initialize("2025-11-25").await["capabilities"].clone();
    assert_eq!(initialized["extensions"][EXTENSION], Value::Null, "{initialized}");
    for (method, params) in
        [("skills/list", json!({})), ("skills/get", json!({"uri": "skill://triage-run/SKILL.md"}))]
    {
        assert_eq!(host.request(method, params).await["error"]["code"], -32601, "{method}");
    }
}

#[tokio::test]
async fn an_unknown_skill_or_file_is_refused_with_the_valid_ones() {
    let mut host = Host::connect(&settings(&[]));
    for (method, uri) in [
        ("skills/get", "skill://nothing/SKILL.md"),
        ("skills/get", "skill://triage-run/references/verdicts.md"),
        ("skills/get", "x"),
        ("resources/read", "skill://triage-run/references/../SKILL.md"),
        ("resources/read", "skill://triage-run"),
    ] {
        let error = request(&mut host, method, json!({"uri": uri})).await["error"].clone();
        assert_eq!(error["code"], -32602, "{method} {uri}: {error}");
    }

    let error = request(&mut host, "resources/read", json!({"uri": "skill://x"})).await["error"].clone();
    assert!(error["message"].as_str().expect("a text").contains("skill://triage-run/SKILL.md"), "{error}");
    let error = request(&mut host, "skills/list", json!({"cursor": "2"})).await["error"].clone();
    assert_eq!(error["code"], -32602);
}

#[tokio::test]
async fn the_example_of_a_test_can_be_saved_and_changed() {
    let Session { service: _service, mut host, .. } =
        Fixture::new().key(keys::DEMO).variables(&[("TAS_PROJECT_ID", "demo")]).open().await;
    let params = json!({"uri": "skill://write-a-test/references/example.md"});
    let text = host.request("resources/read", params).await["result"]["contents"][0]["text"].clone();
    let blocks = text.as_str().expect("a text").split("```json\n").skip(1);
    let blocks: Vec<Value> = blocks
        .map(|block| serde_json::from_str(block.split("```").next().expect("a block")).expect("JSON"))
        .collect();
    assert_eq!(blocks.len(), 3);

    let created = host.succeed("create_test", json!({"test": blocks[0], "folder_path": "Menus"})).await;
    let items = &created["players_by_key"]["1"]["items_by_key"];
    assert_eq!(items["1"]["steps_by_key"]["1"]["goal"], "Start level 1", "{created}");

    for patch in &blocks[1..] {
        let current = host.succeed("get_test", json!({"test_id": created["id"]})).await;
        let change =
            json!({"test_id": created["id"], "expected_version": current["version"], "patch": patch});
        host.succeed("update_test", change).await;
    }
    let changed = host.succeed("get_test", json!({"test_id": created["id"]})).await;
    let player = &changed["players_by_key"]["1"];
    assert_eq!(player["item_order"], json!(["1", "2", "3", "4"]));
    assert!(player["items_by_key"]["2"]["goal"].as_str().expect("a goal").contains("Sound"));
    assert_eq!(player["items_by_key"]["2"]["expected_results"], items["2"]["expected_results"]);
}

#[tokio::test]
async fn the_fields_that_the_skills_name_are_in_the_replies() {
    let Session { service: _service, mut host, .. } = Fixture::new().simulated_time().open().await;
    let target = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED, "compare_with": "previous"});
    let summary = host.succeed("summarize_results", target).await;
    for field in ["failures", "passed_after_retry", "bugs", "passed_with_bugs", "comparison", "all_passed"] {
        assert!(!summary[field].is_null(), "{field}: {summary}");
    }

    let export = json!({"test_plan_execution_id": seed::EXECUTION_COMPLETED, "force_new_run": false});
    let exported = host.succeed("export_tmsys_run", export).await;
    assert_eq!(exported["success"], true);
    let warnings = exported["warnings"].as_array().expect("warnings").iter();
    let kinds: BTreeSet<_> = warnings.map(|one| one["type"].as_str().expect("a type")).collect();
    assert_eq!(kinds, ["case_not_found", "no_case_mapping"].into());
    assert!(exported["skipped_cases"].is_array() && exported["already_exported"] == false);
}
