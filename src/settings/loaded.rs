//! The settings of this process.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::ArgMatches;
use serde::Serialize;

use super::{
    configs::{self, DEFAULT_MAX_REPLY_CHARS, DEFAULT_TMSYS_NAME, ParsedSettings, Purpose},
    definitions::{
        API_KEY, API_KEY_COMMAND, API_KEY_FILE, BASE_URL, CA_FILE, FIRST_PROFILE, KNOWLEDGE_URL, LOG,
        LOG_FORMAT, MAX_REPLY_CHARS, PROFILE, PROJECT_ID, PROJECTS, READ_ONLY, SANDBOX, SETTINGS, TMSYS_NAME,
        TOOLSETS,
    },
    file_values::add_file_values,
    http::{HttpSettings, exposes_key},
    http_definitions::HTTP_SETTINGS,
    parse,
    parser::looks_like_key,
    problem::{cannot_start, not_configured},
    profile_settings::profile_settings,
    project_file::RunDefaults,
    setting::Setting,
    setting_files::SettingFiles,
    traces::collector_setting,
    user_directories::UserDirectories,
    values::{Origin, Values},
};
use crate::{
    client::{ApiKey, KeyKind, KeyStore},
    failure::{Code, Failure},
    text::placeholder,
    tools::{
        config::ToolsConfig,
        selection::Selection,
        upload::{
            UploadTiming,
            provenance::{self, CiJob},
        },
    },
};

/// The settings as they were given. A value is parsed when it is used.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub(super) values: Values,
    ci_job: Option<CiJob>,
    upload_timing: UploadTiming,
    /// The keys that `tas-mcp login` has stored. They serve if no setting names a key.
    accounts: Option<KeyStore>,
    run_defaults: Option<(RunDefaults, PathBuf)>,
    /// Why the project file does not count, although it exists.
    ignored_project_file: Option<String>,
}

/// What chooses a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileChooser {
    /// A flag of this process.
    Flag,
    /// A variable.
    Variable,
    /// The project file of the repository, which may come from a stranger.
    ProjectFile,
    /// The configuration file of the user, by default.
    ConfigurationFile,
}

/// A setting that is set, as `doctor` shows it.
#[derive(Debug, Serialize)]
pub struct SettingValue {
    /// Name of the setting.
    pub setting: &'static str,
    /// The value; `[set]` for a secret, `[unusable]` for a value that cannot be parsed.
    pub value: String,
    /// Origin of the value.
    pub origin: String,
    /// Whether a profile provides the value.
    #[serde(skip)]
    pub is_in_profile: bool,
}

impl Settings {
    /// Reads the settings from the command line, the environment and the files of settings. A flag overrides a variable, and a
    /// variable overrides a file. If none of them names a key, the stored key of the account serves.
    pub fn read(matches: Option<&ArgMatches>) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
        let settings = Self::from_sources(matches, |variable| std::env::var_os(variable));
        let accounts = UserDirectories::read().map(|directories| KeyStore::in_directory(&directories.own()));

        Self { accounts, ..settings }.with_files(&SettingFiles::of_process())
    }

    /// Reads the settings from the command line and from `variable`, which returns the value of an environment
    /// variable. Reads no file.
    pub fn from_sources<'a, T: Into<OsString>>(
        matches: impl Into<Option<&'a ArgMatches>>,
        variable: impl Fn(&str) -> Option<T>,
    ) -> Self {
        let variable = |name: &str| variable(name).map(Into::into);
        Self {
            ci_job: provenance::detect_ci_job(|name| variable(name)?.into_string().ok()),
            values: Values::from_sources(matches.into(), variable),
            upload_timing: UploadTiming::default(),
            accounts: None,
            run_defaults: None,
            ignored_project_file: None,
        }
    }

    /// Adds the values of these files. The sandbox uses none of them.
    #[must_use]
    pub fn with_files(mut self, files: &SettingFiles) -> Self {
        if self.wants_sandbox() {
            return self;
        }

        let files = files.read();
        add_file_values(&mut self.values, &files);
        self.run_defaults = Some((files.project.run, files.project_path));
        self.ignored_project_file = files.ignored_project;

        self
    }

    /// Replaces the pauses and time limits of uploads.
    #[must_use]
    pub fn with_upload_timing(self, upload_timing: UploadTiming) -> Self {
        Self { upload_timing, ..self }
    }

    /// Returns the pauses and time limits of uploads.
    pub fn upload_timing(&self) -> &UploadTiming {
        &self.upload_timing
    }

    /// Returns the same settings with the address and the key of an account, in place of any other key.
    #[must_use]
    pub fn with_account(&self, base_url: &str, key: &str) -> Self {
        let mut settings = self.clone();
        settings.values.set(&BASE_URL, base_url, Origin::Login);
        settings.values.set(&API_KEY, key, Origin::Login);
        settings.values.remove(&API_KEY_FILE);
        settings.values.remove(&API_KEY_COMMAND);
        // The profile may not exist yet.
        settings.values.remove(&PROFILE);

        // A new project key may belong to another project than the one in the file. With an organization key the project of
        // the file stays, because the service has no request for the projects of such a key.
        let is_of_project = ApiKey::parse(key).is_ok_and(|key| key.kind() == KeyKind::Project);
        if is_of_project && settings.values.origin(&PROJECT_ID).is_some_and(Origin::is_file) {
            settings.values.remove(&PROJECT_ID);
        }

        settings
    }

    /// Returns what the profile of an account contains: the address, the project, and the settings of the flags of this
    /// process. Each has its word and its text.
    pub fn account_values(&self, project: Option<&str>) -> Vec<(String, String)> {
        let mut values = Vec::new();
        for setting in profile_settings() {
            let is_given = matches!(self.values.origin(setting), Some(Origin::Flag(_) | Origin::Login));
            let text = match setting.name() {
                name if name == PROJECT_ID.name() => project,
                _ => self.values.text(setting).filter(|_| is_given),
            };
            values.extend(text.map(|text| (setting.word(), text.to_owned())));
        }

        values
    }

    /// Returns the account whose stored key is used: it has the name of the profile.
    pub fn account(&self) -> &str {
        self.profile().unwrap_or(FIRST_PROFILE)
    }

    /// Returns the address of the main API as text, if it is set.
    pub fn base_url(&self) -> Option<&str> {
        self.values.text(&BASE_URL)
    }

    /// Returns the origin of a key that is used in place of the stored key of the account.
    pub fn key_origin_before_account(&self) -> Option<String> {
        let origin = self.values.origin(self.values.key_setting()?)?;
        Some(origin.to_string())
    }

    /// Replaces the URLs and the key by those of an embedded sandbox. Nothing of the real service is used.
    pub fn use_sandbox(&mut self, base_url: &str, knowledge_url: &str, key: &str) {
        self.values.set(&BASE_URL, base_url, Origin::Sandbox);
        self.values.set(&KNOWLEDGE_URL, knowledge_url, Origin::Sandbox);
        self.values.set(&API_KEY, key, Origin::Sandbox);
        self.values.remove(&API_KEY_FILE);
        self.values.remove(&CA_FILE);
    }

    /// Returns the settings that are set, with their origins. Secrets are not shown. A value that cannot be parsed
    /// is not shown either, because it may be a key that was given as the value of another setting.
    pub fn shown_values(&self) -> Vec<SettingValue> {
        let purpose = if self.has_http_values() { Purpose::Http } else { Purpose::OneCaller };
        let parsed = self.parse(purpose);
        let is_unusable = |name: &str| {
            let mut problems = parsed.problems.iter().chain(&parsed.limited_problems);
            problems.any(|problem| problem.setting == name)
        };

        let is_secret = |name: &str| {
            let mut secrets = SETTINGS.iter().chain(&HTTP_SETTINGS).filter(|setting| setting.is_secret());
            secrets.any(|setting| setting.name() == name)
        };

        let values = self.values.iter().map(|(setting, text, origin)| {
            let value = match setting {
                _ if is_secret(setting) => "[set]".to_owned(),
                _ if is_unusable(setting) => "[unusable]".to_owned(),
                _ if setting == API_KEY_COMMAND.name() => shown_command(text),
                _ => text.to_owned(),
            };
            let is_in_profile = matches!(origin, Origin::Profile { .. });
            SettingValue { setting, value, origin: origin.to_string(), is_in_profile }
        });

        values.collect()
    }

    /// Returns the name of the profile that is used or wanted. The profile may not exist.
    pub fn profile(&self) -> Option<&str> {
        self.values.text(&PROFILE)
    }

    /// Returns what chooses the profile, if there is one.
    pub fn profile_chooser(&self) -> Option<ProfileChooser> {
        match self.values.origin(&PROFILE)? {
            Origin::ProjectFile(_) => Some(ProfileChooser::ProjectFile),
            Origin::ConfigurationFile(_) => Some(ProfileChooser::ConfigurationFile),
            Origin::Flag(_) => Some(ProfileChooser::Flag),
            _ => Some(ProfileChooser::Variable),
        }
    }

    /// Returns the defaults of `tas-mcp run`, with the path of the project file that contains them.
    pub fn run_defaults(&self) -> Option<(&RunDefaults, &Path)> {
        self.run_defaults.as_ref().map(|(defaults, path)| (defaults, path.as_path()))
    }

    /// Returns why the project file does not count, although it exists.
    pub fn ignored_project_file(&self) -> Option<&str> {
        self.ignored_project_file.as_deref()
    }

    /// Returns where the API key comes from.
    pub fn key_origin(&self) -> Option<String> {
        let account = || self.accounts.as_ref().map(|_| format!("the account {}", self.account()));
        self.key_origin_before_account().or_else(account)
    }

    /// Returns the flags of the command line, each followed by its value. A value that is the API key is left out.
    pub fn given_flags(&self) -> Vec<String> {
        let key = self.values.text(&API_KEY);
        let given = SETTINGS.iter().filter(|setting| {
            let is_flag = matches!(self.values.origin(setting), Some(Origin::Flag(_)));
            is_flag && self.values.text(setting) != key
        });

        let words = given.flat_map(|setting| {
            let value = self.values.text(setting).filter(|_| !setting.is_switch());
            std::iter::once(format!("--{}", setting.flag)).chain(value.map(str::to_owned))
        });
        words.collect()
    }

    /// Returns the projects in which ids are looked up with an organization key.
    pub fn listed_projects(&self) -> Vec<String> {
        let listed = self.values.text(&PROJECTS).and_then(|text| parse::project_ids(text).ok());
        listed.unwrap_or_default().into_iter().filter(|project| !looks_like_key(project)).collect()
    }

    /// Returns whether the server uses an embedded sandbox.
    pub fn wants_sandbox(&self) -> bool {
        self.values.contains(&SANDBOX)
    }

    /// Returns the log filter.
    pub fn log(&self) -> &str {
        self.values.text(&LOG).unwrap_or(LOG.default)
    }

    /// Returns whether the lines of the log are JSON.
    pub fn logs_json(&self) -> bool {
        self.values.text(&LOG_FORMAT).is_some_and(|text| parse::is_json(text).unwrap_or_default())
    }

    /// Returns the word of the deployment for the test-management system.
    pub fn tmsys_name(&self) -> &str {
        self.values.text(&TMSYS_NAME).unwrap_or(DEFAULT_TMSYS_NAME)
    }

    /// Returns the maximum length of a reply, in characters.
    pub fn max_reply_chars(&self) -> usize {
        let text = self.values.text(&MAX_REPLY_CHARS);
        text.and_then(|text| parse::max_reply_chars(text).ok()).unwrap_or(DEFAULT_MAX_REPLY_CHARS)
    }

    /// Returns the project of project scope; `None` in global scope.
    pub fn project(&self) -> Option<&str> {
        let is_usable = |value: &&str| placeholder(value).is_none() && !looks_like_key(value);
        self.values.text(&PROJECT_ID).filter(is_usable)
    }

    /// Returns the tools that are offered. If the setting cannot be parsed, the default tools are offered;
    /// [`Self::tools_config`] reports the problem.
    pub fn selection(&self) -> Selection {
        // A value that is neither yes nor no means read-only, so that a typing error does not permit changes.
        let read_only = self.values.text(&READ_ONLY).is_some_and(|text| parse::boolean(text).unwrap_or(true));
        let words = self.values.text(&TOOLSETS).unwrap_or("default");

        Selection::parse(words, read_only).unwrap_or_else(|_| Selection::default_tools(read_only))
    }

    /// Returns the configuration of the tools and of the layers below them.
    ///
    /// # Errors
    /// One `not_configured` failure that lists every problem.
    pub fn tools_config(&self) -> Result<ToolsConfig, Failure> {
        let parsed = self.parse_for_one_caller();
        parsed.config.ok_or_else(|| not_configured(&parsed.problems))
    }

    /// Returns the configuration of the HTTP server and of the tools that it offers.
    ///
    /// # Errors
    /// One `not_configured` failure that lists every problem.
    pub fn http_config(&self) -> Result<(HttpSettings, ToolsConfig), Failure> {
        let parsed = self.parse(Purpose::Http);
        let (Some(http), Some(config)) = (parsed.http, parsed.config) else {
            return Err(cannot_start(&parsed.problems));
        };

        if exposes_key(&self.values, &http) {
            let message = "the API key of the settings would serve everybody who reaches the server: remove the key, so that each client sends its own, or listen on a loopback address without a public URL";
            return Err(Failure::new(Code::NotConfigured, message));
        }

        Ok((http, config))
    }

    /// Returns whether a setting of the HTTP server is set. The variables of OpenTelemetry are for all programs of a machine,
    /// and do not count.
    pub fn has_http_values(&self) -> bool {
        let mut own = HTTP_SETTINGS.iter().filter(|setting| setting.variable.starts_with("TAS_"));
        own.any(|setting| self.values.contains(setting))
    }

    /// Returns the variable that names a collector of traces. It has no effect if the program was built without the feature
    /// `otlp`.
    pub fn collector_variable(&self) -> Option<&'static str> {
        collector_setting(&self.values).map(Setting::name)
    }

    /// Returns whether the settings contain an API key.
    pub fn has_key(&self) -> bool {
        self.values.key_setting().is_some()
    }

    /// Returns what the values result in for the calls of one caller.
    pub(super) fn parse_for_one_caller(&self) -> ParsedSettings {
        self.parse(Purpose::OneCaller)
    }

    fn parse(&self, purpose: Purpose) -> ParsedSettings {
        let accounts = self.accounts.as_ref();
        configs::parse_settings(&self.values, self.ci_job.as_ref(), &self.upload_timing, purpose, accounts)
    }
}

/// Returns the program of the command that prints the key. Its arguments could be secret, and so could a single word.
fn shown_command(text: &str) -> String {
    let program = text.split_once(char::is_whitespace).map(|(program, _)| format!("{program} …"));
    program.unwrap_or("[set]".to_owned())
}

#[cfg(test)]
mod tests;
