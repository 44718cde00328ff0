//! The configuration file of the user, for the commands that show and change it.

use clap::{Arg, Command};

use super::{help::help_end, output::json_flag};
use crate::{
    failure::{Code, Failure},
    settings::{
        Configuration, ConfigurationFile, FIRST_PROFILE, Origin, Profile, SettingValue, Settings,
        UnusableFile, UserDirectories, profile_completer,
    },
};

/// What the help of the commands says about exit codes.
pub(super) const EXIT_CODES: &str = "Exit codes: 0 success, 1 not found or another program has changed the file, 2 invalid arguments or file, or not confirmed";

/// Positional argument: the name of a profile.
pub(super) const NAME: &str = "name";

/// The configuration file, with its content.
pub(super) struct UserConfiguration {
    pub(super) file: ConfigurationFile,
    pub(super) content: Configuration,
}

impl UserConfiguration {
    /// Reads the file.
    ///
    /// # Errors
    /// The user has no home directory, or the file cannot be used.
    pub(super) fn read() -> Result<Self, Failure> {
        let file = ConfigurationFile::of_user(&user_directories()?);
        let content = file.read().map_err(UnusableFile::into_failure)?;

        Ok(Self { file, content })
    }

    /// Returns the profile with this name.
    ///
    /// # Errors
    /// `not_found` with the names of all profiles.
    pub(super) fn profile(&self, name: &str) -> Result<&Profile, Failure> {
        self.content.profiles.get(name).ok_or_else(|| {
            let names: Vec<_> = self.content.profiles.keys().map(String::as_str).collect();
            let hint = match names.as_slice() {
                [] => "there are none; `tas-mcp login` creates one".to_owned(),
                names => format!("the profiles are: {}", names.join(", ")),
            };
            let message = format!("{} has no profile `{name}`", self.file.path().display());
            Failure::new(Code::NotFound, message).hint(hint)
        })
    }

    /// Returns the name of the profile that commands use here, if there is one.
    pub(super) fn active_profile<'a>(&'a self, settings: &'a Settings) -> Option<&'a str> {
        settings.profile().or(self.content.default_profile.as_deref())
    }

    /// Returns the name of the profile that a command changes. Only a user who names a profile, or has none, creates
    /// one.
    ///
    /// # Errors
    /// `not_found`: the profile that the project file chooses does not exist.
    pub(super) fn changed_profile<'a>(&'a self, settings: &'a Settings) -> Result<&'a str, Failure> {
        let name = self.active_profile(settings).unwrap_or(FIRST_PROFILE);
        if matches!(settings.profile_origin(), Some(Origin::ProjectFile(_))) {
            self.profile(name)?;
        }

        Ok(name)
    }
}

/// Returns the directories of the user.
///
/// # Errors
/// `file_error`: the user has no home directory.
pub(super) fn user_directories() -> Result<UserDirectories, Failure> {
    UserDirectories::read()
        .ok_or_else(|| Failure::new(Code::FileError, "this user has no home directory: set HOME"))
}

/// Returns a subcommand of one of the commands.
pub(super) fn subcommand(name: &'static str, about: &'static str, example: &'static str) -> Command {
    Command::new(name).about(about).after_help(help_end(&[example], EXIT_CODES)).arg(json_flag())
}

/// Returns the positional argument for the name of a profile.
pub(super) fn name_argument() -> Arg {
    Arg::new(NAME).value_name("NAME").add(profile_completer())
}

/// Returns the value of a setting that applies here, if there is one.
pub(super) fn applied_value(settings: &Settings, variable: &str) -> Option<SettingValue> {
    settings.shown_values().into_iter().find(|value| value.setting == variable)
}
