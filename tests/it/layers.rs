//! The imports between the layers of the crate point downward.

use std::collections::{BTreeMap, BTreeSet};

mod source;

use source::{Import, Source};

/// Each layer of `src/`, and the layers below it that it may import. A foundation may be imported by every layer.
const ALLOWED: [(&str, &[&str]); 9] = [
    ("service", &[]),
    ("client", &["service"]),
    ("sandbox", &["service"]),
    ("call", &["service", "client"]),
    ("tools", &["service", "client", "call"]),
    ("settings", &["service", "client", "call", "tools"]),
    ("mcp", &["service", "client", "call", "tools", "settings"]),
    ("cli", &["service", "client", "call", "tools", "settings", "mcp"]),
    ("demo", &["settings", "mcp", "sandbox", "cli"]),
];

/// Files at the top of `src/` that import no layer.
const FOUNDATIONS: [&str; 7] = ["backoff", "clock", "failure", "fields", "picture", "text", "violation"];

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
