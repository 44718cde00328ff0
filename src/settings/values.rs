//! The values of the settings as text, with their origins. A flag overrides a variable, and a variable overrides the profile, unless
//! the flag `--profile` chooses it.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
};

use clap::ArgMatches;

use super::{
    HTTP_SETTINGS,
    configuration_file::Configuration,
    definition::{
        API_KEY, API_KEY_COMMAND, API_KEY_FILE, BASE_URL, CONFIRM, FILES_ROOT, KNOWLEDGE_URL, LOG, PROFILE,
        READ_ONLY, SETTINGS, Setting, TOOLSETS, VERBOSE, VERBOSE_FILTER, setting,
    },
};
use crate::{home_path::expand_home, text::trimmed};

/// Settings that restrict what the tools may do. An empty value is unusable: without the restriction, the tools could do
/// more than intended.
const RESTRICTING: [&str; 4] = [CONFIRM, FILES_ROOT, READ_ONLY, TOOLSETS];

/// Settings that name a key, the first of which is used.
pub(super) const KEY_SETTINGS: [&str; 3] = [API_KEY, API_KEY_FILE, API_KEY_COMMAND];

/// The texts of the settings by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    texts: BTreeMap<&'static str, SourcedText>,
    /// Why a key that is set is not used, as the end of a sentence that begins with the setting of the key.
    pub(super) withheld_key: Option<String>,
}

/// Text of a setting, without white space around it, and its origin.
#[derive(Clone)]
struct SourcedText {
    setting: &'static Setting,
    text: String,
    origin: Origin,
    /// Why the text cannot be used, whatever the setting is.
    problem: Option<String>,
}

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Flag(&'static str),
    Variable(&'static str),
    /// The person or program that signs in.
    Login,
    /// A profile of the configuration file of the user.
    Profile {
        name: String,
        file: PathBuf,
    },
    /// The configuration file of the user, outside of the profiles.
    ConfigurationFile(PathBuf),
    /// The embedded sandbox, which provides its addresses and a key.
    Sandbox,
}

impl Values {
    /// Returns the values of the flags in `matches`, and for the other settings the values that `variable` returns.
    pub(super) fn from_sources(
        matches: Option<&ArgMatches>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Self {
        let subcommand = matches.and_then(ArgMatches::subcommand).filter(|(name, _)| *name == "http");
        let http_matches = subcommand.map(|(_, matches)| matches);
        let server = SETTINGS.iter().map(|setting| (setting, matches));
        let http = HTTP_SETTINGS.iter().map(|setting| (setting, http_matches));

        let mut values = Self::default();
        for (setting, matches) in server.chain(http) {
            let flag = matches.and_then(|matches| flag_text(setting, matches)).map(OsString::from);
            let flag = flag.map(|text| (text, Origin::Flag(setting.flag)));
            let variable = variable(setting.variable).map(|text| (text, Origin::Variable(setting.variable)));
            let texts = flag.into_iter().chain(variable);
            let mut found = texts.map(|(text, origin)| SourcedText::new(setting, &text, origin));
            if let Some(value) = found.find(SourcedText::applies) {
                values.texts.insert(setting.name(), value);
            }
        }

        let is_verbose = matches.is_some_and(|matches| matches.get_flag(VERBOSE));
        if is_verbose && !values.is_flag(LOG) {
            values.set(LOG, VERBOSE_FILTER, Origin::Flag(VERBOSE));
        }

        values
    }

    pub(super) fn set(&mut self, name: &str, text: &str, origin: Origin) {
        if let Some(setting) = setting(name) {
            self.texts.insert(setting.name(), SourcedText::new(setting, OsStr::new(text), origin));
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.texts.remove(name);
    }

    pub(super) fn problem(&self, name: &str) -> Option<&str> {
        self.texts.get(name)?.problem.as_deref()
    }

    pub(super) fn set_problem(&mut self, name: &str, reason: String) {
        if let Some(value) = self.texts.get_mut(name) {
            value.problem = Some(reason);
        }
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.texts.contains_key(name)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(|value| value.text.as_str())
    }

    pub(super) fn origin(&self, name: &str) -> Option<&Origin> {
        self.texts.get(name).map(|value| &value.origin)
    }

    pub(super) fn is_flag(&self, name: &str) -> bool {
        matches!(self.origin(name), Some(Origin::Flag(_)))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static Setting, &str, &Origin)> {
        self.texts.values().map(|value| (value.setting, value.text.as_str(), &value.origin))
    }

    /// Returns the setting that the API key is taken from: the key itself, the file with the key, or else the command that
    /// prints it. The file comes first if a flag names it.
    pub(super) fn key_setting(&self) -> Option<&'static str> {
        let first = self.is_flag(API_KEY_FILE).then_some(API_KEY_FILE);
        first.into_iter().chain(KEY_SETTINGS).find(|name| self.contains(name))
    }
}

impl SourcedText {
    fn new(setting: &'static Setting, value: &OsStr, origin: Origin) -> Self {
        let text = value.to_string_lossy();
        let text = trimmed(&text);
        let problem = match value.to_str() {
            None => Some("is not valid UTF-8".to_owned()),
            Some(_) => text.is_empty().then(|| "is empty".to_owned()),
        };
        let text = if setting.is_path() { expand_home(text).into_owned() } else { text.to_owned() };
        Self { setting, text, origin, problem }
    }

    /// Returns whether the text is a value of the setting. Hosts pass variables that are not filled in as empty texts, so
    /// that an empty text is no value, except for a setting that restricts the tools.
    fn applies(&self) -> bool {
        !self.text.is_empty() || RESTRICTING.contains(&self.setting.name())
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
            Self::Sandbox => formatter.write_str("the embedded sandbox"),
        }
    }
}

fn flag_text<'a>(setting: &Setting, matches: &'a ArgMatches) -> Option<&'a str> {
    match setting.flag {
        "" => None,
        flag if setting.is_switch() => matches.get_flag(flag).then_some("true"),
        flag => matches.get_one::<String>(flag).map(String::as_str),
    }
}

/// Settings that belong together: a key is only sent to the addresses that it was given with.
const ACCOUNT: [&str; 5] = [BASE_URL, KNOWLEDGE_URL, API_KEY, API_KEY_FILE, API_KEY_COMMAND];

/// Adds the values of the profile that the flag, the variable or the configuration file `path` chooses. An unknown profile is a
/// problem.
pub(super) fn add_profile(values: &mut Values, configuration: &Configuration, path: &Path) {
    let Configuration { default_profile, profiles } = configuration;
    if let Some(default) = default_profile.as_ref().filter(|_| !values.contains(PROFILE)) {
        values.set(PROFILE, default, Origin::ConfigurationFile(path.to_owned()));
    }

    let Some(name) = values.text(PROFILE).map(str::to_owned) else { return };
    let Some(profile) = profiles.get(&name) else {
        values.set_problem(PROFILE, unknown_profile(configuration, path));
        return;
    };

    let overrides_variables = values.is_flag(PROFILE);
    let origin = Origin::Profile { name, file: path.to_owned() };
    let is_free = |origin: Option<&Origin>| {
        origin.is_none_or(|origin| overrides_variables && matches!(origin, Origin::Variable(_)))
    };

    let has_address = profile.text(BASE_URL).is_some();
    let uses_address = has_address && is_free(values.origin(BASE_URL));
    if uses_address && overrides_variables {
        remove_account_of_variables(values, &origin);
    }
    if has_address && !uses_address && profile.text(API_KEY_FILE).is_some() {
        let reason = "`api_key_file` of the profile is only used with the `base_url` of the profile";
        values.withheld_key = Some(format!("is not set, because {reason} ({origin})"));
    }

    for (setting, text) in profile.values() {
        let name = setting.name();
        let is_used = uses_address || !has_address || !ACCOUNT.contains(&name);
        if is_used && is_free(values.origin(name)) {
            values.set(name, text, origin.clone());
        }
    }
}

/// Removes the addresses and the key of variables, because the key must not be sent to the address of the profile `origin`.
fn remove_account_of_variables(values: &mut Values, origin: &Origin) {
    let is_variable = |values: &Values, name: &str| matches!(values.origin(name), Some(Origin::Variable(_)));

    if let Some(key) = values.key_setting().filter(|name| is_variable(values, name)) {
        values.withheld_key = Some(format!(
            "is not set, because the key of variable {key} is not sent to the address of {origin}, which flag --profile chooses; sign in to the profile with `tas-mcp login`, or set `api_key_file` in it"
        ));
    }
    for name in ACCOUNT {
        if is_variable(values, name) {
            values.remove(name);
        }
    }
}

fn unknown_profile(configuration: &Configuration, path: &Path) -> String {
    let names: Vec<_> = configuration.profiles.keys().map(String::as_str).collect();
    let file = path.display();
    match names.as_slice() {
        [] => format!("is not a profile: {file} has none"),
        names => format!("is not a profile in {file}; the profiles are: {}", names.join(", ")),
    }
}
