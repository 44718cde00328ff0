//! Adds the values of the files of settings to those of the command line and of the environment.
//!
//! The order of precedence is: flag, a profile that a flag chooses, variable, project file, profile. What restricts the tools is
//! never widened by a project file, nor by a profile that it chooses: of two values, the stricter one applies.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;

use super::{
    configuration_file::{Configuration, Profile},
    definition::{
        API_KEY, API_KEY_COMMAND, API_KEY_FILE, BASE_URL, CONFIRM, Confirm, FILES_ROOT, KNOWLEDGE_URL,
        PROFILE, PROJECT_ID, READ_ONLY, TOOLSETS, boolean,
    },
    project_file::ReadFiles,
    values::{Origin, Values},
};
use crate::{home_path::expand_home, text::placeholder, tools::selection::Selection};

/// Settings that belong together: a key is only sent to the addresses that it was given with.
const ACCOUNT: [&str; 5] = [BASE_URL, KNOWLEDGE_URL, API_KEY, API_KEY_FILE, API_KEY_COMMAND];

/// Settings that restrict what the tools may do.
const RESTRICTING: [&str; 4] = [CONFIRM, FILES_ROOT, READ_ONLY, TOOLSETS];

/// The profile that is used.
struct ChosenProfile<'a> {
    profile: &'a Profile,
    /// What chooses the profile.
    chooser: Origin,
    /// Origin of the values of the profile.
    origin: Origin,
}

/// Adds the values of `files` to `values`.
pub(super) fn add_file_values(values: &mut Values, files: &ReadFiles) {
    let chosen = choose_profile(values, files);
    if let Some(chosen) = &chosen {
        chosen.separate_accounts(values);
        if matches!(chosen.chooser, Origin::Flag(_)) {
            chosen.add(values, |origin| matches!(origin, None | Some(Origin::Variable(_))));
        }
    }

    let directory = files.working_directory.as_deref();
    add_project(values, files, chosen.as_ref());
    if let Some(chosen) = &chosen {
        if chosen.is_of_stranger() {
            add_restrictions(values, files);
            for name in RESTRICTING {
                narrow(values, name, chosen.profile.text(name), &chosen.origin, directory);
            }
        }
        chosen.add(values, |origin| origin.is_none());
    }

    let origin = Origin::ProjectFile(files.project_path.clone());
    for (name, text) in files.project.values.iter().filter(|(name, _)| RESTRICTING.contains(name)) {
        narrow(values, name, Some(text), &origin, directory);
    }
}

/// Adds the project of the project file. If the profile is for another one, that is a problem: a key for several projects would
/// otherwise be used for a project of the repository's choice.
fn add_project(values: &mut Values, files: &ReadFiles, chosen: Option<&ChosenProfile<'_>>) {
    let named = files.project.values.iter().find(|(name, _)| *name == PROJECT_ID);
    let Some((_, project)) = named.filter(|_| !values.contains(PROJECT_ID)) else { return };
    values.set(PROJECT_ID, project, Origin::ProjectFile(files.project_path.clone()));

    let Some(ChosenProfile { profile, origin, .. }) = chosen else { return };
    if let Some(other) = profile.text(PROJECT_ID).filter(|other| *other != project.as_str()) {
        values.set_problem(
            PROJECT_ID,
            format!("is not the project `{other}` of {origin}; choose another profile, or set the project with --project"),
        );
    }
}

/// Adds the restricting settings of the default profile, as if the repository had chosen no profile.
fn add_restrictions(values: &mut Values, files: &ReadFiles) {
    let Configuration { default_profile: Some(name), profiles } = &files.configuration else { return };
    let Some(profile) = profiles.get(name) else { return };
    for setting in RESTRICTING {
        if let Some(text) = profile.text(setting).filter(|_| !values.contains(setting)) {
            let file = files.configuration_path.clone();
            values.set(setting, text, Origin::Profile { name: name.clone(), file });
        }
    }
}

/// Returns the profile that the flag, the variable, the project file or the configuration file chooses. An unknown profile is a
/// problem.
fn choose_profile<'a>(values: &mut Values, files: &'a ReadFiles) -> Option<ChosenProfile<'a>> {
    let Configuration { default_profile, profiles } = &files.configuration;
    if !values.contains(PROFILE) {
        if let Some(name) = &files.project.profile {
            values.set(PROFILE, name, Origin::ProjectFile(files.project_path.clone()));
        } else if let Some(name) = default_profile {
            values.set(PROFILE, name, Origin::ConfigurationFile(files.configuration_path.clone()));
        }
    }

    let name = values.text(PROFILE)?.to_owned();
    let file = files.configuration_path.clone();
    let Some(profile) = profiles.get(&name) else {
        // The parser says more about a placeholder, and the profiles of an unusable file are not known.
        if placeholder(&name).is_none() && files.problems.is_empty() {
            values.set_problem(PROFILE, unknown_profile(files));
        }
        return None;
    };
    let chooser = values.origin(PROFILE)?.clone();

    Some(ChosenProfile { profile, chooser, origin: Origin::Profile { name, file } })
}

fn unknown_profile(files: &ReadFiles) -> String {
    let names: Vec<_> = files.configuration.profiles.keys().map(String::as_str).collect();
    let file = files.configuration_path.display();
    match names.as_slice() {
        [] => format!("is not a profile: {file} has none"),
        names => format!("is not a profile in {file}; the profiles are: {}", names.join(", ")),
    }
}

impl ChosenProfile<'_> {
    /// Adds the values of the profile for settings whose present origin may be replaced.
    fn add(&self, values: &mut Values, is_replaced: impl Fn(Option<&Origin>) -> bool) {
        let uses_address = self.profile.text(BASE_URL).is_none() || self.provides_address(values);
        let may_restrict_only = |name| self.is_of_stranger() && RESTRICTING.contains(&name);

        for (setting, text) in self.profile.values() {
            let name = setting.name();
            let is_used = (uses_address || !ACCOUNT.contains(&name)) && !may_restrict_only(name);
            if is_used && is_replaced(values.origin(name)) {
                values.set(name, text, self.origin.clone());
            }
        }
    }

    /// Returns whether a repository, which may come from a stranger, chooses the profile.
    fn is_of_stranger(&self) -> bool {
        matches!(self.chooser, Origin::ProjectFile(_))
    }

    /// Removes keys and addresses that must not be used with the address of the profile, and says why.
    fn separate_accounts(&self, values: &mut Values) {
        let Self { profile, chooser, origin: of_profile } = self;
        let is_foreign = |origin: &Origin| match chooser {
            Origin::Flag(_) => matches!(origin, Origin::Variable(_)),
            // A repository of a stranger could otherwise send a key to another address of the user.
            Origin::ProjectFile(_) => true,
            _ => false,
        };
        if !self.provides_address(values) {
            if profile.text(BASE_URL).is_some() && profile.text(API_KEY_FILE).is_some() {
                values.withheld_key = Some(format!(
                    "is not set, because `api_key_file` of {of_profile} is only used with the `base_url` of the profile"
                ));
            }
            return;
        }

        let origin_of_key = values.key_setting().and_then(|setting| values.origin(setting));
        if let Some(origin) = origin_of_key.filter(|origin| is_foreign(origin)) {
            values.withheld_key = Some(format!(
                "is not set, because the key of {origin} is not sent to the address of {of_profile}, which {chooser} chooses; sign in to the profile with `tas-mcp login`, or set `api_key_file` in it"
            ));
        }
        for setting in ACCOUNT {
            if values.origin(setting).is_some_and(is_foreign) {
                values.remove(setting);
            }
        }
    }

    /// Returns whether the address of the profile is used.
    fn provides_address(&self, values: &Values) -> bool {
        let is_overridden = match values.origin(BASE_URL) {
            None | Some(Origin::Profile { .. }) => false,
            Some(Origin::Variable(_)) => !matches!(self.chooser, Origin::Flag(_)),
            Some(_) => true,
        };
        self.profile.text(BASE_URL).is_some() && !is_overridden
    }
}

/// Narrows the value of a restricting setting by the value `text` of `origin`. A flag is the word of the user for this process,
/// and stays. `directory` is the working directory: the files root that applies without a value.
fn narrow(
    values: &mut Values,
    name: &'static str,
    text: Option<&str>,
    origin: &Origin,
    directory: Option<&Path>,
) {
    if values.is_flag(name) {
        return;
    }

    match (name, text) {
        (CONFIRM, text) => narrow_confirmations(values, text, origin),
        (READ_ONLY, Some(text)) => narrow_changes(values, text, origin),
        (TOOLSETS, Some(text)) => narrow_tools(values, text, origin),
        (FILES_ROOT, Some(text)) => narrow_root(values, text, origin, directory),
        _ => {}
    }
}

/// Asks before costly calls unless both values say never. Without a value, the person is asked.
fn narrow_confirmations(values: &mut Values, text: Option<&str>, origin: &Origin) {
    let asks = |text: Option<&str>| {
        text.is_none_or(|text| Confirm::from_str(text, false).ok() != Some(Confirm::Never))
    };
    if asks(values.text(CONFIRM)) || !asks(text) {
        return;
    }

    match text {
        Some(text) => values.set(CONFIRM, text, origin.clone()),
        None => values.remove(CONFIRM),
    }
}

fn narrow_changes(values: &mut Values, text: &str, origin: &Origin) {
    // A value that is neither yes nor no means read-only until it is corrected.
    let is_read_only = |text: &str| boolean(text).unwrap_or(true);
    if is_read_only(text) && !values.text(READ_ONLY).is_some_and(is_read_only) {
        values.set(READ_ONLY, text, origin.clone());
    }
}

/// Offers the tools that both values select.
fn narrow_tools(values: &mut Values, text: &str, origin: &Origin) {
    let Ok(own) = Selection::parse(values.text(TOOLSETS).unwrap_or("default"), false) else { return };
    let narrowed = match Selection::parse(text, false) {
        Ok(other) => match own.clone().narrowed_by([&other]) {
            both if both == own => return,
            both if both == other => text.to_owned(),
            both => both.words(),
        },
        // The parser of the settings reports the value.
        Err(_) => text.to_owned(),
    };

    values.set(TOOLSETS, &narrowed, origin.clone());
}

/// Uses the directory that is inside the other one. If neither is, there is no files root.
fn narrow_root(values: &mut Values, text: &str, origin: &Origin, directory: Option<&Path>) {
    let Some(own) = values.text(FILES_ROOT).map(Path::new).or(directory).map(real) else { return };
    let other = real(Path::new(&*expand_home(text)));
    if own.starts_with(&other) {
        return;
    }

    values.set(FILES_ROOT, text, origin.clone());
    if !other.starts_with(&own) {
        let own = own.display();
        let reason =
            format!("is not inside {own}, which applies too, because the project file chooses the profile");
        values.set_problem(FILES_ROOT, reason);
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
