//! The modules of the crate and the paths that they import, parsed from the files of `src/`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use syn::visit::{self, Visit};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// The names of a module and of the modules around it, from the crate inward.
pub(super) type Module = Vec<String>;

/// The siblings that each child of one module imports.
pub(super) type Siblings = BTreeMap<String, BTreeSet<String>>;

/// A path in the source of the module `from`, and the module `to` that defines its item.
#[derive(Debug)]
pub(super) struct Import {
    pub(super) from: Module,
    pub(super) to: Module,
}

/// The modules of the crate, each with the paths in its source.
pub(super) struct Source(BTreeMap<Module, Paths>);

/// The paths in the source of one module.
#[derive(Default)]
struct Paths {
    /// Every path below the crate.
    all: Vec<Module>,
    /// The path of each name that a `use` item binds.
    bound: BTreeMap<String, Module>,
}

impl Source {
    /// Reads every file of `src/` except `main.rs`, which may import every layer.
    pub(super) fn read() -> Self {
        let mut modules: BTreeMap<_, _> =
            files().into_iter().map(|(module, text)| (module.clone(), paths(module, &text))).collect();
        modules.remove(["main".to_owned()].as_slice());

        // The root of the crate holds no code.
        modules.remove(["lib".to_owned()].as_slice());
        Self(modules)
    }

    /// The names of the modules directly below `parent`.
    pub(super) fn children(&self, parent: &[&str]) -> BTreeSet<&str> {
        let depth = parent.len();
        let is_child =
            |module: &&Module| module.len() == depth + 1 && module.iter().zip(parent).all(|(a, b)| a == b);
        self.0.keys().filter(is_child).map(|module| module[depth].as_str()).collect()
    }

    /// Every import of another module.
    pub(super) fn imports(&self) -> impl Iterator<Item = Import> {
        let of_module = |(from, paths): (&Module, &Paths)| {
            let targets: Vec<_> = paths.all.iter().map(|path| self.defining_module(path)).collect();
            let others = targets.into_iter().filter(|to| !to.is_empty() && to != from);
            others.map(|to| Import { from: from.clone(), to }).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of_module)
    }

    /// For each module with children, which of them import which. An import of a module counts for the modules
    /// around it too.
    pub(super) fn sibling_imports(&self) -> BTreeMap<Module, Siblings> {
        let mut graphs: BTreeMap<Module, Siblings> = BTreeMap::new();
        for Import { from, to } in self.imports() {
            let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
            if let (Some(importer), Some(imported)) = (from.get(common), to.get(common)) {
                let graph = graphs.entry(from[..common].to_vec()).or_default();
                graph.entry(imported.clone()).or_default();
                graph.entry(importer.clone()).or_default().insert(imported.clone());
            }
        }
        graphs
    }

    /// The module that defines the item at `path`. Re-exports are followed.
    fn defining_module(&self, path: &[String]) -> Module {
        for depth in (1..=path.len()).rev() {
            let Some(paths) = self.0.get(&path[..depth]) else { continue };
            let exported = path.get(depth).and_then(|name| paths.bound.get(name));
            return match exported {
                Some(origin) if origin.as_slice() != path => {
                    self.defining_module(&[origin, &path[depth + 1..]].concat())
                }
                _ => path[..depth].to_vec(),
            };
        }
        Module::new()
    }
}

/// The text of every file of `src/`, by module.
pub(super) fn files() -> BTreeMap<Module, String> {
    let mut files = BTreeMap::new();
    read_directory(Path::new(ROOT), &[], &mut files);
    files
}

fn read_directory(directory: &Path, parent: &[String], files: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(directory).expect("a directory of `src`") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        let module = [parent, &[name]].concat();

        if path.is_dir() {
            read_directory(&path, &module, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.insert(module, fs::read_to_string(&path).expect("a source file"));
        }
    }
}

fn paths(module: Module, text: &str) -> Paths {
    let file = syn::parse_file(text).expect("Rust");
    let mut collector = Collector { module, paths: Paths::default() };
    collector.visit_file(&file);
    collector.paths
}

/// Collects the paths in the source of a module.
struct Collector {
    module: Module,
    paths: Paths,
}

impl Collector {
    /// The path below the crate, if `path` begins with `crate`, `self` or `super`.
    fn absolute(&self, path: &[String]) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([&self.module, rest].concat()),
            "super" => {
                let supers = path.iter().take_while(|segment| *segment == "super").count();
                let parent = &self.module[..self.module.len().checked_sub(supers)?];
                Some([parent, &path[supers..]].concat())
            }
            _ => None,
        }
    }

    /// Collects the paths of a `use` item below `prefix`. A path that begins with a child of the module counts too.
    fn collect(&mut self, prefix: &[String], tree: &syn::UseTree) {
        let joined = |ident: &syn::Ident| [prefix, &[ident.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.collect(&joined(&path.ident), &path.tree),
            syn::UseTree::Name(name) if name.ident == "self" => self.add(prefix, prefix.last().cloned()),
            syn::UseTree::Name(name) => self.add(&joined(&name.ident), Some(name.ident.to_string())),
            syn::UseTree::Rename(rename) => self.add(&joined(&rename.ident), Some(rename.rename.to_string())),
            syn::UseTree::Glob(_) => self.add(prefix, None),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.collect(prefix, tree)),
        }
    }

    fn add(&mut self, path: &[String], name: Option<String>) {
        let child = || [&self.module, path].concat();
        let path = self.absolute(path).unwrap_or_else(child);
        if let Some(name) = name {
            self.paths.bound.insert(name, path.clone());
        }
        self.paths.all.push(path);
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.collect(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.paths.all.extend(self.absolute(&segments));
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }
}
