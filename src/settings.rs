//! The settings: where each value comes from, what the value means, and the configuration of each lower layer.
//!
//! The crate reads the environment only here. A flag overrides a variable, and a variable overrides a file. The texts become
//! typed values once, when all sources are known.
//!
//! An unusable setting does not stop the server, because hosts show a server that does not start only as "failed to
//! connect". Its problem is kept, and [`Settings::tools_config`] reports all problems at once.

mod config;
mod configuration_file;
mod definition;
mod flags;
mod http;
mod problem;
mod values;

use std::{ffi::OsString, path::Path};

use clap::ArgMatches;
use serde::Serialize;

pub(crate) use self::{
    configuration_file::invalid_toml,
    definition::{LogFormat, READ_ONLY},
    values::Origin,
};
use self::{
    configuration_file::profile_settings,
    definition::{
        API_KEY, API_KEY_COMMAND, API_KEY_FILE, BASE_URL, CA_FILE, KNOWLEDGE_URL, PROFILE, PROJECT_ID,
        ServerSettings,
    },
    problem::{SettingProblem, parse_values},
    values::{Values, add_profile},
};
pub use self::{
    configuration_file::{
        Configuration, ConfigurationFile, HOME_VARIABLES, Profile, ProfileValue, user_directory,
    },
    definition::{FIRST_PROFILE, SERVICE_VARIABLES, SETTINGS, Setting, complete_address, is_loopback_host},
    flags::{flags, http_flags, profile_completer},
    http::{HTTP_SETTINGS, HttpSettings},
};
use crate::{
    client::{ApiKey, KeyKind, KeySource, KeyStore},
    failure::{Code, Failure},
    tools::{
        selection::Selection,
        upload::{UploadTiming, origin::BuildOrigin},
    },
};

/// The settings of this process.
#[derive(Clone, Debug)]
pub struct Settings {
    values: Values,
    /// The usable values, and the defaults of the others.
    server: ServerSettings,
    /// Every unusable value, in the order of the documentation.
    problems: Vec<SettingProblem>,
    build_origin: BuildOrigin,
    upload_timing: UploadTiming,
    /// The keys that `tas-mcp login` has stored. They serve if no setting names a key.
    accounts: Option<KeyStore>,
    /// Why the configuration file cannot be used.
    file_problem: Option<SettingProblem>,
}

/// A setting that is set, as `status` shows it.
#[derive(Debug, Serialize)]
pub struct SettingValue {
    /// Name of the setting.
    pub setting: &'static str,
    /// The value; `[set]` for a secret, `[unusable]` for a value that cannot be parsed.
    pub value: String,
    /// Origin of the value.
    pub origin: String,
}

/// Returns the values of the settings of every command, and the problems of the unusable ones.
fn parse_server(values: &Values) -> (ServerSettings, Vec<SettingProblem>) {
    let (server, mut problems): (ServerSettings, _) = parse_values(&SETTINGS, values);
    mask_key(&mut problems, server.key());
    (server, problems)
}

/// Masks the key, which may have been given as the value of another setting too.
fn mask_key(problems: &mut [SettingProblem], key: Option<&KeySource>) {
    let Some(key) = key.and_then(|source| source.known_key().ok()) else { return };
    for problem in problems {
        problem.reason = key.mask_text(std::mem::take(&mut problem.reason));
    }
}

impl Settings {
    /// Reads the settings from the command line, the environment and the configuration file. If none of them names a key, the
    /// stored key of the account serves.
    pub fn read(matches: Option<&ArgMatches>) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
        let settings = Self::from_sources(matches, |variable| std::env::var_os(variable));
        let Some(directory) = user_directory() else { return settings };

        let accounts = Some(KeyStore::in_directory(&directory));
        Self { accounts, ..settings }.with_configuration(&ConfigurationFile::in_directory(&directory))
    }

    /// Reads the settings from the command line and from `variable`, which returns the value of an environment
    /// variable. Reads no configuration file.
    pub fn from_sources<'a, T: Into<OsString>>(
        matches: impl Into<Option<&'a ArgMatches>>,
        variable: impl Fn(&str) -> Option<T>,
    ) -> Self {
        let variable = |name: &str| variable(name).map(Into::into);
        let values = Values::from_sources(matches.into(), variable);
        let (server, problems) = parse_server(&values);
        Self {
            build_origin: BuildOrigin::from_variables(|name| variable(name)?.into_string().ok()),
            server,
            problems,
            values,
            upload_timing: UploadTiming::default(),
            accounts: None,
            file_problem: None,
        }
    }

    /// Adds the values of the profile that is chosen. The sandbox uses none of them.
    #[must_use]
    pub fn with_configuration(mut self, file: &ConfigurationFile) -> Self {
        if self.wants_sandbox() {
            return self;
        }

        match file.load() {
            Ok(configuration) => add_profile(&mut self.values, &configuration, file.path()),
            Err(problem) => {
                let origin = file.path().display().to_string();
                let reason = format!("cannot be used: {problem}");
                self.file_problem = Some(SettingProblem { setting: "configuration file", origin, reason });
            }
        }
        (self.server, self.problems) = parse_server(&self.values);
        self
    }

    /// Replaces the pauses and time limits of uploads.
    #[must_use]
    pub fn with_upload_timing(self, upload_timing: UploadTiming) -> Self {
        Self { upload_timing, ..self }
    }

    /// Returns the same settings with the addresses and the key of an account, in place of any other key.
    #[must_use]
    pub fn with_account(&self, base_url: &str, knowledge_url: Option<&str>, key: &str) -> Self {
        let mut values = self.values.clone();
        values.set(BASE_URL, base_url, Origin::Login);
        if let Some(knowledge_url) = knowledge_url {
            values.set(KNOWLEDGE_URL, knowledge_url, Origin::Login);
        }
        values.set(API_KEY, key, Origin::Login);
        // The profile may not exist yet.
        for name in [API_KEY_FILE, API_KEY_COMMAND, PROFILE] {
            values.remove(name);
        }

        // A new project key may belong to another project than the one in the file. With an organization key the project of
        // the file stays, because the service has no request for the projects of such a key.
        let is_of_project = ApiKey::parse(key).is_ok_and(|key| key.kind() == KeyKind::Project);
        if is_of_project && matches!(values.origin(PROJECT_ID), Some(Origin::Profile { .. })) {
            values.remove(PROJECT_ID);
        }

        let (server, problems) = parse_server(&values);
        Self { values, server, problems, ..self.clone() }
    }

    /// Replaces the URLs and the key by those of an embedded sandbox. Nothing of the real service is used.
    pub fn use_sandbox(&mut self, base_url: &str, knowledge_url: &str, key: &str) {
        for (name, text) in SERVICE_VARIABLES.into_iter().zip([base_url, knowledge_url, key]) {
            self.values.set(name, text, Origin::Sandbox);
        }
        self.values.remove(API_KEY_FILE);
        self.values.remove(CA_FILE);
        (self.server, self.problems) = parse_server(&self.values);
    }

    /// Returns what the profile of an account contains: the address, the project, and the settings of the flags of this
    /// process. A path becomes absolute; it is relative to `directory`.
    ///
    /// # Errors
    /// `invalid_arguments`: a value cannot be used. `file_error`: a path is not Unicode.
    pub fn profile_values(
        &self,
        project: Option<&str>,
        directory: &Path,
    ) -> Result<Vec<ProfileValue>, Failure> {
        let mut values = Vec::new();
        for setting in profile_settings() {
            let name = setting.name();
            let is_given = matches!(self.values.origin(name), Some(Origin::Flag(_) | Origin::Login));
            let given = self.values.text(name).filter(|_| is_given);
            let Some(text) = (if name == PROJECT_ID { project } else { given }) else { continue };

            let is_own = |problem: &&SettingProblem| is_given && problem.setting == name;
            if let Some(problem) = self.problems.iter().find(is_own) {
                let message = format!("`{}` {}", setting.word, problem.reason);
                return Err(Failure::new(Code::InvalidArguments, message).hint("nothing was changed"));
            }
            let text = if setting.is_path() { absolute(directory, text)? } else { text.to_owned() };
            values.push((setting, text));
        }

        Ok(values)
    }

    /// Returns the settings that are set, with their origins. Secrets are not shown, and neither are values that cannot be
    /// parsed.
    pub fn shown_values(&self) -> Vec<SettingValue> {
        let mut problems = self.problems.clone();
        self.parse_http(&mut problems);
        let key = self.server.key().and_then(|key| key.known_key().ok());

        let is_unusable = |name: &str| problems.iter().any(|problem| problem.setting == name);
        let shown = |(setting, text, origin): (&Setting, &str, &Origin)| SettingValue {
            setting: setting.name(),
            value: match &key {
                _ if setting.is_secret() => "[set]".to_owned(),
                _ if is_unusable(setting.name()) => "[unusable]".to_owned(),
                Some(key) => key.mask_text(text.to_owned()),
                None => text.to_owned(),
            },
            origin: origin.to_string(),
        };
        self.values.iter().map(shown).collect()
    }

    /// Returns the flags of the command line, each followed by its value. A value that is the API key is left out.
    pub fn given_flags(&self) -> Vec<String> {
        let key = self.values.text(API_KEY);
        let text = |setting: &Setting| self.values.text(setting.name());
        let is_given = |setting: &&Setting| self.values.is_flag(setting.name()) && text(setting) != key;
        let words = |setting: &Setting| {
            let value = text(setting).filter(|_| !setting.is_switch()).map(str::to_owned);
            [Some(format!("--{}", setting.flag)), value]
        };
        SETTINGS.iter().filter(is_given).flat_map(words).flatten().collect()
    }

    /// Returns the usable values, and the defaults of the others.
    pub fn server(&self) -> &ServerSettings {
        &self.server
    }

    pub(crate) fn upload_timing(&self) -> &UploadTiming {
        &self.upload_timing
    }

    pub(crate) fn base_url(&self) -> Option<&str> {
        self.values.text(BASE_URL)
    }

    /// Returns what a user should know about an address of the main API that is not complete.
    pub(crate) fn address_note(&self) -> Option<String> {
        let (text, url) = (self.base_url()?, self.server().base_url.as_ref()?);
        let is_completed = complete_address(text, true) != text;
        is_completed.then(|| format!("note: the address `{text}` is read as {}", url.as_str()))
    }

    pub(crate) fn names_knowledge_host(&self) -> bool {
        self.values.contains(KNOWLEDGE_URL)
    }

    /// Returns the name of the profile that is used or wanted. The profile may not exist.
    pub(crate) fn profile(&self) -> Option<&str> {
        self.values.text(PROFILE)
    }

    /// Returns what chooses the profile, if there is one.
    pub(crate) fn profile_origin(&self) -> Option<&Origin> {
        self.values.origin(PROFILE)
    }

    /// Returns the account whose stored key is used: it has the name of the profile.
    pub(crate) fn account(&self) -> &str {
        self.profile().unwrap_or(FIRST_PROFILE)
    }

    pub(crate) fn has_key(&self) -> bool {
        self.values.key_setting().is_some()
    }

    /// Returns the origin of a key that is used in place of the stored key of the account.
    pub(crate) fn key_origin_before_account(&self) -> Option<String> {
        Some(self.values.origin(self.values.key_setting()?)?.to_string())
    }

    /// Returns where the API key comes from.
    pub fn key_origin(&self) -> Option<String> {
        let account = || self.accounts.as_ref().map(|_| format!("the account {}", self.account()));
        self.key_origin_before_account().or_else(account)
    }

    /// Returns whether the server uses an embedded sandbox.
    pub fn wants_sandbox(&self) -> bool {
        self.server().sandbox == Some(true)
    }

    /// Returns the project of project scope; `None` in global scope.
    pub fn project(&self) -> Option<&str> {
        self.server().project.as_deref()
    }

    /// Returns whether only tools that change nothing are offered. A value that is neither yes nor no means so, too: a typing
    /// error does not permit changes.
    fn is_read_only(&self) -> bool {
        self.server().read_only.unwrap_or_else(|| self.values.contains(READ_ONLY))
    }

    /// Returns the tools that are offered. If the setting cannot be parsed, the default tools are offered;
    /// [`Self::tools_config`] reports the problem.
    pub fn selection(&self) -> Selection {
        let selection = self.server().toolsets.clone();
        if self.is_read_only() { selection.read_only() } else { selection }
    }

    pub(crate) fn has_http_values(&self) -> bool {
        HTTP_SETTINGS.iter().any(|setting| self.values.contains(setting.name()))
    }
}

/// Returns the absolute form of `path`, which is relative to `directory`: the same file in every working directory.
fn absolute(directory: &Path, path: &str) -> Result<String, Failure> {
    let path = directory.join(path);
    let text = path.to_str().map(str::to_owned);

    text.ok_or_else(|| {
        let message = format!("the path {} is not Unicode", path.display());
        Failure::new(Code::FileError, message).hint("name a directory with `--files-root`")
    })
}
