//! The tools as hosts receive them: the snapshots in `tools/`, and rules for all tools.

use std::{collections::BTreeSet, fs, path::Path};

use serde::Serialize;
use serde_json::Value;
use tas_mcp::{
    service::{catalog::OPERATIONS, tool::Tier},
    tools::catalog::{self, Tool},
};

use crate::support::listed_tool;

const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tools");

/// Returns the files of all snapshots, each with its tool.
fn files() -> Vec<(String, Tool)> {
    catalog::tools().map(|entry| (format!("{}.json", entry.name), entry)).collect()
}

/// Returns the text of a snapshot.
fn snapshot(content: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(content).expect("JSON");
    text.push('\n');
    text
}

#[test]
fn every_file_of_a_tool_is_what_its_doc_comments_generate() {
    let update = crate::support::updates_snapshots();
    let mut stale = Vec::new();

    for (file, entry) in files() {
        let path = Path::new(SNAPSHOTS).join(&file);
        let now = snapshot(&listed_tool(entry, true));
        if update {
            fs::write(&path, &now).expect("the snapshot can be written");
        }
        if fs::read_to_string(&path).unwrap_or_default() != now {
            stale.push(file);
        }
    }

    assert!(stale.is_empty(), "{stale:?} changed: TAS_UPDATE_SNAPSHOTS=1 cargo test --test it tools");
}

#[test]
fn every_snapshot_belongs_to_a_tool() {
    let expected: BTreeSet<_> = files().into_iter().map(|(file, _)| file).collect();
    let entries = fs::read_dir(SNAPSHOTS).expect("a folder");
    let found = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));

    assert_eq!(found.collect::<BTreeSet<_>>(), expected);
}

#[test]
fn every_tool_has_a_title_and_all_four_hints_and_the_default_ones_have_words_for_a_search() {
    for entry in catalog::tools() {
        let tool = listed_tool(entry, true);
        assert!(tool["title"].is_string(), "{}", entry.name);
        let is_found = tool["_meta"]["anthropic/searchHint"].is_string();
        assert!(is_found || entry.tier == Tier::Extra, "{}", entry.name);
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{}: {hint}", entry.name);
        }
    }
}

#[test]
fn a_tool_that_reads_is_a_get_and_one_that_writes_is_not() {
    for entry in &OPERATIONS {
        assert_eq!(
            entry.effect.is_read_only(),
            entry.request.method == axum::http::Method::GET,
            "{}",
            entry.name
        );
    }
}

#[test]
fn only_global_scope_shows_the_project() {
    for entry in catalog::tools() {
        let properties = |is_global| {
            let tool = listed_tool(entry, is_global);
            tool["inputSchema"]["properties"].clone()
        };
        assert!(properties(true)["project_id"].is_object(), "{}", entry.name);
        assert_eq!(properties(false)["project_id"], Value::Null, "{}", entry.name);
    }
}

#[test]
fn names_are_unique() {
    let names: BTreeSet<_> = catalog::tools().map(|entry| entry.name).collect();
    assert_eq!(names.len(), catalog::tools().count());
}
