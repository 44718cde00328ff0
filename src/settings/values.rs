//! The values of the settings as text, with their origins.

use std::{collections::BTreeMap, ffi::OsString, fmt, path::PathBuf};

use clap::ArgMatches;

use super::{
    definitions::{API_KEY, API_KEY_COMMAND, API_KEY_FILE, FILES_ROOT, READ_ONLY, SETTINGS},
    http_definitions::HTTP_SETTINGS,
    problem::SettingProblem,
    setting::Setting,
};
use crate::{home_path::expand_home, text::trimmed};

/// Settings that restrict what the tools may do. An empty value is unusable: without the restriction, the tools could do
/// more than intended.
const RESTRICTING: [&str; 2] = [FILES_ROOT.name(), READ_ONLY.name()];

/// Values of the settings by name, not parsed yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    texts: BTreeMap<&'static str, SourcedText>,
    /// Problems with the files of settings.
    pub(super) file_problems: Vec<SettingProblem>,
    /// Why a key that is set is not used, as the end of a sentence that begins with the setting of the key.
    pub(super) withheld_key: Option<String>,
}

/// Text of a setting, and its origin.
#[derive(Clone)]
pub(super) struct SourcedText {
    text: String,
    origin: Origin,
    /// Why the text cannot be used, whatever the setting is.
    problem: Option<String>,
}

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The command line.
    Flag(&'static str),
    /// The environment.
    Variable(&'static str),
    /// The person or program that signs in.
    Login,
    /// A profile of the configuration file of the user.
    Profile { name: String, file: PathBuf },
    /// The configuration file of the user, outside of the profiles.
    ConfigurationFile(PathBuf),
    /// The file in the repository of the working directory.
    ProjectFile(PathBuf),
    /// The embedded sandbox, which provides its addresses and a key.
    Sandbox,
}

impl Values {
    /// Returns the values of the flags in `matches`, and for the other settings the values that `variable` returns.
    pub(super) fn from_sources(
        matches: Option<&ArgMatches>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Self {
        let mut values = Self::default();
        for setting in SETTINGS {
            values.read(setting, matches, &variable);
        }

        // Only the command `http` has flags for these settings.
        let http = matches.and_then(ArgMatches::subcommand).filter(|(name, _)| *name == "http");
        let matches = http.map(|(_, matches)| matches);
        for setting in HTTP_SETTINGS {
            values.read(setting, matches, &variable);
        }

        values
    }

    /// Reads the value of `setting` from its flag, or else from its variable.
    fn read(
        &mut self,
        setting: &'static Setting,
        matches: Option<&ArgMatches>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) {
        let from_flag = || {
            let value = SourcedText::new(setting, &flag_text(setting, matches?)?, Origin::Flag(setting.flag));
            value.counts_for(setting).then_some(value)
        };
        let from_variable = || SourcedText::from_variable(setting, variable(setting.variable)?);

        if let Some(value) = from_flag().or_else(from_variable) {
            self.texts.insert(setting.name(), value);
        }
    }

    /// Sets the value of `setting`, in place of an earlier one.
    pub(super) fn set(&mut self, setting: &Setting, text: impl Into<String>, origin: Origin) {
        self.texts.insert(setting.name(), SourcedText::new(setting, &text.into(), origin));
    }

    /// Removes the value of `setting`.
    pub(super) fn remove(&mut self, setting: &Setting) {
        self.texts.remove(setting.name());
    }

    /// Returns why the text of `setting` cannot be used, whatever the setting is.
    pub(super) fn problem(&self, setting: &Setting) -> Option<&str> {
        self.texts.get(setting.name())?.problem.as_deref()
    }

    /// Records why the text of `setting` cannot be used, unless another reason is known.
    pub(super) fn set_problem(&mut self, setting: &Setting, reason: String) {
        if let Some(value) = self.texts.get_mut(setting.name()) {
            value.problem.get_or_insert(reason);
        }
    }

    /// Returns whether `setting` has a value.
    pub(super) fn contains(&self, setting: &Setting) -> bool {
        self.texts.contains_key(setting.name())
    }

    /// Returns the value of `setting` without surrounding spaces.
    pub(super) fn text(&self, setting: &Setting) -> Option<&str> {
        self.texts.get(setting.name()).map(SourcedText::text)
    }

    /// Returns the setting that the API key is taken from: the key itself, the file with the key, or else the command that
    /// prints it. The file comes first if a flag names it.
    pub(super) fn key_setting(&self) -> Option<&'static Setting> {
        let is_file_chosen = matches!(self.origin(&API_KEY_FILE), Some(Origin::Flag(_)));
        let first = is_file_chosen.then_some(&API_KEY_FILE);
        let order = first.into_iter().chain([&API_KEY, &API_KEY_FILE, &API_KEY_COMMAND]);
        order.into_iter().find(|setting| self.contains(setting))
    }

    /// Returns the origin of the value of `setting`.
    pub(super) fn origin(&self, setting: &Setting) -> Option<&Origin> {
        self.texts.get(setting.name()).map(|value| &value.origin)
    }

    /// Returns the names, texts and origins of all values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &str, &Origin)> {
        self.texts.iter().map(|(name, value)| (*name, value.text(), &value.origin))
    }
}

impl Origin {
    /// Returns whether the value is in a file that a later process reads too.
    pub(super) fn is_file(&self) -> bool {
        matches!(self, Self::Profile { .. } | Self::ConfigurationFile(_) | Self::ProjectFile(_))
    }
}

impl SourcedText {
    /// Returns the value of `setting` without white space around it. A path of the home directory is complete.
    fn new(setting: &Setting, text: &str, origin: Origin) -> Self {
        let text = trimmed(text);
        let problem = text.is_empty().then(|| "is empty".to_owned());
        let text = if setting.is_path() { expand_home(text).into_owned() } else { text.to_owned() };
        Self { text, origin, problem }
    }

    /// Returns the value of a variable.
    fn from_variable(setting: &Setting, value: OsString) -> Option<Self> {
        let origin = Origin::Variable(setting.variable);
        let value = match value.into_string() {
            Ok(text) => Self::new(setting, &text, origin),
            Err(value) => Self {
                text: trimmed(&value.to_string_lossy()).to_owned(),
                origin,
                problem: Some("is not valid UTF-8".to_owned()),
            },
        };

        value.counts_for(setting).then_some(value)
    }

    /// Returns whether the text is a value of `setting`. Hosts pass variables that are not filled in as empty texts, so
    /// that an empty text counts as not set, except for a setting that restricts the tools.
    fn counts_for(&self, setting: &Setting) -> bool {
        !self.text.is_empty() || RESTRICTING.contains(&setting.name())
    }

    fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for SourcedText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text is left out, because one of the values is the API key.
        formatter.debug_struct("SourcedText").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(formatter, "flag --{flag}"),
            Self::Variable(variable) => write!(formatter, "variable {variable}"),
            Self::Login => formatter.write_str("tas-mcp login"),
            Self::Profile { name, file } => write!(formatter, "profile {name} in {}", file.display()),
            Self::ConfigurationFile(path) => write!(formatter, "configuration file {}", path.display()),
            Self::ProjectFile(path) => write!(formatter, "project file {}", path.display()),
            Self::Sandbox => formatter.write_str("the embedded sandbox"),
        }
    }
}

fn flag_text(setting: &Setting, matches: &ArgMatches) -> Option<String> {
    match setting.flag {
        "" => None,
        flag if setting.is_switch() => matches.get_flag(flag).then(|| "true".to_owned()),
        flag => matches.get_one::<String>(flag).cloned(),
    }
}
