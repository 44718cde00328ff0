//! What a setting is, and the list of all: flag, variable, meaning, default.

use clap::{Arg, ArgAction};

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

pub(super) const BASE_URL: Setting = Setting {
    variable: "TAS_BASE_URL",
    flag: "base-url",
    value: "URL",
    meaning: "Main API, ending in /api/v1. No default outside the sandbox",
};
pub(super) const KNOWLEDGE_URL: Setting = Setting {
    variable: "TAS_KNOWLEDGE_URL",
    flag: "knowledge-url",
    value: "URL",
    meaning: "Host of knowledge files and run artifacts; only their tools need it",
};
pub(super) const API_KEY: Setting = Setting {
    variable: "TAS_API_KEY",
    flag: "",
    value: "KEY",
    meaning: "API key of a project or an organization",
};
pub(super) const API_KEY_FILE: Setting = Setting {
    variable: "TAS_API_KEY_FILE",
    flag: "api-key-file",
    value: "FILE",
    meaning: "File with the API key; read again when it changes, so that a rotated key needs no restart",
};
pub(super) const PROJECT_ID: Setting = Setting {
    variable: "TAS_PROJECT_ID",
    flag: "project",
    value: "ID",
    meaning: "Project scope: every call goes to this project. Unset: global scope",
};
pub(super) const PROJECTS: Setting = Setting {
    variable: "TAS_PROJECTS",
    flag: "projects",
    value: "IDS",
    meaning: "Comma-separated projects that an organization key may look in (global scope)",
};
pub(super) const TOOLSETS: Setting = Setting {
    variable: "TAS_TOOLSETS",
    flag: "toolsets",
    value: "WORDS",
    meaning: "Tools to offer: `default`, `all`, sets, tools, each excluded by a leading `-`, comma-separated. Default: the core tools",
};
pub(super) const READ_ONLY: Setting = Setting {
    variable: "TAS_READ_ONLY",
    flag: "read-only",
    value: "",
    meaning: "Offer only tools that change nothing, and hold `call`, `run` and `upload` to it; beats every other selection",
};
pub(super) const FILES_ROOT: Setting = Setting {
    variable: "TAS_FILES_ROOT",
    flag: "files-root",
    value: "DIR",
    meaning: "The only directory from which files are uploaded and into which they are saved. Default: the working directory; for `upload` and `download` on the command line, anywhere",
};
pub(super) const STATE_DIR: Setting = Setting {
    variable: "TAS_STATE_DIR",
    flag: "state-dir",
    value: "DIR",
    meaning: "Where unfinished uploads are noted, so that they can go on after an end. Default: the user's state directory",
};
pub(super) const CA_FILE: Setting = Setting {
    variable: "TAS_CA_FILE",
    flag: "ca-file",
    value: "FILE",
    meaning: "Certificates (PEM) to trust in addition to the system's",
};
pub(super) const TMSYS_NAME: Setting = Setting {
    variable: "TAS_TMSYS_NAME",
    flag: "tmsys-name",
    value: "WORD",
    meaning: "Word that the deployment uses for the test-management system in paths and fields. Default: tmsys",
};
pub(super) const CONFIRM: Setting = Setting {
    variable: "TAS_CONFIRM",
    flag: "confirm",
    value: "WORD",
    meaning: "`ask`: costly or irreversible calls need a person's yes; `never`: they do not, for unattended use. Default: ask",
};
pub(super) const MAX_REPLY_CHARS: Setting = Setting {
    variable: "TAS_MAX_REPLY_CHARS",
    flag: "max-reply-chars",
    value: "NUMBER",
    meaning: "Longest reply of a tool, in characters, 2000 to 1000000; what does not fit is cut and said under `truncated`. Default: 20000",
};
pub(super) const TIMEOUT_S: Setting = Setting {
    variable: "TAS_TIMEOUT_S",
    flag: "timeout-s",
    value: "SECONDS",
    meaning: "Limit of one request, 1 to 45 seconds. Default: 30",
};
pub(super) const LOG: Setting = Setting {
    variable: "TAS_LOG",
    flag: "log",
    value: "FILTER",
    meaning: "Log filter, such as `info` or `tas_mcp=debug`; logs go to standard error only. Default: warn",
};
pub(super) const SANDBOX: Setting = Setting {
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

/// Under which name a setting is kept and reported.
pub(super) const fn name(setting: &Setting) -> &'static str {
    if setting.variable.is_empty() { setting.flag } else { setting.variable }
}
