//! Names that look equal. A character with an accent is one character or two, and systems differ in which they write.

use std::{
    ffi::OsString,
    fs, io,
    path::{Component, Path, PathBuf},
};

use cap_std::fs::Dir;

use crate::text::composed;

/// Returns `path` with the names that exist in place of equal ones: names that differ only in how characters are composed.
/// `names_in` returns the names in a directory. Names that do not exist stay as they are.
pub(super) fn existing_path(path: &Path, names_in: impl Fn(&Path) -> io::Result<Vec<OsString>>) -> PathBuf {
    let mut found = PathBuf::new();
    for component in path.components() {
        let equal = match component {
            Component::Normal(name) => name.to_str().filter(|name| !name.is_ascii()),
            _ => None,
        };
        // A directory that cannot be read has no equal names; opening the path tells why.
        let existing = equal.and_then(|name| equal_name(name, names_in(&found).unwrap_or_default()));
        match existing {
            Some(existing) => found.push(existing),
            None => found.push(component),
        }
    }

    found
}

/// Returns the names in a directory; an empty path is the working directory.
pub(super) fn names_in(directory: &Path) -> io::Result<Vec<OsString>> {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
}

/// Returns the names in a directory below `dir`, which the path must not leave.
pub(super) fn names_inside(dir: &Dir, directory: &Path) -> io::Result<Vec<OsString>> {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    dir.read_dir(directory)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
}

/// Returns the name that is equal to `name`. The same characters come first.
fn equal_name(name: &str, names: Vec<OsString>) -> Option<OsString> {
    if names.iter().any(|existing| existing == name) {
        return None;
    }

    let wanted = composed(name);
    names.into_iter().find(|existing| existing.to_str().is_some_and(|existing| composed(existing) == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_exists_takes_the_place_of_an_equal_one() {
        let names_in = |directory: &Path| {
            let names: &[&str] = match directory.to_str() {
                Some("") => &["cafe\u{301}", "both", "\u{e9}"],
                Some("cafe\u{301}") => &["re\u{301}sume\u{301}.apk"],
                Some("both") => &["\u{e9}", "e\u{301}"],
                _ => return Err(io::ErrorKind::NotFound.into()),
            };
            Ok(names.iter().map(OsString::from).collect())
        };

        for (path, expected) in [
            ("caf\u{e9}/r\u{e9}sum\u{e9}.apk", "cafe\u{301}/re\u{301}sume\u{301}.apk"),
            ("caf\u{e9}/new", "cafe\u{301}/new"),
            ("e\u{301}", "\u{e9}"),
            ("both/\u{e9}", "both/\u{e9}"),
            ("both/e\u{301}", "both/e\u{301}"),
            ("missing/\u{e9}", "missing/\u{e9}"),
            ("../plain", "../plain"),
        ] {
            assert_eq!(existing_path(Path::new(path), names_in), Path::new(expected), "{path}");
        }
    }
}
