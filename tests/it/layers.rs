//! The layers of the crate import only the layers below them.

use std::{collections::BTreeSet, fs, path::Path};

/// The layers, and those that each may import. Every other module of `src/` is a foundation, which imports no layer.
const LAYERS: [(&str, &[&str]); 10] = [
    ("service", &[]),
    ("client", &["service"]),
    ("sandbox", &["service"]),
    ("call", &["service", "client"]),
    ("tools", &["service", "client", "call"]),
    ("settings", &["service", "client", "call", "tools"]),
    ("mcp", &["service", "client", "call", "tools", "settings"]),
    ("http", &["service", "client", "call", "tools", "settings", "mcp"]),
    ("cli", &["service", "client", "call", "tools", "settings", "mcp", "http"]),
    ("demo", &["settings", "mcp", "sandbox", "cli"]),
];

/// Returns the modules that follow `crate::`, also those of a group, outside of comments.
fn imports(source: &str) -> BTreeSet<String> {
    let code: Vec<_> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let mut names = BTreeSet::new();
    for path in code.join("\n").split("crate::").skip(1) {
        let mut depth = 0_usize;
        for part in path.split_inclusive(['{', ',', '}', ';']) {
            if depth == usize::from(path.starts_with('{')) {
                let word = part.trim().chars();
                names.insert(word.take_while(|next| next.is_alphanumeric() || *next == '_').collect());
            }
            depth = (depth + part.matches('{').count()).saturating_sub(part.matches('}').count());
            if depth == 0 {
                break;
            }
        }
    }
    names
}

/// Checks the files at `path`, which belong to this module, or to the modules that they are named after.
fn check(module: Option<&str>, path: &Path) {
    if let Ok(entries) = fs::read_dir(path) {
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            let name = path.file_stem().expect("a name").to_string_lossy();
            check(module.or(Some(&name)), &path);
        }
        return;
    }
    let module = module.expect("the source is a directory");
    let below = LAYERS.iter().find(|(layer, _)| *layer == module).map_or(&[][..], |(_, below)| below);
    let imports = imports(&fs::read_to_string(path).unwrap_or_default());
    for (layer, _) in LAYERS.iter().filter(|(layer, _)| imports.contains(*layer)) {
        assert!(*layer == module || below.contains(layer), "{} imports `{layer}`", path.display());
    }
}

#[test]
fn layers_import_only_the_layers_below_them() {
    check(None, Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")));
}
