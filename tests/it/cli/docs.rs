//! The README, the pages in `docs/` and the example configuration match the program.

use std::{fmt::Write, fs, path::Path};

use serde_json::Value;
use tas_mcp::{
    cli,
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
    let head = "\n| tool | set | tier | annotations | permission of the key |\n|-|-|-|-|-|\n".to_owned();
    catalog::tools().fold(head, |mut rows, entry| {
        let tier = match entry.tier {
            _ if LEAN_TOOLS.contains(&entry.name) => "core, lean",
            Tier::Core => "core",
            Tier::Extra => "extra",
        };
        let hints = entry.effect;
        let permission = match entry.access {
            Access::Permission(permission) => format!("`{permission}`"),
            any => any.to_string(),
        };
        writeln!(rows, "| `{}` | `{}` | {tier} | {hints} | {permission} |", entry.name, entry.toolset.name())
            .expect("a string");
        rows
    })
}

/// Returns whether an option belongs to every command that prints a result. Such options are listed once.
fn is_common(option: &clap::Arg) -> bool {
    ["csv", "json"].contains(&option.get_id().as_str())
}

fn commands_table() -> String {
    let mut program = cli::program();
    program.build();

    let mut rows = "\n| command | what it does |\n|-|-|\n".to_owned();
    let mut add = |left: String, right: String| {
        writeln!(rows, "| `{}` | {} |", left.replace('|', "\\|"), right.replace('\n', " "))
            .expect("a string");
    };
    add("tas-mcp".to_owned(), program.get_about().expect("a description").to_string());
    add("of every command that prints a result".to_owned(), String::new());
    let with_result = program.find_subcommand("runs").expect("a command that prints a result");
    for option in with_result.get_arguments().filter(|option| is_common(option)) {
        add(format!("  {option}"), option.get_help().expect("help").to_string());
    }

    let is_shown = |command: &&clap::Command| command.get_name() != "help" && !command.is_hide_set();
    // The subcommands of `call` are the tools, which have a table of their own.
    let has_commands = |command: &clap::Command| command.get_subcommand_value_name() != Some("TOOL");
    let below = program.get_subcommands().filter(is_shown).flat_map(|command| {
        let deeper = command.get_subcommands().filter(|one| is_shown(one) && has_commands(command));
        let path = |name: &str| format!("tas-mcp {name}");
        let own = std::iter::once((path(command.get_name()), command));
        own.chain(deeper.map(|one| (format!("{} {}", path(command.get_name()), one.get_name()), one)))
            .collect::<Vec<_>>()
    });

    for (path, command) in below {
        let positional = command.get_positionals().map(ToString::to_string);
        let below = command.get_subcommand_value_name().map(|name| format!("<{name}>"));
        let name = std::iter::once(path.clone()).chain(positional).chain(below);

        add(name.collect::<Vec<_>>().join(" "), command.get_about().expect("an about").to_string());
        let settings: Vec<_> = program.get_arguments().map(clap::Arg::get_id).collect();
        let own = command
            .get_arguments()
            .filter(|one| !one.is_positional() && !one.is_hide_set() && !settings.contains(&one.get_id()));

        let own = own.filter(|option| !is_common(option));
        for option in own.filter(|option| !matches!(option.get_id().as_str(), "help" | "version")) {
            let mut defaults =
                option.get_default_values().iter().filter(|_| option.get_action().takes_values());
            let default = defaults
                .find_map(|value| value.to_str())
                .map(|value| format!(". Default: {value}"))
                .unwrap_or_default();
            let help = option.get_help().expect("help").to_string();

            assert!(!help.is_empty(), "{path}: {option} has no help");

            add(format!("  {option}"), format!("{help}{default}"));
        }
    }

    rows
}

#[test]
fn the_tables_are_generated_from_the_code() {
    let tables = [
        ("settings", settings_table(&SETTINGS)),
        ("http", settings_table(&HTTP_SETTINGS)),
        ("tools", tools_table()),
        ("commands", commands_table()),
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
