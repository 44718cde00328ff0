//! The files that describe packages: one version, the tools and the settings of the program.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use tas_mcp::{service::tool::Tier, settings::SETTINGS, tools::catalog};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The manifest of the MCPB bundle.
const MANIFEST: &str = "packaging/mcpb/manifest.json";

/// The entry of the MCP registry.
const ENTRY: &str = "packaging/server.json";

fn root(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(root(name)).expect("a file")
}

fn document(name: &str) -> Value {
    serde_json::from_str(&text(name)).expect("JSON")
}

/// Checks that a file has exactly this content, after writing it if the snapshots are updated.
fn check(name: &str, expected: &str) {
    if crate::support::updates_snapshots() {
        fs::write(root(name), expected).expect("the file can be written");
    }

    assert!(text(name) == expected, "{name}: TAS_UPDATE_SNAPSHOTS=1 cargo test --test it packages");
}

fn check_document(name: &str, document: &Value) {
    check(name, &(serde_json::to_string_pretty(document).expect("JSON") + "\n"));
}

/// Returns the `name` of each member of a list.
fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(|member| member["name"].as_str()).collect()
}

#[test]
fn the_bundle_has_the_version_and_the_default_tools_of_the_program() {
    let mut manifest = document(MANIFEST);
    let first_line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let tools = catalog::tools().filter(|tool| tool.tier == Tier::Core);
    let tools = tools
        .map(|tool| json!({"name": tool.name, "description": first_line(&tool.description().to_string())}));

    manifest["version"] = json!(VERSION);
    manifest["tools"] = tools.collect();

    check_document(MANIFEST, &manifest);
}

#[test]
fn the_registry_entry_has_the_version_of_the_program_everywhere() {
    let mut entry = document(ENTRY);
    let earlier = entry["version"].as_str().expect("a version").to_owned();
    entry["version"] = json!(VERSION);

    for package in entry["packages"].as_array_mut().expect("packages") {
        if ["npm", "pypi"].iter().any(|registry| package["registryType"] == *registry) {
            package["version"] = json!(VERSION);
            continue;
        }

        // The address of the bundle and the tag of the image.
        let identifier = package["identifier"].as_str().expect("an identifier").replace(&earlier, VERSION);
        assert!(identifier.contains(&format!("-{VERSION}-")) || identifier.ends_with(&format!(":{VERSION}")));
        package["identifier"] = json!(identifier);
    }

    check_document(ENTRY, &entry);
}

#[test]
fn the_changelog_has_the_version_of_the_program() {
    let changelog = text("CHANGELOG.md");
    let heading = changelog.lines().find_map(|line| line.strip_prefix("## ")).expect("a heading");

    assert!(heading == "Unreleased" || heading.split(' ').next() == Some(VERSION), "{heading}");
}

#[test]
fn hosts_set_only_settings_that_exist() {
    let (manifest, entry) = (document(MANIFEST), document(ENTRY));
    let bundle = manifest["server"]["mcp_config"]["env"].as_object().expect("variables");
    let packages = entry["packages"].as_array().expect("packages");
    let variables = packages.iter().flat_map(|package| names(&package["environmentVariables"]));

    for variable in bundle.keys().map(String::as_str).chain(variables) {
        assert!(SETTINGS.iter().any(|setting| setting.variable == variable), "{variable}");
    }

    for flag in packages.iter().flat_map(|package| names(&package["packageArguments"])) {
        assert!(SETTINGS.iter().any(|setting| flag.strip_prefix("--") == Some(setting.flag)), "{flag}");
    }
}

/// A host passes the text of a variable that nobody has filled in, unless it has a default.
#[test]
fn every_value_of_the_bundle_is_asked_for_and_has_a_default_unless_it_is_required() {
    let manifest = document(MANIFEST);
    let questions = manifest["user_config"].as_object().expect("questions");
    let variables = manifest["server"]["mcp_config"]["env"].as_object().expect("variables");
    let asked: Vec<_> = questions.keys().map(|name| json!(format!("${{user_config.{name}}}"))).collect();

    assert_eq!(variables.values().cloned().collect::<Vec<_>>(), asked);
    for (name, question) in questions {
        assert_eq!(question["required"] == true, question["default"].is_null(), "{name}");
        assert_eq!(question["sensitive"] == true, name == "api_key", "{name}");
    }
}
