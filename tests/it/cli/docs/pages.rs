//! The texts of the README and of the pages in `docs/`.

use std::{fs, path::PathBuf};

use serde_json::Value;
use tas_mcp::{
    cli,
    settings::{HTTP_SETTINGS, SETTINGS},
};

use super::{check_server, root};

/// Words that begin like a variable and are none.
const NO_SETTINGS: [&str; 1] = ["TAS_UPDATE_SNAPSHOTS"];

/// Returns the README and every page in `docs/`, with their paths.
pub(super) fn pages() -> Vec<(PathBuf, String)> {
    let mut paths = vec![root("README.md")];
    for directory in ["docs", "docs/hosts"] {
        let entries = fs::read_dir(root(directory)).expect("a directory");
        paths.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();

    let read = |path: PathBuf| (path.clone(), fs::read_to_string(path).expect("a page"));
    paths.into_iter().map(read).collect()
}

/// Returns the blocks of a page in this language.
pub(super) fn blocks(page: &str, language: &str) -> Vec<String> {
    let start = format!("```{language}\n");
    let parts = page.split(&start).skip(1);
    parts.filter_map(|rest| rest.split("```").next()).map(str::to_owned).collect()
}

#[test]
fn every_link_leads_to_a_page_and_a_section() {
    for (path, page) in pages() {
        let links = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let links = links.filter(|link| !link.contains(".png"));

        for link in links.filter(|link| !link.starts_with("https://")) {
            let (file, section) = link.split_once('#').unwrap_or((link, ""));
            let target = path.parent().expect("a directory").join(file);
            let text = fs::read_to_string(&target).unwrap_or_default();
            let has_section = |line: &str| {
                line.starts_with('#')
                    && line.to_lowercase().trim_start_matches('#').trim().replace(' ', "-") == section
            };

            assert!(!text.is_empty(), "{}: {link}", path.display());
            assert!(section.is_empty() || text.lines().any(has_section), "{}: {link}", path.display());
        }
    }
}

#[test]
fn every_variable_is_a_setting() {
    for (path, page) in pages() {
        let is_part = |character: char| character.is_ascii_uppercase() || character == '_';
        let words = page.split(|character: char| !is_part(character)).filter(|word| word.starts_with("TAS_"));

        for word in words.filter(|word| !NO_SETTINGS.contains(word)) {
            let is_known =
                SETTINGS.iter().chain(HTTP_SETTINGS.iter()).any(|setting| setting.variable == word);
            assert!(is_known, "{}: {word}", path.display());
        }
    }
}

#[test]
fn every_entry_for_a_host_has_only_settings_that_exist() {
    let mut checked = 0;
    for (path, page) in pages() {
        for block in blocks(&page, "json") {
            let configuration: Value = serde_json::from_str(&block).expect("JSON");
            let name = path.display().to_string();
            let servers = ["mcpServers", "servers", "context_servers"].map(|key| &configuration[key]["tas"]);
            let server = servers.into_iter().find(|server| server.is_object()).expect("an entry");

            check_server(&name, server);
            checked += 1;
        }
    }

    assert!(checked >= 7, "{checked}");
}

#[test]
fn every_command_for_a_host_starts_the_server_with_flags_that_exist() {
    let mut checked = 0;
    for (path, page) in pages() {
        for command in page.split(['`', '\n']).filter(|line| line.contains(" mcp add tas")) {
            let (_, server) = command.split_once(" -- ").expect("the server");
            let words: Vec<_> = server.split_whitespace().collect();
            let matches = cli::program().try_get_matches_from(&words);

            assert!(words.first() == Some(&"tas-mcp") && matches.is_ok(), "{}: {command}", path.display());
            checked += 1;
        }
    }

    assert!(checked >= 6, "{checked}");
}
