//! Adds the values of the files of settings to those of the command line and of the environment.
//!
//! The order of precedence is: flag, a profile that a flag chooses, variable, project file, profile. What restricts the tools is
//! never widened by a project file, nor by a profile that it chooses: [`narrow`] applies the stricter value.

use super::{
    configuration_file::{Configuration, Profile},
    definitions::{API_KEY, API_KEY_COMMAND, API_KEY_FILE, BASE_URL, KNOWLEDGE_URL, PROFILE, PROJECT_ID},
    narrowing::{RESTRICTING, narrow},
    problem::SettingProblem,
    setting::Setting,
    setting_files::ReadFiles,
    values::{Origin, Values},
};
use crate::text::placeholder;

/// Settings that belong together: a key is only sent to the addresses that it was given with.
const ACCOUNT: [&Setting; 5] = [&BASE_URL, &KNOWLEDGE_URL, &API_KEY, &API_KEY_FILE, &API_KEY_COMMAND];

/// The profile that is used.
struct ChosenProfile<'a> {
    profile: &'a Profile,
    /// What chooses the profile.
    chooser: Origin,
    /// Origin of the values of the profile.
    origin: Origin,
}

/// Adds the values and the problems of `files` to `values`.
pub(super) fn add_file_values(values: &mut Values, files: &ReadFiles) {
    let problems = files.unusable.iter().map(|(setting, file)| SettingProblem {
        setting,
        origin: file.path.display().to_string(),
        reason: format!("cannot be used: {}", file.problem),
    });
    values.file_problems.extend(problems);

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
            for setting in RESTRICTING {
                narrow(values, setting, chosen.text(setting), &chosen.origin, directory);
            }
        }
        chosen.add(values, |origin| origin.is_none());
    }

    let origin = Origin::ProjectFile(files.project_path.clone());
    for (setting, text) in &files.project.values {
        if contains(&RESTRICTING, setting) {
            narrow(values, setting, Some(text), &origin, directory);
        }
    }
}

/// Adds the project of the project file. If the profile is for another one, that is a problem: a key for several projects would
/// otherwise be used for a project of the repository's choice.
fn add_project(values: &mut Values, files: &ReadFiles, chosen: Option<&ChosenProfile<'_>>) {
    let named = files.project.values.iter().find(|(setting, _)| setting.name() == PROJECT_ID.name());
    let Some((_, project)) = named.filter(|_| !values.contains(&PROJECT_ID)) else { return };
    values.set(&PROJECT_ID, project, Origin::ProjectFile(files.project_path.clone()));

    if let Some(chosen) = chosen
        && let Some(of_profile) =
            chosen.text(&PROJECT_ID).filter(|of_profile| *of_profile != project.as_str())
    {
        let profile = &chosen.origin;
        values.set_problem(
            &PROJECT_ID,
            format!("is not the project `{of_profile}` of {profile}; choose another profile, or set the project with --project"),
        );
    }
}

/// Adds the restricting settings of the default profile, as if the repository had chosen no profile.
fn add_restrictions(values: &mut Values, files: &ReadFiles) {
    let Configuration { default_profile: Some(name), profiles } = &files.configuration else { return };
    for setting in RESTRICTING {
        let text = profiles.get(name).and_then(|profile| profile.text(&setting.word()));
        if let Some(text) = text.filter(|_| !values.contains(setting)) {
            let file = files.configuration_path.clone();
            values.set(setting, text, Origin::Profile { name: name.clone(), file });
        }
    }
}

/// Returns the profile that the flag, the variable, the project file or the configuration file chooses. An unknown profile is a
/// problem.
fn choose_profile<'a>(values: &mut Values, files: &'a ReadFiles) -> Option<ChosenProfile<'a>> {
    let Configuration { default_profile, profiles } = &files.configuration;
    if !values.contains(&PROFILE) {
        if let Some(name) = &files.project.profile {
            values.set(&PROFILE, name, Origin::ProjectFile(files.project_path.clone()));
        } else if let Some(name) = default_profile {
            values.set(&PROFILE, name, Origin::ConfigurationFile(files.configuration_path.clone()));
        }
    }

    let name = values.text(&PROFILE)?.to_owned();
    let file = files.configuration_path.clone();
    let Some(profile) = profiles.get(&name) else {
        // The parser says more about a placeholder, and the profiles of an unusable file are not known.
        if placeholder(&name).is_none() && files.unusable.is_empty() {
            values.set_problem(&PROFILE, unknown_profile(files));
        }
        return None;
    };
    let chooser = values.origin(&PROFILE)?.clone();

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
        let has_address = self.text(&BASE_URL).is_some();
        let uses_address = !has_address || self.provides_address(values);
        let may_restrict_only = |setting| self.is_of_stranger() && contains(&RESTRICTING, setting);
        let is_used = |setting| (uses_address || !contains(&ACCOUNT, setting)) && !may_restrict_only(setting);

        for (setting, text) in self.profile.values().filter(|(setting, _)| is_used(setting)) {
            if is_replaced(values.origin(setting)) {
                values.set(setting, text, self.origin.clone());
            }
        }
    }

    /// Returns whether a repository, which may come from a stranger, chooses the profile.
    fn is_of_stranger(&self) -> bool {
        matches!(self.chooser, Origin::ProjectFile(_))
    }

    /// Removes keys and addresses that must not be used with the address of the profile, and says why.
    fn separate_accounts(&self, values: &mut Values) {
        let is_foreign = |origin: &Origin| match &self.chooser {
            Origin::Flag(_) => matches!(origin, Origin::Variable(_)),
            // A repository of a stranger could otherwise send a key to another address of the user.
            Origin::ProjectFile(_) => true,
            _ => false,
        };
        if !self.provides_address(values) {
            if self.text(&BASE_URL).is_some() && self.text(&API_KEY_FILE).is_some() {
                values.withheld_key = Some(self.unused_file());
            }
            return;
        }

        if let Some(origin) = values.key_setting().and_then(|setting| values.origin(setting))
            && is_foreign(origin)
        {
            values.withheld_key = Some(self.withheld(origin));
        }
        for setting in ACCOUNT {
            if values.origin(setting).is_some_and(is_foreign) {
                values.remove(setting);
            }
        }
    }

    /// Returns whether the address of the profile is used.
    fn provides_address(&self, values: &Values) -> bool {
        let is_overridden = match values.origin(&BASE_URL) {
            None | Some(Origin::Profile { .. }) => false,
            Some(Origin::Variable(_)) => !matches!(self.chooser, Origin::Flag(_)),
            Some(_) => true,
        };
        self.text(&BASE_URL).is_some() && !is_overridden
    }

    fn text(&self, setting: &Setting) -> Option<&str> {
        self.profile.text(&setting.word())
    }

    /// Returns why the key of `origin` is not used, as the end of a sentence that begins with the setting of the key.
    fn withheld(&self, origin: &Origin) -> String {
        let Self { chooser, origin: profile, .. } = self;
        format!(
            "is not set, because the key of {origin} is not sent to the address of {profile}, which {chooser} chooses; sign in to the profile with `tas-mcp login`, or set `api_key_file` in it"
        )
    }

    /// Returns why the key file of the profile is not used, as the end of the same sentence.
    fn unused_file(&self) -> String {
        let profile = &self.origin;
        format!(
            "is not set, because `api_key_file` of {profile} is only used with the `base_url` of the profile"
        )
    }
}

fn contains(settings: &[&Setting], setting: &Setting) -> bool {
    settings.iter().any(|one| one.name() == setting.name())
}
