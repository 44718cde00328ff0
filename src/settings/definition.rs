//! The settings of every command, each stated once: variable, flag, help, default and type of the value.
//!
//! clap parses the values into [`ServerSettings`], wherever they come from. The command line itself takes the flags as texts,
//! so that an unusable value is one of several problems, and does not end the process.

use std::{
    any::TypeId,
    borrow::Cow,
    fmt::Display,
    net::IpAddr,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    str::FromStr,
    sync::LazyLock,
    time::Duration,
};

use clap::{
    Arg, Args, Command, ValueEnum, ValueHint,
    builder::{ArgExt, Str},
};
use reqwest::Url;
use tracing_subscriber::filter::Targets;

use crate::{
    client::{HostUrl, KeySource, MAIN_PATH, read_certificates},
    service::request::project_id,
    tools::{files::FilesRoot, selection::Selection},
};

pub(super) const PROFILE: &str = "TAS_PROFILE";
pub(super) const BASE_URL: &str = "TAS_BASE_URL";
pub(super) const KNOWLEDGE_URL: &str = "TAS_KNOWLEDGE_URL";
pub(crate) const API_KEY: &str = "TAS_API_KEY";
pub(crate) const API_KEY_FILE: &str = "TAS_API_KEY_FILE";
pub(crate) const API_KEY_COMMAND: &str = "TAS_API_KEY_COMMAND";
pub(crate) const PROJECT_ID: &str = "TAS_PROJECT_ID";
pub(crate) const TOOLSETS: &str = "TAS_TOOLSETS";
pub(crate) const READ_ONLY: &str = "TAS_READ_ONLY";
pub(crate) const FILES_ROOT: &str = "TAS_FILES_ROOT";
pub(super) const CA_FILE: &str = "TAS_CA_FILE";
pub(super) const CONFIRM: &str = "TAS_CONFIRM";
pub(super) const LOG: &str = "TAS_LOG";

/// Variables that make another process use the same service: its two addresses, and the key.
pub const SERVICE_VARIABLES: [&str; 3] = [BASE_URL, KNOWLEDGE_URL, API_KEY];

/// Flag that logs what happens, and its log filter.
pub(super) const VERBOSE: &str = "verbose";
pub(super) const VERBOSE_FILTER: &str = "tas_mcp=debug,access=info";

/// Name of the profile and of the account that are used if none is chosen.
pub const FIRST_PROFILE: &str = "default";

/// More than one value. The name keeps clap from reading the type as a flag that may be repeated.
pub(super) type List<T> = Vec<T>;

/// The usable values of the settings.
#[derive(Args, Clone, Debug)]
pub struct ServerSettings {
    /// Profile of the configuration file that provides the settings that are not set otherwise. With the flag, the profile
    /// overrides variables
    #[arg(long, env = PROFILE, value_name = "NAME", add = Otherwise("the default profile"))]
    pub profile: Option<String>,

    /// URL of the main API, ending in /api/v1: `tas.example.com` is enough. Required without `--sandbox`
    #[arg(long, env = BASE_URL, value_name = "URL", value_parser = |text: &str| HostUrl::main(&complete_address(text, true)))]
    pub base_url: Option<HostUrl>,

    /// URL of the host that serves knowledge files and run artifacts. Only the tools for them need it
    #[arg(long, env = KNOWLEDGE_URL, value_name = "URL", value_parser = |text: &str| HostUrl::parse(&complete_address(text, false)))]
    pub knowledge_url: Option<HostUrl>,

    /// API key of a project or of an organization
    #[arg(long, env = API_KEY, value_name = "KEY", value_parser = KeySource::fixed, add = Secret)]
    pub api_key: Option<KeySource>,

    /// File that contains the API key. The file is read again when it changes, so a new key needs no restart
    #[arg(long, env = API_KEY_FILE, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(value_parser = |path: &str| KeySource::file(path.into()))]
    pub api_key_file: Option<KeySource>,

    /// Command that prints the API key, such as the client of a password manager. It runs without a shell when a call first
    /// needs the key, and again after 5 minutes or when the service refuses the key
    #[arg(long, env = API_KEY_COMMAND, value_name = "COMMAND", value_parser = KeySource::command, add = Secret)]
    pub api_key_command: Option<KeySource>,

    /// Project of every call (project scope). Without this setting: global scope
    #[arg(long, env = PROJECT_ID, value_name = "ID", value_parser = project_id)]
    pub project: Option<String>,

    /// Comma-separated projects in which ids are looked up with an organization key (global scope)
    #[arg(long, env = "TAS_PROJECTS", value_name = "IDS", value_parser = |text: &str| list(text, project_id), default_value = "")]
    pub projects: List<String>,

    /// Tools to offer: a comma-separated list of `default` (the core tools), `lean` (the few tools of everyday use), `all`,
    /// toolsets and tools; a leading `-` excludes
    #[arg(long, env = TOOLSETS, value_name = "WORDS", default_value = "default")]
    #[arg(value_parser = |words: &str| Selection::parse(words, false))]
    pub toolsets: Selection,

    /// Offer only tools that change nothing. Overrides every other selection, and applies to `call`, `run` and `upload` too
    #[arg(long, env = READ_ONLY, value_parser = boolean)]
    pub read_only: Option<bool>,

    /// The only directory from which files are uploaded and into which files are saved. Without this setting, the commands
    /// `upload` and `download` use any directory
    #[arg(long, env = FILES_ROOT, value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(value_parser = |path: &str| FilesRoot::new(Path::new(path)), add = Otherwise("the working directory"))]
    pub files_root: Option<FilesRoot>,

    /// Directory that records unfinished uploads, so that a new process can resume them
    #[arg(long, env = "TAS_STATE_DIR", value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(add = Otherwise("the user's state directory"))]
    pub state_dir: Option<PathBuf>,

    /// Certificates (PEM) to trust in addition to those of the system
    #[arg(long, env = CA_FILE, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(value_parser = |path: &str| read_certificates(path.as_ref()).map(|_| PathBuf::from(path)))]
    pub ca_file: Option<PathBuf>,

    /// Word for the test-management system in the paths and fields of the deployment
    #[arg(long, env = "TAS_TMSYS_NAME", value_name = "WORD", value_parser = tmsys_name, default_value = "tmsys")]
    pub tmsys_name: String,

    /// `ask`: a person must confirm costly or irreversible calls; `never`: no confirmation, for unattended use
    #[arg(long, env = CONFIRM, value_name = "WORD", value_enum, default_value = "ask")]
    pub(crate) confirm: Confirm,

    /// Maximum length of a tool's reply in characters, 2000 to 1000000. A longer reply is cut, and `truncated` says what is
    /// missing
    #[arg(long, env = "TAS_MAX_REPLY_CHARS", value_name = "NUMBER", value_parser = |text: &str| number(text, 2_000..=1_000_000_usize), default_value = "20000")]
    pub max_reply_chars: usize,

    /// Time limit of one request, 1 to 45 seconds
    // Hosts give up a call after 60 seconds.
    #[arg(long, env = "TAS_TIMEOUT_S", value_name = "SECONDS", default_value = "30")]
    #[arg(value_parser = |text: &str| number(text, 1..=45).map(Duration::from_secs))]
    pub timeout_s: Duration,

    /// Log filter, such as `info` or `tas_mcp=debug`. Logs are written to standard error. `access` and `audit` are the
    /// logs of requests and of writing calls of `tas-mcp http`
    #[arg(long, env = LOG, value_name = "FILTER", default_value = "warn,access=info,audit=info")]
    #[arg(value_parser = |text: &str| text.parse::<Targets>().map_err(|error| format!("is not a log filter: {error}")))]
    pub log: Targets,

    /// `text` or `json`: the form of the lines of the log
    #[arg(long, env = "TAS_LOG_FORMAT", value_name = "WORD", value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,

    /// Use an embedded sandbox of the service. Needs no other setting
    #[arg(long, value_parser = boolean)]
    pub sandbox: Option<bool>,
}

impl ServerSettings {
    /// Returns the key of the settings, if it is usable. Only one of the settings for it is used.
    pub(super) fn key(&self) -> Option<&KeySource> {
        self.api_key.as_ref().or(self.api_key_file.as_ref()).or(self.api_key_command.as_ref())
    }
}

/// Whether a person must confirm costly or irreversible calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Confirm {
    Ask,
    Never,
}

/// The form of the lines of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// What applies without a value, if no value of the setting says it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Otherwise(pub(super) &'static str);

/// Marks a setting whose value is not shown. It has no flag, because every user of a machine can read the arguments of a process.
/// The words of a command are secrets if a person has set it wrongly.
#[derive(Clone, Copy, Debug)]
struct Secret;

impl ArgExt for Otherwise {}
impl ArgExt for Secret {}

/// The names of one setting, and what the help and the documentation say about it.
#[derive(Debug)]
pub struct Setting {
    /// Environment variable; empty if the setting is only a flag.
    pub variable: &'static str,
    /// Command-line flag without the dashes; empty for a secret and for the command that prints one.
    pub flag: &'static str,
    /// Placeholder of the value in the help; empty for a switch.
    pub value: &'static str,
    /// Description of the setting.
    pub meaning: String,
    /// What applies without a value; empty if that is nothing.
    pub default: &'static str,
    /// Name of the setting in a file.
    pub word: &'static str,
    /// The setting as clap parses it.
    pub(super) argument: Arg,
}

/// The settings of every command, in the order of the documentation.
pub static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(settings::<ServerSettings>);

/// Returns the settings of `T`, which is asked once in a process.
pub(super) fn settings<T: Args>() -> Vec<Setting> {
    let command: &'static Command = Box::leak(Box::new(T::augment_args(Command::default())));
    command.get_arguments().map(Setting::new).collect()
}

pub(super) fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name() == name)
}

impl Setting {
    fn new(argument: &'static Arg) -> Self {
        let default = argument.get_default_values().first().and_then(|text| text.to_str());
        let otherwise = argument.get::<Otherwise>().map(|otherwise| otherwise.0);
        let is_switch = argument.get_value_parser().type_id() == TypeId::of::<bool>();
        let name = argument.get_value_names().and_then(|names| names.first()).filter(|_| !is_switch);
        let has_flag = argument.get::<Secret>().is_none();

        Self {
            variable: argument.get_env().and_then(|variable| variable.to_str()).unwrap_or_default(),
            flag: argument.get_long().filter(|_| has_flag).unwrap_or_default(),
            value: name.map(Str::as_str).unwrap_or_default(),
            meaning: argument.get_help().map(ToString::to_string).unwrap_or_default(),
            default: otherwise.or(default).unwrap_or_default(),
            word: argument.get_id().as_str(),
            // The values of the environment are passed like all others.
            argument: argument.clone().env(None::<&'static str>),
        }
    }

    /// Returns the name under which the setting is stored and reported: the variable, or the flag if there is no
    /// variable.
    pub(crate) fn name(&self) -> &'static str {
        if self.variable.is_empty() { self.flag } else { self.variable }
    }

    pub(super) fn is_secret(&self) -> bool {
        self.argument.get::<Secret>().is_some()
    }

    pub(crate) fn is_path(&self) -> bool {
        matches!(self.argument.get_value_hint(), ValueHint::FilePath | ValueHint::DirPath)
    }

    pub(super) fn is_number(&self) -> bool {
        let value = self.argument.get_value_parser().type_id();
        value == TypeId::of::<usize>() || value == TypeId::of::<Duration>()
    }

    pub(crate) fn is_switch(&self) -> bool {
        self.value.is_empty()
    }
}

/// Returns an address with the parts that users leave out: the scheme, and the path of the main API.
pub fn complete_address(text: &str, is_main: bool) -> Cow<'_, str> {
    let mut complete = Cow::Borrowed(text);
    // A word without a dot or a port may be anything, such as a key in the wrong place.
    if !text.contains("://") && text.contains(['.', ':']) {
        let secure = format!("https://{text}");
        let is_local = HostUrl::parse(&secure).is_ok_and(|url| url.is_loopback());
        complete = if is_local { format!("http://{text}") } else { secure }.into();
    }

    let is_origin = |url: Url| url.has_host() && url.path() == "/" && url.query().is_none();
    if is_main && complete.starts_with("http") && Url::parse(&complete).is_ok_and(is_origin) {
        complete = format!("{}{MAIN_PATH}", complete.trim_end_matches('/')).into();
    }
    complete
}

/// Returns whether a host, as a URL contains it, is this machine.
pub fn is_loopback_host(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

// Parsers of the values. An error is the end of a sentence that begins with the name of the setting.

/// Parses the word for the test-management system, which becomes a part of paths and field names.
fn tmsys_name(text: &str) -> Result<String, String> {
    let is_word = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let refusal = "must contain only lower-case letters, digits and `_`";
    if is_word { Ok(text.to_owned()) } else { Err(refusal.to_owned()) }
}

/// Parses the items of a list that is separated by commas.
pub(super) fn list<T>(text: &str, item: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(item).collect()
}

pub(super) fn number<T>(text: &str, range: RangeInclusive<T>) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display,
{
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("must be a whole number from {} to {}", range.start(), range.end()))
}

/// Parses a yes or no, in any case and in the usual words.
fn boolean(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err("must be true or false".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_completed_as_a_user_means_it() {
        for (text, main, knowledge) in [
            ("localhost:8080", "http://localhost:8080/api/v1", "http://localhost:8080"),
            ("127.0.0.1:8080/", "http://127.0.0.1:8080/api/v1", "http://127.0.0.1:8080/"),
            ("[::1]:8080", "http://[::1]:8080/api/v1", "http://[::1]:8080"),
            ("tas.example.com", "https://tas.example.com/api/v1", "https://tas.example.com"),
            ("https://tas.example.com", "https://tas.example.com/api/v1", "https://tas.example.com"),
            ("tas.example.com/api/v1", "https://tas.example.com/api/v1", "https://tas.example.com/api/v1"),
            ("https://tas.example.com/v2", "https://tas.example.com/v2", "https://tas.example.com/v2"),
            ("http://tas.example.com", "http://tas.example.com/api/v1", "http://tas.example.com"),
            ("ftp://tas.example.com", "ftp://tas.example.com", "ftp://tas.example.com"),
            ("svc_misplaced", "svc_misplaced", "svc_misplaced"),
        ] {
            assert_eq!((&*complete_address(text, true), &*complete_address(text, false)), (main, knowledge));
        }
    }
}
