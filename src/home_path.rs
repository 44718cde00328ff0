//! Paths that begin at the home directory. Only a shell expands `~`, and hosts start programs without one.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

/// Returns `path` with the home directory in place of `~` at its beginning. Other paths, and every path of a user without a
/// home directory, stay as they are. A directory whose name is `~` is reached as `./~`.
pub fn expand_home(path: &str) -> Cow<'_, str> {
    dirs::home_dir().map_or(Cow::Borrowed(path), |home| expand(path, &home))
}

/// Returns what [`expand_home`] returns for a path that may not be Unicode.
pub fn expand_home_path(path: PathBuf) -> PathBuf {
    match path.to_str().map(expand_home) {
        Some(Cow::Owned(expanded)) => expanded.into(),
        _ => path,
    }
}

fn expand<'a>(path: &'a str, home: &Path) -> Cow<'a, str> {
    let Ok(below) = Path::new(path).strip_prefix("~") else { return path.into() };
    let expanded: PathBuf = home.components().chain(below.components()).collect();
    // A home directory that is not Unicode cannot be part of a text.
    expanded.into_os_string().into_string().map_or(path.into(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_tilde_at_the_beginning_is_the_home_directory() {
        for (path, expected) in [
            ("~", "/home/ada"),
            ("~/", "/home/ada"),
            ("~/keys/tas.key", "/home/ada/keys/tas.key"),
            ("~//etc/passwd", "/home/ada/etc/passwd"),
            ("~ada/keys", "~ada/keys"),
            ("./~/keys", "./~/keys"),
            ("builds/~/keys", "builds/~/keys"),
            ("/keys", "/keys"),
            ("", ""),
        ] {
            assert_eq!(expand(path, Path::new("/home/ada")), expected, "{path}");
        }
    }
}
