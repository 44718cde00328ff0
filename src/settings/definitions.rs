//! The list of all settings.

use super::setting::Setting;

pub(super) const PROFILE: Setting = Setting {
    variable: "TAS_PROFILE",
    flag: "profile",
    value: "NAME",
    meaning: "Profile of the configuration file that provides the settings that are not set otherwise. With the flag, the profile overrides variables",
    default: "the default profile",
};
pub(super) const BASE_URL: Setting = Setting {
    variable: "TAS_BASE_URL",
    flag: "base-url",
    value: "URL",
    meaning: "URL of the main API, ending in /api/v1. Required without `--sandbox`",
    default: "",
};
pub(super) const KNOWLEDGE_URL: Setting = Setting {
    variable: "TAS_KNOWLEDGE_URL",
    flag: "knowledge-url",
    value: "URL",
    meaning: "URL of the host that serves knowledge files and run artifacts. Only the tools for them need it",
    default: "",
};
pub(super) const API_KEY: Setting = Setting {
    variable: "TAS_API_KEY",
    flag: "",
    value: "KEY",
    meaning: "API key of a project or of an organization",
    default: "",
};
pub(super) const API_KEY_FILE: Setting = Setting {
    variable: "TAS_API_KEY_FILE",
    flag: "api-key-file",
    value: "FILE",
    meaning: "File that contains the API key. The file is read again when it changes, so a new key needs no restart",
    default: "",
};
pub(super) const API_KEY_COMMAND: Setting = Setting {
    variable: "TAS_API_KEY_COMMAND",
    flag: "",
    value: "COMMAND",
    meaning: "Command that prints the API key, such as the client of a password manager. It runs without a shell when a call first needs the key, and again after 5 minutes or when the service refuses the key",
    default: "",
};
pub(super) const PROJECT_ID: Setting = Setting {
    variable: "TAS_PROJECT_ID",
    flag: "project",
    value: "ID",
    meaning: "Project of every call (project scope). Without this setting: global scope",
    default: "",
};
pub(super) const PROJECTS: Setting = Setting {
    variable: "TAS_PROJECTS",
    flag: "projects",
    value: "IDS",
    meaning: "Comma-separated projects in which ids are looked up with an organization key (global scope)",
    default: "",
};
pub(super) const TOOLSETS: Setting = Setting {
    variable: "TAS_TOOLSETS",
    flag: "toolsets",
    value: "WORDS",
    meaning: "Tools to offer: a comma-separated list of `default` (the core tools), `lean` (the few tools of everyday use), `all`, toolsets and tools; a leading `-` excludes",
    default: "default",
};
pub(super) const READ_ONLY: Setting = Setting {
    variable: "TAS_READ_ONLY",
    flag: "read-only",
    value: "",
    meaning: "Offer only tools that change nothing. Overrides every other selection, and applies to `call`, `run` and `upload` too",
    default: "",
};
pub(super) const FILES_ROOT: Setting = Setting {
    variable: "TAS_FILES_ROOT",
    flag: "files-root",
    value: "DIR",
    meaning: "The only directory from which files are uploaded and into which files are saved. Without this setting, the commands `upload` and `download` use any directory",
    default: "the working directory",
};
pub(super) const STATE_DIR: Setting = Setting {
    variable: "TAS_STATE_DIR",
    flag: "state-dir",
    value: "DIR",
    meaning: "Directory that records unfinished uploads, so that a new process can resume them",
    default: "the user's state directory",
};
pub(super) const CA_FILE: Setting = Setting {
    variable: "TAS_CA_FILE",
    flag: "ca-file",
    value: "FILE",
    meaning: "Certificates (PEM) to trust in addition to those of the system",
    default: "",
};
pub(super) const TMSYS_NAME: Setting = Setting {
    variable: "TAS_TMSYS_NAME",
    flag: "tmsys-name",
    value: "WORD",
    meaning: "Word for the test-management system in the paths and fields of the deployment",
    default: "tmsys",
};
pub(super) const CONFIRM: Setting = Setting {
    variable: "TAS_CONFIRM",
    flag: "confirm",
    value: "WORD",
    meaning: "`ask`: a person must confirm costly or irreversible calls; `never`: no confirmation, for unattended use",
    default: "ask",
};
pub(super) const MAX_REPLY_CHARS: Setting = Setting {
    variable: "TAS_MAX_REPLY_CHARS",
    flag: "max-reply-chars",
    value: "NUMBER",
    meaning: "Maximum length of a tool's reply in characters, 2000 to 1000000. A longer reply is cut, and `truncated` says what is missing",
    default: "20000",
};
pub(super) const TIMEOUT_S: Setting = Setting {
    variable: "TAS_TIMEOUT_S",
    flag: "timeout-s",
    value: "SECONDS",
    meaning: "Time limit of one request, 1 to 45 seconds",
    default: "30",
};
pub(super) const LOG: Setting = Setting {
    variable: "TAS_LOG",
    flag: "log",
    value: "FILTER",
    meaning: "Log filter, such as `info` or `tas_mcp=debug`. Logs are written to standard error. `access` is the access log of `tas-mcp http`",
    default: "warn,access=info",
};
pub(super) const LOG_FORMAT: Setting = Setting {
    variable: "TAS_LOG_FORMAT",
    flag: "log-format",
    value: "WORD",
    meaning: "`text` or `json`: the form of the lines of the log",
    default: "text",
};
pub(super) const SANDBOX: Setting = Setting {
    variable: "",
    flag: "sandbox",
    value: "",
    meaning: "Use an embedded sandbox of the service. Needs no other setting",
    default: "",
};

/// Name of the profile and of the account that are used if none is chosen.
pub const FIRST_PROFILE: &str = "default";

/// All settings, in the order of the documentation.
pub const SETTINGS: [&Setting; 20] = [
    &PROFILE,
    &BASE_URL,
    &KNOWLEDGE_URL,
    &API_KEY,
    &API_KEY_FILE,
    &API_KEY_COMMAND,
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
    &LOG_FORMAT,
    &SANDBOX,
];

/// Returns the variables with which another process uses the same service.
pub fn service_variables<'a>(
    base_url: &'a str,
    knowledge_url: &'a str,
    key: &'a str,
) -> [(&'static str, &'a str); 3] {
    [(BASE_URL.variable, base_url), (KNOWLEDGE_URL.variable, knowledge_url), (API_KEY.variable, key)]
}
