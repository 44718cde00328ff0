//! The selection of tools.

use serde_json::json;
use tas_mcp::{
    service::tool::{Tier, Toolset},
    tools::catalog,
};

use super::{good_but, problems, settings};
use crate::support::host::Host;

/// Returns the tools that a server with these words lists.
async fn listed_tools(words: &str) -> Vec<String> {
    let mut host = Host::open(&settings(&[("TAS_TOOLSETS", words)])).await;
    let list = host.request("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().expect("tools").iter();
    tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// Returns the tools of these sets, of both tiers.
fn tools_of(sets: &[Toolset]) -> Vec<&'static str> {
    catalog::tools().filter(|entry| sets.contains(&entry.toolset)).map(|entry| entry.name).collect()
}

/// Returns the tools of the tier `core`.
fn core_tools() -> Vec<&'static str> {
    catalog::tools().filter(|entry| entry.tier == Tier::Core).map(|entry| entry.name).collect()
}

/// Returns the tools except those with these names.
fn without<'a>(mut tools: Vec<&'a str>, names: &[&str]) -> Vec<&'a str> {
    tools.retain(|tool| !names.contains(tool));
    tools
}

#[tokio::test]
async fn words_are_applied_from_left_to_right() {
    let all = tools_of(&Toolset::ALL.map(|(set, _)| set));

    assert!(core_tools().len() < all.len());
    for (words, expected) in [
        ("default", core_tools()),
        ("all", all.clone()),
        ("exports", vec!["export_tmsys_run"]),
        ("plans , exports,", tools_of(&[Toolset::Plans, Toolset::Exports])),
        (
            "get_run,bugs",
            catalog::tools()
                .map(|one| one.name)
                .filter(|name| *name == "get_run" || tools_of(&[Toolset::Bugs]).contains(name))
                .collect(),
        ),
        ("all,-runs", without(all.clone(), &tools_of(&[Toolset::Runs]))),
        ("all,-runs,get_run", without(all.clone(), &without(tools_of(&[Toolset::Runs]), &["get_run"]))),
        ("all,get_run,-runs", without(all.clone(), &tools_of(&[Toolset::Runs]))),
        ("-start_run", without(core_tools(), &["start_run"])),
        ("-default", vec![]),
        ("-all,exports", vec!["export_tmsys_run"]),
        ("exports,-exports", vec![]),
    ] {
        assert_eq!(listed_tools(words).await, expected, "{words}");
    }
}

#[test]
fn read_only_overrides_every_word() {
    for (value, words) in
        [("true", "all"), ("1", "start_run,get_run"), ("YES", "default"), ("on", "runs,exports")]
    {
        let selection = settings(&[("TAS_TOOLSETS", words), ("TAS_READ_ONLY", value)]).selection();
        assert!(selection.tools().count() > 0 && selection.tools().all(|tool| tool.effect.is_read_only()));
    }

    let selection = super::settings_with(&["--read-only"], &[("TAS_READ_ONLY", "false")]).selection();

    assert!(selection.is_read_only(), "the flag overrides the variable");
    for value in ["false", "0", "no", "off"] {
        assert!(!settings(&[("TAS_READ_ONLY", value)]).selection().is_read_only(), "{value}");
    }

    for value in ["perhaps", "", " "] {
        let selection = settings(&[("TAS_READ_ONLY", value)]).selection();
        assert!(selection.is_read_only(), "{value:?}: an invalid value means read-only");
    }
}

#[tokio::test]
async fn an_unknown_word_is_named_with_the_valid_ones() {
    let sets = Toolset::ALL.map(|(_, name)| name).join(", ");
    let valid = format!("valid words are default, lean, all, the sets {sets} and the names of tools");

    for (words, problem) in [
        ("runs,bugz", "has the unknown word `bugz` (nearest: `bugs`)"),
        ("-start_rum", "has the unknown word `start_rum` (nearest: `start_run`)"),
        ("everything", "has the unknown word `everything`"),
        ("Runs", "has the unknown word `Runs` (nearest: `runs`)"),
    ] {
        let found = problems(&settings(&good_but("TAS_TOOLSETS", words))).await;
        let expected =
            ["TAS_TOOLSETS".to_owned(), "variable TAS_TOOLSETS".to_owned(), format!("{problem}; {valid}")];
        assert_eq!(found, [expected], "{words}");
    }
}
