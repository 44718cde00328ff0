//! The settings for a server that another program starts later, in another directory and with other variables.

use std::path::Path;

use url::Url;

use crate::{
    client::HostUrl,
    failure::{Code, Failure},
    service::request::encoded,
    settings::{
        API_KEY, API_KEY_COMMAND, API_KEY_FILE, FILES_ROOT, Origin, PROJECT_ID, READ_ONLY, SETTINGS, Setting,
        Settings, TOOLSETS, absolute, boolean,
    },
    tools::files::FilesRoot,
};

/// Path of the endpoint, to which the address of a project is appended.
const ENDPOINT: &str = "mcp";

/// Segments of a path that select tools, and are never projects.
const SELECTING: [&str; 2] = ["x", "readonly"];

impl Settings {
    /// Variable of the API key.
    pub const KEY_VARIABLE: &str = API_KEY;

    /// Flags of a server that takes its key from elsewhere: a file, or the sandbox.
    pub const KEY_SOURCE_FLAGS: [&str; 2] = ["api-key-file", "sandbox"];

    /// Returns the settings that are set by flags and variables, as flags, each followed by its value. Values in files are left
    /// out, because the server reads the files. Paths are absolute. Without a files root,
    /// `directory` is the files root, unless it is too wide. The API key is left out.
    ///
    /// # Errors
    /// The values that cannot be used, a value that contains the API key, and a path that is not Unicode.
    pub fn server_flags(&self, directory: &Path) -> Result<Vec<String>, Failure> {
        self.check_values()?;

        let mut flags = Vec::new();
        let is_in_file = |setting: &&Setting| self.origin(setting.name()).is_some_and(Origin::is_file);
        for setting in SETTINGS.iter().filter(|setting| !setting.flag.is_empty() && !is_in_file(setting)) {
            let chosen = self.value_for_server(setting.name());
            let Some(value) = chosen.or(default_value(setting.name(), directory)) else { continue };
            if setting.is_switch() && !boolean(value).unwrap_or(true) {
                continue;
            }

            flags.push(format!("--{}", setting.flag));
            if setting.is_path() {
                flags.push(absolute(directory, value)?);
            } else if !setting.is_switch() {
                flags.push(value.to_owned());
            }
        }

        Ok(flags)
    }

    /// Returns what a person should know about the files of a server with the flags for `directory`, if no setting names
    /// their directory.
    pub fn files_note(&self, directory: &Path) -> Option<String> {
        if self.text(FILES_ROOT).is_some() {
            return None;
        }

        let shown = directory.display();
        Some(match default_value(FILES_ROOT, directory) {
            Some(_) => format!(
                "note: the server uploads and saves files in {shown}: name another directory with --files-root"
            ),
            None => format!(
                "note: the server has no directory for files, because {shown} is too wide: name one with --files-root"
            ),
        })
    }

    /// Returns the address at which the server `text` offers what these settings select: a project, tools, or only tools
    /// that change nothing.
    ///
    /// # Errors
    /// An address that a key must not be sent to, or whose path is not `/mcp` or `/mcp/PROJECT`; a second project, and a project
    /// that a path cannot contain.
    pub fn server_address(&self, text: &str) -> Result<String, Failure> {
        self.check_values()?;
        let refusal = |reason: &str| Failure::new(Code::InvalidArguments, format!("`--http` {reason}"));
        let host = HostUrl::parse(text).map_err(|reason| refusal(&reason))?;

        let mut address = host.as_str().to_owned();
        let project = self.value_for_server(PROJECT_ID);
        if !is_endpoint(&address, project.is_some()) {
            let forms = if project.is_some() { "/mcp if a project is set" } else { "/mcp or /mcp/PROJECT" };
            return Err(refusal(&format!("must have the path {forms}")));
        }
        if let Some(project) = project {
            if SELECTING.contains(&project) {
                return Err(refusal(&format!("cannot select the project `{project}`")));
            }
            address = format!("{address}/{}", encoded(project));
        }
        if let Some(sets) = self.value_for_server(TOOLSETS) {
            address = format!("{address}/x/{}", encoded(sets));
        }
        if self.value_for_server(READ_ONLY).is_some_and(|value| boolean(value).unwrap_or(true)) {
            address.push_str("/readonly");
        }

        Ok(address)
    }

    /// Returns the variable that contains the API key, if the key comes from one.
    pub fn key_variable(&self) -> Option<&'static str> {
        let name = self.key_setting().filter(|name| *name == API_KEY)?;
        matches!(self.origin(name), Some(Origin::Variable(_))).then_some(API_KEY)
    }

    /// Returns whether a server with these settings has an address or a key, or a profile that may contain them.
    pub fn has_account(&self) -> bool {
        self.wants_sandbox() || self.base_url().is_some() || self.has_key() || self.profile().is_some()
    }

    /// Returns what a person has to do so that a server can run the command that prints the key, if the key comes from one.
    pub fn key_command_note(&self) -> Option<String> {
        let name = self.key_setting().filter(|name| *name == API_KEY_COMMAND)?;
        Some(format!(
            "note: the entry does not contain {name}: store the key with `tas-mcp login`, or add the variable to the entry"
        ))
    }

    /// Returns the value of a setting, except a value of the sandbox of this process, and a file of the key that is not used.
    fn value_for_server(&self, name: &str) -> Option<&str> {
        if name == API_KEY_FILE && self.key_setting() != Some(API_KEY_FILE) {
            return None;
        }
        self.text(name).filter(|_| self.origin(name) != Some(&Origin::Sandbox))
    }

    /// Checks that every value can be used, and that none of them is the API key.
    fn check_values(&self) -> Result<(), Failure> {
        let key = self.text(API_KEY).filter(|key| !key.is_empty());
        let flags = SETTINGS.iter().filter(|setting| !setting.flag.is_empty());
        for setting in flags {
            let value = self.value_for_server(setting.name()).unwrap_or_default();
            if key.is_some_and(|key| value.contains(key)) {
                let message = format!("`{}` contains the API key", setting.name());
                return Err(Failure::new(Code::InvalidArguments, message)
                    .hint("a key is never written into the configuration of a host"));
            }
        }

        self.check_without_key("a server could not use these settings")
    }
}

/// Returns whether the path of `address` is the endpoint, or selects a project there, unless another one is selected.
fn is_endpoint(address: &str, selects_project: bool) -> bool {
    let url = Url::parse(address).ok();
    let segments: Vec<_> = url.iter().filter_map(Url::path_segments).flatten().collect();
    match segments.as_slice() {
        [ENDPOINT] => true,
        [ENDPOINT, project] => !selects_project && !SELECTING.contains(project),
        _ => false,
    }
}

/// Returns the value of a setting that is not set: the directory is the files root, unless it is too wide for one.
fn default_value(name: &str, directory: &Path) -> Option<&'static str> {
    let is_root = name == FILES_ROOT && FilesRoot::working_directory_at(directory).is_ok();
    is_root.then_some(".")
}
