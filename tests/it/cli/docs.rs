//! The README, the pages in `docs/` and the example configuration match the program.

use std::{fmt::Write, fs, path::Path};

use serde_json::Value;
use tas_mcp::{
    service::tool::{Access, Tier},
    settings::{self, HTTP_SETTINGS, SETTINGS, Setting},
    tools::{catalog, selection::LEAN_TOOLS},
};

#[cfg(unix)]
mod ci_script;
#[cfg(unix)]
mod commands;
mod pages;

fn root(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns the page with the table between the markers of this name replaced.
fn with_table(page: &str, name: &str, rows: &str) -> String {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = page.split_once(&open).expect("the opening marker");
    let (_, after) = rest.split_once(&close).expect("the closing marker");
    format!("{before}{open}{rows}\n{close}{after}")
}

fn settings_table(settings: &[Setting]) -> String {
    let code = |text: &str| if text.is_empty() { "-".to_owned() } else { format!("`{text}`") };
    let head = "\n| variable | flag | default | meaning |\n|-|-|-|-|\n".to_owned();
    settings.iter().fold(head, |mut rows, setting| {
        let flag = if setting.flag.is_empty() { String::new() } else { format!("--{}", setting.flag) };
        let default = if setting.default.is_empty() { "-" } else { setting.default };
        let (variable, flag) = (code(setting.variable), code(&flag));
        writeln!(rows, "| {variable} | {flag} | {default} | {} |", setting.meaning).expect("a string");
        rows
    })
}

fn tools_table() -> String {
    let head = "\n| tool | set | tier | effect | permission of the key |\n|-|-|-|-|-|\n".to_owned();
    catalog::tools().fold(head, |mut rows, entry| {
        let tier = match entry.tier {
            _ if LEAN_TOOLS.contains(&entry.name) => "core, lean",
            Tier::Core => "core",
            Tier::Extra => "extra",
        };
        let permission = match entry.access {
            Access::Permission(permission) => format!("`{permission}`"),
            any => any.to_string(),
        };
        writeln!(
            rows,
            "| `{}` | `{}` | {tier} | {} | {permission} |",
            entry.name,
            entry.toolset.name(),
            entry.effect
        )
        .expect("a string");
        rows
    })
}

#[test]
fn the_tables_are_generated_from_the_code() {
    let tables = [
        ("settings", settings_table(&SETTINGS)),
        ("http", settings_table(&HTTP_SETTINGS)),
        ("tools", tools_table()),
    ];

    for (name, rows) in tables {
        let path = root(&format!("docs/{name}.md"));
        let now = with_table(&fs::read_to_string(&path).expect("the page"), name, &rows);
        if crate::support::updates_snapshots() {
            fs::write(&path, &now).expect("the page can be written");
        }

        let page = fs::read_to_string(&path).expect("the page");
        assert!(page == now, "{name}: TAS_UPDATE_SNAPSHOTS=1 cargo test --test it docs");
    }
}

/// Checks that an entry of a host's configuration has only flags and variables that exist.
fn check_server(name: &str, server: &Value) {
    if let Some(url) = server["url"].as_str() {
        assert!(url.ends_with("/mcp") && server["headers"]["X-Api-Key"].is_string(), "{name}: {server}");
        return;
    }

    assert!(server["command"].as_str().is_some_and(|command| command.ends_with("tas-mcp")), "{name}");
    let arguments = server["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let command = clap::Command::new("tas-mcp").args(settings::flags());
    let matches = command.try_get_matches_from(std::iter::once("tas-mcp").chain(arguments));

    assert!(matches.is_ok(), "{name}: {matches:?}");
    for variable in server["env"].as_object().into_iter().flat_map(|env| env.keys()) {
        assert!(SETTINGS.iter().any(|setting| setting.variable == variable), "{name}: {variable}");
    }
}

#[test]
fn the_example_configuration_has_only_settings_that_exist() {
    let text = fs::read_to_string(root("mcp.json.example")).expect("mcp.json.example");
    let example: Value = serde_json::from_str(&text).expect("JSON");
    let servers = example["mcpServers"].as_object().expect("servers");

    assert_eq!(servers.keys().collect::<Vec<_>>(), ["tas-project", "tas-global", "tas-sandbox", "tas-team"]);
    for (name, server) in servers {
        check_server(name, server);
    }
}
