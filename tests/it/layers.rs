//! The imports between the modules of the crate: downward between layers, and without cycles inside a layer.

use std::collections::{BTreeMap, BTreeSet};

mod source;

use source::{Import, Siblings, Source};

/// Each layer of `src/`, and the layers below it that it may import. A foundation may be imported by every layer.
const ALLOWED: [(&str, &[&str]); 11] = [
    ("service", &[]),
    ("client", &["service"]),
    ("sandbox", &["service"]),
    ("call", &["service", "client"]),
    ("tools", &["service", "client", "call"]),
    ("store", &["call"]),
    ("settings", &["service", "client", "call", "store", "tools"]),
    ("mcp", &["service", "client", "call", "tools", "settings"]),
    ("http", &["service", "client", "call", "store", "tools", "settings", "mcp"]),
    ("cli", &["service", "client", "call", "tools", "settings", "mcp", "http"]),
    ("demo", &["settings", "mcp", "sandbox", "cli"]),
];

/// Files at the top of `src/` that import no layer.
const FOUNDATIONS: [&str; 13] = [
    "backoff",
    "clock",
    "failure",
    "fields",
    "home_path",
    "json",
    "picture",
    "random_inputs",
    "sealing",
    "text",
    "text_file",
    "toml_text",
    "violation",
];

#[test]
fn every_top_level_module_is_a_layer_or_a_foundation() {
    let source = Source::read();
    let known: BTreeSet<_> = ALLOWED.iter().map(|(layer, _)| *layer).chain(FOUNDATIONS).collect();

    assert_eq!(source.children(&[]), known);
}

#[test]
fn layers_import_only_the_layers_below_them() {
    let source = Source::read();
    let allowed: BTreeMap<_, _> = ALLOWED.into_iter().collect();
    let is_allowed = |import: &Import| {
        let below = allowed.get(import.from[0].as_str()).copied().unwrap_or_default();
        import.from[0] == import.to[0]
            || FOUNDATIONS.contains(&import.to[0].as_str())
            || below.contains(&import.to[0].as_str())
    };
    let upward: Vec<_> = source.imports().filter(|import| !is_allowed(import)).collect();

    assert!(upward.is_empty(), "{upward:#?}");
}

#[test]
fn sibling_modules_do_not_import_each_other_in_a_cycle() {
    let source = Source::read();
    let cycles: Vec<_> = source
        .sibling_imports()
        .iter()
        .filter_map(|(parent, graph)| Some((parent.clone(), cycle(graph)?)))
        .collect();

    assert!(cycles.is_empty(), "{cycles:#?}");
}

/// A program that is started could run what files beside an upload tell it to, with the variables of this process. The demo
/// starts this binary. `report --open` starts the launcher of the platform with a page that this process has written. The
/// command that prints the API key comes from a variable. `install` runs the programs of hosts, which the user confirms.
#[test]
fn only_the_demo_the_browser_launcher_the_key_command_and_install_start_a_program() {
    let starts_a_program = |text: &str| {
        text.split("process::").skip(1).any(|path| {
            let end: &[char] = if path.starts_with('{') { &['}'] } else { &[',', ';', '('] };
            path.split(end).next().is_some_and(|items| items.contains("Command"))
        })
    };
    let files = source::files().into_iter().filter(|(_, text)| starts_a_program(text));
    let modules: Vec<_> = files.map(|(module, _)| module.join("::")).collect();

    assert_eq!(modules, ["cli::host_command", "cli::report", "client::key_command", "demo::client"]);
}

/// Returns the modules that remain when modules without remaining imports are removed again and again: those of a cycle,
/// and those that import them.
fn cycle(graph: &Siblings) -> Option<BTreeSet<String>> {
    let mut rest: BTreeSet<_> = graph.keys().cloned().collect();
    loop {
        let is_blocked = |module: &String| graph[module].iter().any(|import| rest.contains(import));
        let blocked: BTreeSet<_> = rest.iter().filter(|module| is_blocked(module)).cloned().collect();

        if blocked.is_empty() {
            return None;
        }

        if blocked.len() == rest.len() {
            return Some(rest);
        }

        rest = blocked;
    }
}

#[test]
fn a_cycle_of_imports_is_found_and_a_chain_is_not_a_cycle() {
    let graph = |pairs: &[(&str, &[&str])]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        pairs.iter().map(|(module, imports)| ((*module).to_owned(), owned(imports))).collect()
    };

    assert_eq!(cycle(&graph(&[("a", &["b"]), ("b", &["c"]), ("c", &[])])), None);
    assert!(cycle(&graph(&[("a", &["b"]), ("b", &["a"])])).is_some());
}
