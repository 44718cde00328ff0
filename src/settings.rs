//! The settings as they were found, and what they come to. The only place that reads the environment.
//!
//! Settings are text until they are used: an unusable one does not stop the server, since hosts show that only as
//! "failed to connect". [`Settings::tools_config`] says everything that is wrong at once.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use clap::ArgMatches;

mod problems;
mod setting;
mod values;

pub use problems::PROBLEMS;
pub use setting::{SETTINGS, Setting, flags};
pub use values::log_filter;

use self::{
    problems::{Problems, placeholder},
    setting::{
        API_KEY, API_KEY_FILE, BASE_URL, CA_FILE, CONFIRM, FILES_ROOT, KNOWLEDGE_URL, LOG, MAX_REPLY_CHARS,
        PROJECT_ID, PROJECTS, READ_ONLY, SANDBOX, STATE_DIR, TIMEOUT_S, TMSYS_NAME, TOOLSETS, name,
    },
};
use crate::{
    call::config::CallConfig,
    client::{ClientConfig, HostUrl},
    failure::Failure,
    tools::{
        config::ToolsConfig,
        files::FilesRoot,
        selection::Selection,
        upload::{
            FilesConfig, UploadTiming,
            provenance::{self, CiJob},
        },
    },
};

/// Default limit of one request.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest reply of a tool, in characters: hosts cut or refuse more.
const DEFAULT_MAX_REPLY_CHARS: usize = 20_000;

/// The settings as they were found, not yet judged.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    found: BTreeMap<&'static str, Found>,
    job: Option<CiJob>,
    upload_timing: UploadTiming,
}

/// A value and where it came from.
#[derive(Clone)]
struct Found {
    value: String,
    origin: String,
}

impl std::fmt::Debug for Found {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // One of the values is the key.
        formatter.debug_struct("Found").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl Settings {
    /// Takes the settings from the command line and the environment; a flag beats a variable.
    pub fn read(matches: &ArgMatches) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
        Self::from_sources(matches, |variable| std::env::var(variable).ok())
    }

    /// Takes the settings from the command line and from `variable`, which looks a variable up.
    pub fn from_sources(matches: &ArgMatches, variable: impl Fn(&str) -> Option<String>) -> Self {
        let mut settings = Self { job: provenance::detect_ci_job(&variable), ..Self::default() };
        for setting in SETTINGS {
            let flag = match setting.flag {
                "" => None,
                flag if setting.value.is_empty() => matches.get_flag(flag).then(|| "true".to_owned()),
                flag => matches.get_one::<String>(flag).cloned(),
            };
            let is_filled = |value: &String| !value.trim().is_empty();
            let from_flag = flag.filter(is_filled).map(|value| (value, format!("flag --{}", setting.flag)));
            let from_variable = || {
                let value = variable(setting.variable).filter(is_filled)?;
                Some((value, format!("variable {}", setting.variable)))
            };

            if let Some((value, origin)) = from_flag.or_else(from_variable) {
                let found = Found { value, origin };
                settings.found.insert(name(setting), found);
            }
        }

        settings
    }

    /// The same with uploads of another patience.
    #[must_use]
    pub fn with_upload_timing(self, upload_timing: UploadTiming) -> Self {
        Self { upload_timing, ..self }
    }

    /// How patient uploads are.
    pub fn upload_timing(&self) -> &UploadTiming {
        &self.upload_timing
    }

    /// Sets what is not set yet, naming where the value comes from.
    fn default_to(&mut self, setting: &'static Setting, value: &str, origin: &str) {
        let default = || Found { value: value.to_owned(), origin: origin.to_owned() };
        self.found.entry(name(setting)).or_insert_with(default);
    }

    /// Points the settings at an embedded sandbox: its addresses always, its key unless another one is set.
    pub fn use_sandbox(&mut self, base_url: &str, knowledge_url: &str, key: &str) {
        for (setting, url) in [(&BASE_URL, base_url), (&KNOWLEDGE_URL, knowledge_url)] {
            self.found.remove(name(setting));
            self.default_to(setting, url, "the embedded sandbox");
        }
        if !self.found.contains_key(name(&API_KEY_FILE)) {
            self.default_to(&API_KEY, key, "the embedded sandbox");
        }
    }

    /// What is set: name, value and where it came from. The key is not shown, nor an unusable value: it may be a key in
    /// the wrong place.
    pub fn found(&self) -> Vec<(&'static str, &str, &str)> {
        let failure = self.tools_config().err();
        let problems = failure.as_ref().and_then(|failure| failure.details.get(PROBLEMS)?.as_array());
        let is_unusable = |name: &str| {
            problems.is_some_and(|all| {
                all.iter().any(|one| one.get("setting").is_some_and(|known| known == name))
            })
        };
        let hidden = |name: &str| match name {
            _ if name == API_KEY.variable => Some("[set]"),
            _ if is_unusable(name) => Some("[unusable]"),
            _ => None,
        };
        let shown = self.found.iter();
        let shown = shown.map(|(name, found)| {
            (*name, hidden(name).unwrap_or_else(|| found.value.trim()), found.origin.as_str())
        });

        shown.collect()
    }

    /// Projects that an organization key may look in.
    pub fn listed_projects(&self) -> Vec<String> {
        self.text(&PROJECTS).and_then(|text| values::project_ids(text).ok()).unwrap_or_default()
    }

    /// Whether an embedded sandbox is asked for.
    pub fn wants_sandbox(&self) -> bool {
        self.found.contains_key(name(&SANDBOX))
    }

    /// Log filter.
    pub fn log(&self) -> &str {
        self.text(&LOG).unwrap_or("warn")
    }

    /// The deployment's word for the test-management system.
    pub fn tmsys_name(&self) -> &str {
        self.text(&TMSYS_NAME).unwrap_or("tmsys")
    }

    /// Longest reply of a tool, in characters.
    pub fn max_reply_chars(&self) -> usize {
        let set = self.text(&MAX_REPLY_CHARS).and_then(|text| values::max_reply_chars(text).ok());
        set.unwrap_or(DEFAULT_MAX_REPLY_CHARS)
    }

    /// Project of project scope, if any.
    pub fn project(&self) -> Option<&str> {
        self.text(&PROJECT_ID).filter(|value| placeholder(value).is_none())
    }

    /// Which tools are offered. A selection that cannot be trusted is reported by [`Settings::tools_config`].
    pub fn selection(&self) -> Selection {
        let read_only = self.read_only().unwrap_or(true);
        let words = self.text(&TOOLSETS).unwrap_or("default");
        Selection::parse(words, read_only).unwrap_or_else(|_| Selection::default_tools(read_only))
    }

    /// Everything that is needed to send requests, or everything that is wrong.
    pub fn tools_config(&self) -> Result<ToolsConfig, Failure> {
        let mut problems = Problems::of(self);
        let base_url = problems.required(&BASE_URL, HostUrl::main);
        let knowledge_url = problems.optional(&KNOWLEDGE_URL, HostUrl::parse);
        let key = problems.key();
        let project = problems.optional(&PROJECT_ID, values::project_id);
        let projects = problems.optional(&PROJECTS, values::project_ids).unwrap_or_default();
        let files_root = problems.optional(&FILES_ROOT, |path| FilesRoot::new(path.as_ref()));
        let state = problems.optional(&STATE_DIR, |path| Ok(PathBuf::from(path))).or_else(state_directory);
        let ca_file = problems.optional(&CA_FILE, values::readable_certificates);
        let tmsys_name =
            problems.optional(&TMSYS_NAME, values::tmsys_name).unwrap_or_else(|| "tmsys".to_owned());
        let timeout = problems.optional(&TIMEOUT_S, values::timeout).unwrap_or(DEFAULT_TIMEOUT);
        let asks_first = problems.optional(&CONFIRM, values::asks_first).unwrap_or(true);

        problems.optional(&MAX_REPLY_CHARS, values::max_reply_chars);
        problems.optional(&LOG, |text| log_filter(text).map(drop));
        problems
            .optional(&TOOLSETS, |words| Selection::parse(words, false).map_err(|error| error.to_string()));

        let read_only = problems.optional(&READ_ONLY, values::boolean).unwrap_or(false);
        match (base_url, key) {
            (Some(base_url), Some(key)) if problems.is_empty() => Ok(ToolsConfig {
                call: CallConfig {
                    client: ClientConfig { base_url, knowledge_url, key, ca_file: ca_file.clone(), timeout },
                    project,
                    projects,
                    tmsys_name,
                    max_reply_chars: self.max_reply_chars(),
                    asks_first,
                    read_only,
                },
                files: FilesConfig {
                    root: files_root,
                    state,
                    ca_file,
                    job: self.job.clone(),
                    timing: self.upload_timing.clone(),
                },
            }),
            (_, key) => Err(problems.into_failure(key.and_then(|key| key.key().ok()).as_ref())),
        }
    }

    /// `None` when it is set to something that is neither yes nor no.
    fn read_only(&self) -> Option<bool> {
        self.text(&READ_ONLY).map_or(Some(false), |text| values::boolean(text).ok())
    }

    fn text(&self, setting: &Setting) -> Option<&str> {
        self.found.get(name(setting)).map(|found| found.value.trim())
    }
}

/// Where programs of the user keep what they want to find again.
fn state_directory() -> Option<PathBuf> {
    dirs::state_dir().or_else(dirs::data_local_dir).map(|directory| directory.join("tas-mcp"))
}
