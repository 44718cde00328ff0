//! Every setting: flag, variable, meaning, default. The only place that reads the environment.
//!
//! Settings are text until they are used: an unusable one does not stop the server, since hosts show that only as
//! "failed to connect". [`Settings::connection`] says everything that is wrong at once.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use clap::{Arg, ArgAction, ArgMatches};

mod address;
mod key;
mod problems;
mod selection;

pub use address::{HostUrl, is_loopback, is_safe};
pub use key::{ApiKey, KeyKind, KeySource, Secret};
pub use selection::{Selection, UnknownWord, read_only_refusal};

use self::problems::{Problems, placeholder};
use crate::{
    failure::Failure,
    files::FilesRoot,
    upload::{
        Pace,
        provenance::{self, Job},
    },
    wire::encoded,
};

/// A setting, as people set it.
#[derive(Debug)]
pub struct Setting {
    /// Environment variable; empty where there is only a flag.
    pub variable: &'static str,
    /// Command-line flag without dashes; empty for secrets, which are never flags.
    pub flag: &'static str,
    /// Placeholder of the value; empty for a switch.
    pub value: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

const BASE_URL: Setting = Setting {
    variable: "TAS_BASE_URL",
    flag: "base-url",
    value: "URL",
    meaning: "Main API, ending in /api/v1. No default outside the sandbox",
};
const KNOWLEDGE_URL: Setting = Setting {
    variable: "TAS_KNOWLEDGE_URL",
    flag: "knowledge-url",
    value: "URL",
    meaning: "Host of knowledge files and run artifacts; only their tools need it",
};
const API_KEY: Setting = Setting {
    variable: "TAS_API_KEY",
    flag: "",
    value: "KEY",
    meaning: "API key of a project or an organization",
};
const API_KEY_FILE: Setting = Setting {
    variable: "TAS_API_KEY_FILE",
    flag: "api-key-file",
    value: "FILE",
    meaning: "File with the API key; read again when it changes, so that a rotated key needs no restart",
};
const PROJECT_ID: Setting = Setting {
    variable: "TAS_PROJECT_ID",
    flag: "project",
    value: "ID",
    meaning: "Project scope: every call goes to this project. Unset: global scope",
};
const PROJECTS: Setting = Setting {
    variable: "TAS_PROJECTS",
    flag: "projects",
    value: "IDS",
    meaning: "Comma-separated projects that an organization key may look in (global scope)",
};
const TOOLSETS: Setting = Setting {
    variable: "TAS_TOOLSETS",
    flag: "toolsets",
    value: "WORDS",
    meaning: "Tools to offer: `default`, `all`, sets, tools, each excluded by a leading `-`, comma-separated. Default: the core tools",
};
const READ_ONLY: Setting = Setting {
    variable: "TAS_READ_ONLY",
    flag: "read-only",
    value: "",
    meaning: "Offer only tools that change nothing, and hold `call`, `run` and `upload` to it; beats every other selection",
};
const FILES_ROOT: Setting = Setting {
    variable: "TAS_FILES_ROOT",
    flag: "files-root",
    value: "DIR",
    meaning: "The only directory from which files are uploaded and into which they are saved. Default: the working directory; for `upload` and `download` on the command line, anywhere",
};
const STATE_DIR: Setting = Setting {
    variable: "TAS_STATE_DIR",
    flag: "state-dir",
    value: "DIR",
    meaning: "Where unfinished uploads are noted, so that they can go on after an end. Default: the user's state directory",
};
const CA_FILE: Setting = Setting {
    variable: "TAS_CA_FILE",
    flag: "ca-file",
    value: "FILE",
    meaning: "Certificates (PEM) to trust in addition to the system's",
};
const TMSYS_NAME: Setting = Setting {
    variable: "TAS_TMSYS_NAME",
    flag: "tmsys-name",
    value: "WORD",
    meaning: "Word that the deployment uses for the test-management system in paths and fields. Default: tmsys",
};
const CONFIRM: Setting = Setting {
    variable: "TAS_CONFIRM",
    flag: "confirm",
    value: "WORD",
    meaning: "`ask`: costly or irreversible calls need a person's yes; `never`: they do not, for unattended use. Default: ask",
};
const MAX_REPLY_CHARS: Setting = Setting {
    variable: "TAS_MAX_REPLY_CHARS",
    flag: "max-reply-chars",
    value: "NUMBER",
    meaning: "Longest reply of a tool, in characters, 2000 to 1000000; what does not fit is cut and said under `truncated`. Default: 20000",
};
const TIMEOUT_S: Setting = Setting {
    variable: "TAS_TIMEOUT_S",
    flag: "timeout-s",
    value: "SECONDS",
    meaning: "Limit of one request, 1 to 45 seconds. Default: 30",
};
const LOG: Setting = Setting {
    variable: "TAS_LOG",
    flag: "log",
    value: "FILTER",
    meaning: "Log filter, such as `info` or `tas_mcp=debug`; logs go to standard error only. Default: warn",
};
const SANDBOX: Setting = Setting {
    variable: "",
    flag: "sandbox",
    value: "",
    meaning: "Serve against an embedded sandbox of the service; needs no other setting",
};

/// Every setting, in the order of the documentation.
pub const SETTINGS: [&Setting; 17] = [
    &BASE_URL,
    &KNOWLEDGE_URL,
    &API_KEY,
    &API_KEY_FILE,
    &PROJECT_ID,
    &PROJECTS,
    &TOOLSETS,
    &READ_ONLY,
    &FILES_ROOT,
    &STATE_DIR,
    &CA_FILE,
    &TMSYS_NAME,
    &CONFIRM,
    &MAX_REPLY_CHARS,
    &TIMEOUT_S,
    &LOG,
    &SANDBOX,
];

/// Default limit of one request.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest reply of a tool, in characters: hosts cut or refuse more.
const DEFAULT_MAX_REPLY_CHARS: usize = 20_000;

/// Longest limit of one request, in seconds: hosts give up a call after 60.
const LONGEST_TIMEOUT_S: u64 = 45;

/// The settings as they were found, not yet judged.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    found: BTreeMap<&'static str, Found>,
    job: Option<Job>,
    pace: Pace,
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

/// What is needed to send requests.
#[derive(Debug)]
pub struct Connection {
    /// Main API.
    pub base_url: HostUrl,
    /// Host of knowledge files and artifacts, where it is set.
    pub knowledge_url: Option<HostUrl>,
    /// Where the key comes from.
    pub key: KeySource,
    /// Project scope, or `None` for global scope.
    pub project: Option<String>,
    /// Projects that an organization key may look in.
    pub projects: Vec<String>,
    /// The files root, where one is set.
    pub files_root: Option<FilesRoot>,
    /// Where unfinished uploads are noted.
    pub state: Option<PathBuf>,
    /// The CI job that we are a part of.
    pub job: Option<Job>,
    /// How patient uploads are.
    pub pace: Pace,
    /// Certificates to trust in addition.
    pub ca_file: Option<PathBuf>,
    /// The deployment's word for the test-management system.
    pub tmsys_name: String,
    /// Whether costly calls need a person's yes.
    pub asks_first: bool,
    /// Whether calls that change anything are refused.
    pub read_only: bool,
    /// Limit of one request.
    pub timeout: Duration,
}

impl Connection {
    /// Origins of the hosts that answer with records and files, each once.
    pub fn origins(&self) -> Vec<String> {
        let hosts = [Some(&self.base_url), self.knowledge_url.as_ref()].into_iter().flatten();
        let mut origins: Vec<_> = hosts.map(HostUrl::origin).collect();
        origins.dedup();
        origins
    }
}

/// The flags of all settings, for the command line.
pub fn flags() -> impl Iterator<Item = Arg> {
    SETTINGS.iter().filter(|setting| !setting.flag.is_empty()).map(|setting| {
        let arg = Arg::new(setting.flag).long(setting.flag).global(true).help_heading("Settings");
        let help = match setting.variable {
            "" => setting.meaning.to_owned(),
            variable => format!("{} [{variable}]", setting.meaning),
        };
        if setting.value.is_empty() {
            arg.action(ArgAction::SetTrue).help(help)
        } else {
            arg.value_name(setting.value).help(help)
        }
    })
}

impl Settings {
    /// Takes the settings from the command line and the environment; a flag beats a variable.
    pub fn read(matches: &ArgMatches) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
        Self::from_sources(matches, |variable| std::env::var(variable).ok())
    }

    /// Takes the settings from the command line and from `variable`, which looks a variable up.
    pub fn from_sources(matches: &ArgMatches, variable: impl Fn(&str) -> Option<String>) -> Self {
        let mut settings = Self { job: provenance::job(&variable), ..Self::default() };
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
    pub fn with_pace(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    /// How patient uploads are.
    pub fn pace(&self) -> &Pace {
        &self.pace
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
        let failure = self.connection().err();
        let problems = failure.as_ref().and_then(|failure| failure.details.get("problems")?.as_array());
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
        self.text(&PROJECTS).and_then(|text| project_ids(text).ok()).unwrap_or_default()
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
        let set = self.text(&MAX_REPLY_CHARS).and_then(|text| max_reply_chars(text).ok());
        set.unwrap_or(DEFAULT_MAX_REPLY_CHARS)
    }

    /// Project of project scope, if any.
    pub fn project(&self) -> Option<&str> {
        self.text(&PROJECT_ID).filter(|value| placeholder(value).is_none())
    }

    /// Which tools are offered. A selection that cannot be trusted is reported by [`Settings::connection`].
    pub fn selection(&self) -> Selection {
        let read_only = self.read_only().unwrap_or(true);
        let words = self.text(&TOOLSETS).unwrap_or("default");
        Selection::parse(words, read_only).unwrap_or_else(|_| Selection::default_tools(read_only))
    }

    /// Everything that is needed to send requests, or everything that is wrong.
    pub fn connection(&self) -> Result<Connection, Failure> {
        let mut problems = Problems::of(self);
        let base_url = problems.required(&BASE_URL, HostUrl::main);
        let knowledge_url = problems.optional(&KNOWLEDGE_URL, HostUrl::parse);
        let key = problems.key();
        let project = problems.optional(&PROJECT_ID, project_id);
        let projects = problems.optional(&PROJECTS, project_ids).unwrap_or_default();
        let files_root = problems.optional(&FILES_ROOT, |path| FilesRoot::new(path.as_ref()));
        let state = problems.optional(&STATE_DIR, |path| Ok(PathBuf::from(path))).or_else(state_directory);
        let ca_file = problems.optional(&CA_FILE, readable_certificates);
        let tmsys_name = problems.optional(&TMSYS_NAME, tmsys_name).unwrap_or_else(|| "tmsys".to_owned());
        let timeout = problems.optional(&TIMEOUT_S, timeout).unwrap_or(DEFAULT_TIMEOUT);
        let asks_first = problems.optional(&CONFIRM, asks_first).unwrap_or(true);
        problems.optional(&MAX_REPLY_CHARS, max_reply_chars);
        problems.optional(&LOG, |text| log_filter(text).map(drop));
        problems
            .optional(&TOOLSETS, |words| Selection::parse(words, false).map_err(|error| error.to_string()));
        let read_only = problems.optional(&READ_ONLY, boolean).unwrap_or(false);
        match (base_url, key) {
            (Some(base_url), Some(key)) if problems.is_empty() => Ok(Connection {
                files_root,
                state,
                job: self.job.clone(),
                pace: self.pace.clone(),
                base_url,
                knowledge_url,
                key,
                project,
                projects,
                ca_file,
                tmsys_name,
                asks_first,
                read_only,
                timeout,
            }),
            (_, key) => Err(problems.into_failure(key.and_then(|key| key.key().ok()).as_ref())),
        }
    }

    /// `None` when it is set to something that is neither yes nor no.
    fn read_only(&self) -> Option<bool> {
        self.text(&READ_ONLY).map_or(Some(false), |text| boolean(text).ok())
    }

    fn text(&self, setting: &Setting) -> Option<&str> {
        self.found.get(name(setting)).map(|found| found.value.trim())
    }
}

/// Under which name a setting is kept and reported.
const fn name(setting: &Setting) -> &'static str {
    if setting.variable.is_empty() { setting.flag } else { setting.variable }
}

/// Where programs of the user keep what they want to find again.
fn state_directory() -> Option<PathBuf> {
    dirs::state_dir().or_else(dirs::data_local_dir).map(|directory| directory.join("tas-mcp"))
}

fn project_id(text: &str) -> Result<String, String> {
    if text == "." || text == ".." || encoded(text).len() > 300 {
        return Err("is not a project id".to_owned());
    }
    Ok(text.to_owned())
}

fn project_ids(text: &str) -> Result<Vec<String>, String> {
    text.split(',').map(str::trim).filter(|id| !id.is_empty()).map(project_id).collect()
}

fn readable_certificates(path: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(path);
    crate::client::certificates(&path).map(|_| path)
}

fn tmsys_name(text: &str) -> Result<String, String> {
    let word = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if word { Ok(text.to_owned()) } else { Err("must be lower-case letters, digits and `_` only".to_owned()) }
}

fn timeout(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (1..=LONGEST_TIMEOUT_S).contains(seconds));
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| format!("must be a whole number from 1 to {LONGEST_TIMEOUT_S}"))
}

fn asks_first(text: &str) -> Result<bool, String> {
    match text {
        "ask" => Ok(true),
        "never" => Ok(false),
        _ => Err("must be `ask` or `never`".to_owned()),
    }
}

fn max_reply_chars(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (2_000..=1_000_000).contains(number));
    number.ok_or_else(|| "must be a whole number from 2000 to 1000000".to_owned())
}

fn boolean(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err("must be true or false".to_owned()),
    }
}

/// Parses a log filter.
pub fn log_filter(text: &str) -> Result<tracing_subscriber::filter::Targets, String> {
    text.parse().map_err(|error| format!("is not a log filter: {error}"))
}
