//! Narrows what the user permits by what a repository chooses. Of two values, the stricter one applies.

use std::path::{Path, PathBuf};

use super::{
    definitions::{CONFIRM, FILES_ROOT, READ_ONLY, TOOLSETS},
    parse::{asks_first, boolean},
    setting::Setting,
    values::{Origin, Values},
};
use crate::{home_path::expand_home, tools::selection::Selection};

/// Settings that restrict what the tools may do.
pub(super) const RESTRICTING: [&Setting; 4] = [&CONFIRM, &FILES_ROOT, &READ_ONLY, &TOOLSETS];

/// Narrows the value of the restricting `setting` by the value `text` of `origin`. A flag is the word of the user for this process,
/// and stays. `directory` is the working directory: the files root that applies without a value.
pub(super) fn narrow(
    values: &mut Values,
    setting: &Setting,
    text: Option<&str>,
    origin: &Origin,
    directory: Option<&Path>,
) {
    if matches!(values.origin(setting), Some(Origin::Flag(_))) {
        return;
    }

    let name = setting.name();
    match text {
        text if name == CONFIRM.name() => narrow_confirmations(values, text, origin),
        Some(text) if name == READ_ONLY.name() => narrow_changes(values, text, origin),
        Some(text) if name == TOOLSETS.name() => narrow_tools(values, text, origin),
        Some(text) if name == FILES_ROOT.name() => narrow_root(values, text, origin, directory),
        _ => {}
    }
}

/// Asks before costly calls unless both values say never. Without a value, the person is asked.
fn narrow_confirmations(values: &mut Values, text: Option<&str>, origin: &Origin) {
    let asks = |text: Option<&str>| text.is_none_or(|text| asks_first(text).unwrap_or(true));
    if asks(values.text(&CONFIRM)) || !asks(text) {
        return;
    }

    match text {
        Some(text) => values.set(&CONFIRM, text, origin.clone()),
        None => values.remove(&CONFIRM),
    }
}

fn narrow_changes(values: &mut Values, text: &str, origin: &Origin) {
    // A value that is neither yes nor no means read-only until it is corrected.
    let is_read_only = |text: &str| boolean(text).unwrap_or(true);
    if is_read_only(text) && !values.text(&READ_ONLY).is_some_and(is_read_only) {
        values.set(&READ_ONLY, text, origin.clone());
    }
}

/// Offers the tools that both values select.
fn narrow_tools(values: &mut Values, text: &str, origin: &Origin) {
    let own = values.text(&TOOLSETS).unwrap_or("default");
    let Ok(own) = Selection::parse(own, false) else { return };

    let narrowed = match Selection::parse(text, false) {
        Ok(other) => {
            let both = own.clone().narrowed_by([&other]);
            match both {
                both if both == own => return,
                both if both == other => text.to_owned(),
                both => both.words(),
            }
        }
        // The parser of the settings reports the value.
        Err(_) => text.to_owned(),
    };

    values.set(&TOOLSETS, narrowed, origin.clone());
}

/// Uses the directory that is inside the other one. If neither is, there is no files root.
fn narrow_root(values: &mut Values, text: &str, origin: &Origin, directory: Option<&Path>) {
    let Some(own) = values.text(&FILES_ROOT).map(Path::new).or(directory).map(real) else { return };
    let other = real(Path::new(&*expand_home(text)));
    if own.starts_with(&other) {
        return;
    }

    values.set(&FILES_ROOT, text, origin.clone());
    if !other.starts_with(&own) {
        let own = own.display();
        let reason =
            format!("is not inside {own}, which applies too, because the project file chooses the profile");
        values.set_problem(&FILES_ROOT, reason);
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the value `own` after `other` has narrowed it, and whether the result is a problem.
    fn narrowed(setting: &Setting, own: Option<&str>, other: Option<&str>) -> (Option<String>, bool) {
        let mut values = Values::default();
        if let Some(own) = own {
            values.set(setting, own, Origin::Variable(setting.variable));
        }
        let origin = Origin::ProjectFile(PathBuf::from("project"));

        narrow(&mut values, setting, other, &origin, Some(Path::new("/game")));
        (values.text(setting).map(str::to_owned), values.problem(setting).is_some())
    }

    #[test]
    fn the_stricter_value_applies() {
        for (setting, own, other, expected) in [
            (&CONFIRM, Some("never"), Some("never"), Some("never")),
            (&CONFIRM, Some("never"), Some("ask"), Some("ask")),
            (&CONFIRM, Some("never"), None, None),
            (&CONFIRM, None, Some("never"), None),
            (&READ_ONLY, Some("false"), Some("true"), Some("true")),
            (&READ_ONLY, Some("true"), Some("false"), Some("true")),
            (&READ_ONLY, None, Some("false"), None),
            (&TOOLSETS, None, Some("all"), None),
            (&TOOLSETS, Some("all"), Some("lean"), Some("lean")),
            (&TOOLSETS, Some("lean"), Some("all"), Some("lean")),
            (&TOOLSETS, Some("get_run,get_bug"), Some("get_run,get_job"), Some("get_run")),
            (&TOOLSETS, Some("get_run"), Some("get_job"), Some("-all")),
            (&TOOLSETS, Some("get_run"), Some("nonsense"), Some("nonsense")),
            (&TOOLSETS, Some("get_run"), None, Some("get_run")),
            (&FILES_ROOT, Some("/a"), Some("/a/b"), Some("/a/b")),
            (&FILES_ROOT, Some("/a/b"), Some("/a"), Some("/a/b")),
            (&FILES_ROOT, None, Some("/"), None),
            (&FILES_ROOT, None, Some("/game/builds"), Some("/game/builds")),
        ] {
            let (text, has_problem) = narrowed(setting, own, other);

            assert_eq!(text.as_deref(), expected, "{} {own:?} {other:?}", setting.variable);
            assert!(!has_problem);
        }
    }

    #[test]
    fn directories_without_a_common_part_are_no_files_root() {
        for own in [Some("/ab"), Some("/b"), None] {
            assert!(narrowed(&FILES_ROOT, own, Some("/a")).1, "{own:?}");
        }
    }

    #[test]
    fn a_files_root_below_the_home_directory_is_compared_as_a_whole_path() {
        let home = expand_home("~").into_owned();
        assert!(!narrowed(&FILES_ROOT, Some(&home), Some("~/builds")).1);
        assert!(narrowed(&FILES_ROOT, Some("/a"), Some("~/builds")).1);
    }

    #[test]
    fn a_flag_of_the_user_stays() {
        let mut values = Values::default();
        values.set(&TOOLSETS, "all", Origin::Flag("toolsets"));
        narrow(&mut values, &TOOLSETS, Some("lean"), &Origin::ProjectFile(PathBuf::new()), None);
        assert_eq!(values.text(&TOOLSETS), Some("all"));
    }
}
