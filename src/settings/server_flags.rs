//! The settings for a server that another program starts later, in another directory and with other variables.

use std::path::Path;

use super::{
    absolute_path::absolute,
    definitions::{API_KEY, API_KEY_FILE, FILES_ROOT, PROJECT_ID, READ_ONLY, SANDBOX, SETTINGS, TOOLSETS},
    loaded::Settings,
    parse,
    problem::{NOT_SET, cannot_be_passed_on},
    setting::Setting,
    values::Origin,
};
use crate::{
    client::HostUrl,
    failure::{Code, Failure},
    service::request::encoded,
    tools::files::FilesRoot,
};

/// Path of the endpoint, to which the address of a project is appended.
const ENDPOINT: &str = "/mcp";

/// Segments of a path that select tools, and are never projects.
const SELECTING: [&str; 2] = ["x", "readonly"];

impl Settings {
    /// Variable of the API key.
    pub const KEY_VARIABLE: &str = API_KEY.name();

    /// Flags of a server that takes its key from elsewhere: a file, or the sandbox.
    pub const KEY_SOURCE_FLAGS: [&str; 2] = [API_KEY_FILE.flag, SANDBOX.flag];

    /// Returns the settings that are set by flags and variables, as flags, each followed by its value. Values in files are left
    /// out, because the server reads the files. Paths are absolute. Without a files root,
    /// `directory` is the files root, unless it is too wide. The API key is left out.
    ///
    /// # Errors
    /// The values that cannot be used, a value that contains the API key, and a path that is not Unicode.
    pub fn server_flags(&self, directory: &Path) -> Result<Vec<String>, Failure> {
        self.check_values()?;

        let mut flags = Vec::new();
        let is_in_file = |setting: &&&Setting| self.values.origin(setting).is_some_and(Origin::is_file);
        for setting in SETTINGS.iter().filter(|setting| !setting.flag.is_empty() && !is_in_file(setting)) {
            let chosen = self.value_for_server(setting);
            let Some(value) = chosen.or(default_value(setting, directory)) else { continue };
            if setting.is_switch() && !parse::boolean(value).unwrap_or(true) {
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
        if self.values.contains(&FILES_ROOT) {
            return None;
        }

        let shown = directory.display();
        Some(match default_value(&FILES_ROOT, directory) {
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
        let project = self.value_for_server(&PROJECT_ID);
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
        if let Some(sets) = self.value_for_server(&TOOLSETS) {
            address = format!("{address}/x/{}", encoded(sets));
        }
        if self.value_for_server(&READ_ONLY).is_some_and(|value| parse::boolean(value).unwrap_or(true)) {
            address.push_str("/readonly");
        }

        Ok(address)
    }

    /// Returns the variable that contains the API key, if the key comes from one.
    pub fn key_variable(&self) -> Option<&'static str> {
        let setting = self.values.key_setting().filter(|setting| setting.name() == API_KEY.name())?;
        match self.values.origin(setting)? {
            Origin::Variable(variable) => Some(*variable),
            _ => None,
        }
    }

    /// Returns what a person has to do so that a server can run the command that prints the key, if the key comes from one.
    pub fn key_command_note(&self) -> Option<String> {
        let setting = self.values.key_setting().filter(|setting| setting.is_command())?;
        let variable = setting.variable;

        Some(format!(
            "note: the entry does not contain {variable}: store the key with `tas-mcp login`, or add the variable to the entry"
        ))
    }

    /// Returns the value of `setting`, except a value of the sandbox of this process, and a file of the key that is not used.
    fn value_for_server(&self, setting: &Setting) -> Option<&str> {
        let is_key_file = setting.name() == API_KEY_FILE.name();
        if is_key_file && self.values.key_setting().is_none_or(|used| used.name() != setting.name()) {
            return None;
        }

        self.values.text(setting).filter(|_| self.values.origin(setting) != Some(&Origin::Sandbox))
    }

    /// Checks that every value can be used, and that none of them is the API key.
    fn check_values(&self) -> Result<(), Failure> {
        let key = self.values.text(&API_KEY).filter(|key| !key.is_empty());
        let has_key = |setting: &&&Setting| {
            let value = self.value_for_server(setting).filter(|_| !setting.flag.is_empty());
            key.is_some_and(|key| value.is_some_and(|value| value.contains(key)))
        };
        if let Some(setting) = SETTINGS.iter().find(has_key) {
            let message = format!("`{}` contains the API key", setting.name());
            return Err(Failure::new(Code::InvalidArguments, message)
                .hint("a key is never written into the configuration of a host"));
        }

        let parsed = self.parse_for_one_caller();
        let mut problems: Vec<_> = parsed.problems.into_iter().chain(parsed.limited_problems).collect();
        problems.retain(|problem| problem.origin != NOT_SET && problem.setting != API_KEY.name());
        if problems.is_empty() { Ok(()) } else { Err(cannot_be_passed_on(&problems)) }
    }
}

/// Returns whether the path of `address` is the endpoint, or selects a project there, unless another one is selected.
fn is_endpoint(address: &str, selects_project: bool) -> bool {
    let after_scheme = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = after_scheme.find('/').and_then(|start| after_scheme.get(start..)).unwrap_or_default();
    match path.strip_prefix(ENDPOINT).map(|rest| rest.strip_prefix('/').ok_or(rest)) {
        Some(Err("")) => true,
        Some(Ok(project)) => !selects_project && !project.contains('/') && !SELECTING.contains(&project),
        Some(Err(_)) | None => false,
    }
}

/// Returns the value of a setting that is not set: the directory is the files root, unless it is too wide for one.
fn default_value(setting: &Setting, directory: &Path) -> Option<&'static str> {
    let is_root = setting.name() == FILES_ROOT.name() && FilesRoot::working_directory_at(directory).is_ok();
    is_root.then_some(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::flags;

    type Variables<'a> = &'a [(&'a str, &'a str)];

    fn settings(arguments: &[&str], variables: Variables<'_>) -> Settings {
        let command = clap::Command::new("tas-mcp").args(flags());
        let matches = command.get_matches_from([&["tas-mcp"], arguments].concat());
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        };
        Settings::from_sources(&matches, variable)
    }

    #[test]
    fn flags_and_variables_become_flags_without_the_key() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().to_str().expect("Unicode");
        let address = ("TAS_BASE_URL", "https://tas.example/api/v1");
        let key = ("TAS_API_KEY", "svc_0123456789abcdef0123456789abcdef");
        let cases: [(&[&str], Variables<'_>, Vec<&str>); 4] = [
            (&[], &[], vec!["--files-root", root]),
            (&["--sandbox", "--read-only"], &[], vec!["--read-only", "--files-root", root, "--sandbox"]),
            (
                &["--project", "p"],
                &[address, key, ("TAS_READ_ONLY", "no")],
                vec!["--base-url", address.1, "--project", "p", "--files-root", root],
            ),
            (
                &["--files-root", root],
                &[("TAS_TOOLSETS", "lean")],
                vec!["--toolsets", "lean", "--files-root", root],
            ),
        ];

        for (arguments, variables, expected) in cases {
            let flags = settings(arguments, variables).server_flags(directory.path());
            assert_eq!(flags.expect("flags"), expected, "{arguments:?}");
        }
    }

    #[test]
    fn a_directory_that_is_too_wide_is_no_files_root() {
        let directory = tempfile::tempdir().expect("a directory");
        let given = settings(&["--files-root", directory.path().to_str().expect("Unicode")], &[]);
        let top = directory.path().ancestors().last().expect("a root");

        let note = settings(&[], &[]).files_note(directory.path()).expect("a note");
        assert!(note.contains("saves files in") && note.contains("--files-root"), "{note}");
        let note = settings(&[], &[]).files_note(top).expect("a note");
        assert!(note.contains("too wide") && note.contains("--files-root"), "{note}");
        assert_eq!(given.files_note(top), None);

        let flags = settings(&["--sandbox"], &[]).server_flags(top).expect("flags");
        assert_eq!(flags, ["--sandbox"]);
    }

    #[test]
    fn the_server_uses_the_same_key_as_this_process() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("key");
        std::fs::write(&file, "svc_0123456789abcdef0123456789abcdef").expect("written");
        let file = file.to_str().expect("Unicode");
        let key = ("TAS_API_KEY", "svc_fedcba9876543210fedcba9876543210");
        let cases: [(&[&str], Variables<'_>, bool, Option<&str>); 4] = [
            (&["--api-key-file", file], &[key], true, None),
            (&[], &[("TAS_API_KEY_FILE", file)], true, None),
            (&[], &[key, ("TAS_API_KEY_FILE", file)], false, Some("TAS_API_KEY")),
            (&[], &[key], false, Some("TAS_API_KEY")),
        ];

        for (arguments, variables, has_file, variable) in cases {
            let settings = settings(arguments, variables);
            let flags = settings.server_flags(directory.path()).expect("flags");
            let found = (flags.iter().any(|flag| flag == "--api-key-file"), settings.key_variable());
            assert_eq!(found, (has_file, variable), "{arguments:?}");
        }
    }

    #[test]
    fn a_relative_path_becomes_absolute() {
        let directory = tempfile::tempdir().expect("a directory");
        let flags = settings(&["--state-dir", "state"], &[]).server_flags(directory.path()).expect("flags");
        let state = directory.path().join("state");

        assert_eq!(flags[flags.len() - 1], state.to_str().expect("Unicode"));
    }

    #[test]
    fn unusable_values_and_the_key_are_refused() {
        let key = ("TAS_API_KEY", "svc_0123456789abcdef0123456789abcdef");
        let cases: [(&[&str], &str); 4] = [
            (&["--toolsets", "nonsense"], "TAS_TOOLSETS"),
            (&["--api-key-file", "nowhere"], "TAS_API_KEY_FILE"),
            (&["--files-root", "nowhere"], "TAS_FILES_ROOT"),
            (&["--project", key.1], "`TAS_PROJECT_ID` contains the API key"),
        ];

        for (arguments, expected) in cases {
            let failure = settings(arguments, &[key]).server_flags(Path::new("/")).expect_err("a failure");
            assert!(failure.message.contains(expected), "{arguments:?}: {}", failure.message);
            assert!(!failure.to_json().contains(key.1), "{arguments:?}");
        }
    }

    #[test]
    fn an_address_selects_the_project_and_the_tools() {
        let cases: [(&[&str], &str, Result<&str, &str>); 12] = [
            (&[], "https://tas.example/mcp/", Ok("https://tas.example/mcp")),
            (&["--project", "a b"], "https://tas.example/mcp", Ok("https://tas.example/mcp/a%20b")),
            (
                &["--toolsets", "lean", "--read-only"],
                "http://localhost:8900/mcp",
                Ok("http://localhost:8900/mcp/x/lean/readonly"),
            ),
            (&["--toolsets", "lean"], "https://tas.example/mcp/q", Ok("https://tas.example/mcp/q/x/lean")),
            (&["--project", "p"], "https://tas.example/mcp/q", Err("must have the path /mcp if")),
            (&["--toolsets", "lean"], "https://tas.example", Err("/mcp or /mcp/PROJECT")),
            (&[], "https://tas.example/mcpx", Err("/mcp or /mcp/PROJECT")),
            (&[], "https://tas.example/mcp/x/lean", Err("/mcp or /mcp/PROJECT")),
            (&[], "https://tas.example/mcp/readonly", Err("/mcp or /mcp/PROJECT")),
            (&["--project", "x"], "https://tas.example/mcp", Err("the project `x`")),
            (&["--project", "readonly"], "https://tas.example/mcp", Err("the project `readonly`")),
            (&[], "http://tas.example/mcp", Err("https")),
        ];

        for (arguments, address, expected) in cases {
            match (settings(arguments, &[]).server_address(address), expected) {
                (Ok(address), Ok(expected)) => assert_eq!(address, expected),
                (Err(failure), Err(expected)) => {
                    assert!(failure.message.contains(expected), "{}", failure.message);
                }
                (other, _) => panic!("{arguments:?}: {other:?}"),
            }
        }
    }
}
