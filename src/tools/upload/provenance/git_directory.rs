//! The `.git` directory of a checkout, read without git.
//!
//! All files are opened relative to one directory that they cannot leave: neither links nor a `.git` file lead out of it.

use std::{
    collections::BTreeMap,
    io::Read as _,
    path::{Path, PathBuf},
};

use cap_std::{ambient_authority, fs::Dir};

use crate::text::has_hidden;

/// Largest file that is read, in bytes. The list of packed references is the largest one.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Largest number of directory entries that are read in search of a tag.
const MAX_TAG_ENTRIES: usize = 10_000;

/// Longest name of a reference in bytes.
const MAX_NAME_BYTES: usize = 255;

/// A `.git` directory.
#[derive(Debug)]
pub(super) struct GitDirectory {
    /// Directory that no file is read outside of.
    boundary: Dir,
    /// Directory of this checkout, relative to the boundary.
    own: PathBuf,
    /// Directory that all checkouts of the repository share. It differs from `own` in a linked worktree.
    common: PathBuf,
}

impl GitDirectory {
    /// Opens the `.git` directory of `checkout`. A `.git` file is followed only inside `boundary`.
    pub(super) fn open(boundary: &Path, checkout: &Path) -> Option<Self> {
        let entry = checkout.strip_prefix(boundary).ok()?.join(".git");
        let dir = Dir::open_ambient_dir(boundary, ambient_authority()).ok()?;
        let mut git = Self { boundary: dir, own: entry.clone(), common: entry.clone() };

        if git.boundary.metadata(&entry).ok()?.is_file() {
            let target = git.read(&entry)?;
            let target = checkout.join(target.strip_prefix("gitdir:")?.trim());
            target.strip_prefix(boundary).ok()?.clone_into(&mut git.own);
        }
        let shared = git.read(&git.own.join("commondir"));
        git.common = shared.map_or_else(|| git.own.clone(), |shared| git.own.join(shared.trim()));

        Some(git)
    }

    /// Returns the reference that is checked out, or `None` if a commit is checked out directly.
    pub(super) fn head_reference(&self) -> Option<String> {
        let head = self.read(&self.own.join("HEAD"))?;
        let name = head.strip_prefix("ref:")?.trim();
        is_reference_name(name).then(|| name.to_owned())
    }

    /// Returns the commit that is checked out. Returns `None` if the branch has no commit yet, or if the references are
    /// not stored as files.
    pub(super) fn head_commit(&self) -> Option<String> {
        let Some(name) = self.head_reference() else {
            return object_id(&self.read(&self.own.join("HEAD"))?);
        };

        let loose = self.read(&self.common.join(&name)).and_then(|text| object_id(&text));
        loose.or_else(|| {
            packed_references(&self.packed()).find(|(packed, _)| *packed == name).map(|(_, id)| id)
        })
    }

    /// Returns the first tag of `commit` by name. An annotated tag is found only if it is packed, because a loose one
    /// names the tag object instead of the commit.
    pub(super) fn tag_of(&self, commit: &str) -> Option<String> {
        let packed = self.packed();
        let tag = |(name, id): (&str, String)| Some((name.strip_prefix("refs/tags/")?.to_owned(), id));
        // A peeled identifier follows that of the tag object, and takes its place.
        let mut tags: BTreeMap<_, _> = packed_references(&packed).filter_map(tag).collect();
        self.add_loose_tags(&mut tags);

        let found = tags.into_iter().find(|(_, id)| id == commit);
        found.map(|(name, _)| name).filter(|name| is_reference_name(&format!("refs/tags/{name}")))
    }

    /// Returns the text of the configuration file.
    pub(super) fn config(&self) -> Option<String> {
        self.read(&self.common.join("config"))
    }

    fn packed(&self) -> String {
        self.read(&self.common.join("packed-refs")).unwrap_or_default()
    }

    fn add_loose_tags(&self, tags: &mut BTreeMap<String, String>) {
        let root = self.common.join("refs/tags");
        let mut directories = vec![String::new()];
        let mut remaining = MAX_TAG_ENTRIES;

        while let Some(directory) = directories.pop() {
            let Ok(entries) = self.boundary.read_dir(root.join(&directory)) else { continue };
            for entry in entries.flatten() {
                let Some(rest) = remaining.checked_sub(1) else { return };
                remaining = rest;

                let Ok(name) = entry.file_name().into_string() else { continue };
                let name = format!("{directory}{name}");
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    directories.push(format!("{name}/"));
                } else if let Some(id) = self.read(&root.join(&name)).and_then(|text| object_id(&text)) {
                    tags.insert(name, id);
                }
            }
        }
    }

    /// Returns the content of a regular file. Others are not opened: a pipe would block.
    fn read(&self, path: &Path) -> Option<String> {
        if !self.boundary.metadata(path).ok()?.is_file() {
            return None;
        }

        let mut bytes = Vec::new();
        let file = self.boundary.open(path).ok()?;
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).ok()?;

        (bytes.len() as u64 <= MAX_FILE_BYTES).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Returns the names and object identifiers in a list of packed references. An annotated tag occurs twice: with the
/// identifier of the tag object, then with that of the commit.
fn packed_references(list: &str) -> impl Iterator<Item = (&str, String)> {
    let mut last_name = "";
    list.lines().filter_map(move |line| {
        if let Some(peeled) = line.strip_prefix('^') {
            return Some((last_name, object_id(peeled)?));
        }
        let (id, name) = line.split_once(' ')?;
        last_name = name;
        Some((name, object_id(id)?))
    })
}

/// Returns the object identifier that `text` consists of: SHA-1 or SHA-256 in hexadecimal.
pub(super) fn object_id(text: &str) -> Option<String> {
    let id = text.trim();
    let is_id = matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_ascii_lowercase())
}

/// Returns whether `name` is the full name of a reference and safe to show.
fn is_reference_name(name: &str) -> bool {
    let is_plain = |segment: &str| !segment.is_empty() && !segment.starts_with('.');
    name.starts_with("refs/")
        && name.len() <= MAX_NAME_BYTES
        && name.split('/').all(is_plain)
        && !name.contains(char::is_control)
        && !has_hidden(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_tags_are_listed_with_their_commits() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let list = format!(
            "# pack-refs with: peeled\n{one} refs/heads/main\n{one} refs/tags/v1\n^{two}\nbroken line\n"
        );
        let found: Vec<_> = packed_references(&list).collect();
        assert_eq!(found, [("refs/heads/main", one.clone()), ("refs/tags/v1", one), ("refs/tags/v1", two)]);
    }

    #[test]
    fn names_that_are_not_references_are_refused() {
        for name in [
            "refs/heads/../../config",
            "refs/heads/.invalid",
            "HEAD",
            "refs//a",
            "refs/a\u{202e}b",
            "refs/a\nb",
        ] {
            assert!(!is_reference_name(name), "{name:?}");
        }
        assert!(is_reference_name("refs/heads/release/4"));
    }
}
