//! Paths that begin at the home directory. Only a shell expands `~`, and hosts start programs without one.

use std::{
    borrow::Cow,
    env,
    path::{Path, PathBuf},
};

/// Returns the directory of the configuration of programs: `%APPDATA%` on Windows, elsewhere `$XDG_CONFIG_HOME` or `~/.config`.
pub fn configuration_directory() -> Option<PathBuf> {
    directory("APPDATA", "XDG_CONFIG_HOME", ".config")
}

/// Returns the directory of what programs keep: `%LOCALAPPDATA%` on Windows, elsewhere `$XDG_STATE_HOME` or `~/.local/state`.
pub fn state_directory() -> Option<PathBuf> {
    directory("LOCALAPPDATA", "XDG_STATE_HOME", ".local/state")
}

#[expect(clippy::disallowed_methods, reason = "a directory of the user is no setting of this program")]
fn directory(on_windows: &str, elsewhere: &str, below_home: &str) -> Option<PathBuf> {
    let set = env::var_os(if cfg!(windows) { on_windows } else { elsewhere }).map(PathBuf::from);
    set.filter(|path| path.is_absolute()).or_else(|| Some(home_directory()?.join(below_home)))
}

/// Returns the home directory of the user, if it is known.
pub fn home_directory() -> Option<PathBuf> {
    env::home_dir().filter(|home| home.is_absolute())
}

/// Returns `path` with the home directory in place of `~` at its beginning. Other paths, and every path of a user without a
/// home directory, stay as they are. A directory whose name is `~` is reached as `./~`.
pub fn expand_home(path: &str) -> Cow<'_, str> {
    home_directory().map_or(Cow::Borrowed(path), |home| expand(path, &home))
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
