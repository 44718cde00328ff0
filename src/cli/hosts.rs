//! The hosts, and how each of them learns of the server.
//!
//! A host with a command of its own adds and removes the server itself. For the others, this program edits a file in JSON.

use std::path::{Path, PathBuf};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use clap::{ValueEnum, builder::PossibleValue};
use form_urlencoded::byte_serialize;
use serde_json::{Value, json};

use super::{
    host_command::HostCommand,
    host_directories::{OperatingSystem, UserDirectories},
};
use crate::{
    failure::{Code, Failure},
    fields::Fields,
    service::request::encoded,
};

/// Name of the entry.
pub(super) const ENTRY: &str = "tas";

/// Header with which a host sends the API key to a server over HTTP.
pub(super) const KEY_HEADER: &str = "X-Api-Key";

/// Directory of Claude Desktop if Windows has installed it as a package, in the local data of the user.
const CLAUDE_PACKAGE: &str = "Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude";

/// A host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    VsCode,
    Codex,
    Gemini,
    Windsurf,
    Zed,
}

/// What a host needs to know about the server.
pub(super) struct ServerEntry {
    pub(super) start: ServerStart,
    /// Variable that contains the API key when the host starts. The entry refers to it by its name.
    pub(super) key_variable: Option<&'static str>,
}

/// How the host reaches the server.
pub(super) enum ServerStart {
    /// The host starts the program at this absolute path.
    Command { program: String, arguments: Vec<String> },
    /// The server runs already, at this address.
    Address(String),
}

impl Host {
    /// All hosts, in the order of the documentation.
    pub(super) const ALL: [Self; 8] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
        Self::Gemini,
        Self::Windsurf,
        Self::Zed,
    ];

    /// Returns the name on the command line, the program with commands for servers, and the field of the file with the entries
    /// of all servers.
    fn facts(self) -> (&'static str, Option<&'static str>, Option<&'static str>) {
        match self {
            Self::ClaudeDesktop => ("claude-desktop", None, Some("mcpServers")),
            Self::ClaudeCode => ("claude-code", Some("claude"), None),
            Self::Cursor => ("cursor", None, Some("mcpServers")),
            Self::VsCode => ("vscode", Some("code"), Some("servers")),
            Self::Codex => ("codex", Some("codex"), None),
            Self::Gemini => ("gemini", Some("gemini"), None),
            Self::Windsurf => ("windsurf", None, Some("mcpServers")),
            Self::Zed => ("zed", None, Some("context_servers")),
        }
    }

    /// Returns the name for users.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
        }
    }

    pub(super) fn name(self) -> &'static str {
        self.facts().0
    }

    /// Returns whether the program or the directory of the host exists on this machine.
    pub(super) fn is_installed(self, directories: &UserDirectories) -> bool {
        match self.facts().1 {
            Some(program) => directories.program(program).is_some(),
            None => self.file(directories).is_some_and(|(file, _)| file.parent().is_some_and(Path::is_dir)),
        }
    }

    /// Returns the file that this program edits, and the field in it with the entries of all servers.
    pub(super) fn file(self, directories: &UserDirectories) -> Option<(PathBuf, &'static str)> {
        let UserDirectories { system, configuration, .. } = directories;
        let path = match self {
            Self::ClaudeDesktop => {
                // Windows redirects the usual directory of a packaged program to the one of the package.
                let package = directories.local_data.join(CLAUDE_PACKAGE);
                let is_packaged = *system == OperatingSystem::Windows && package.is_dir();
                let directory = if is_packaged { package } else { configuration.join("Claude") };
                directory.join("claude_desktop_config.json")
            }
            Self::Cursor => directories.in_home(".cursor/mcp.json"),
            // Its program adds a server, and cannot remove one.
            Self::VsCode => configuration.join("Code/User/mcp.json"),
            Self::Windsurf => directories.in_home(".codeium/windsurf/mcp_config.json"),
            Self::Zed => match system {
                OperatingSystem::Linux => {
                    let moved = directories.flatpak_configuration.as_ref();
                    moved.unwrap_or(configuration).join("zed/settings.json")
                }
                OperatingSystem::MacOs => directories.in_home(".config/zed/settings.json"),
                OperatingSystem::Windows => configuration.join("Zed/settings.json"),
            },
            Self::ClaudeCode | Self::Codex | Self::Gemini => return None,
        };

        Some((path, self.facts().2?))
    }

    /// Returns the fields of the entry in a file.
    ///
    /// # Errors
    /// The file of the host has no form for an address.
    pub(super) fn entry(self, server: &ServerEntry) -> Result<Fields, Failure> {
        let (kind, fields, key_field) = match &server.start {
            ServerStart::Command { program, arguments } => {
                ("stdio", vec![("command", json!(program)), ("args", json!(arguments))], "env")
            }
            ServerStart::Address(_) if self == Self::ClaudeDesktop => {
                let message = "the configuration file of claude-desktop has no entries for servers over HTTP";
                return Err(Failure::new(Code::InvalidArguments, message)
                    .hint("add the address in the settings of the program, as a custom connector"));
            }
            ServerStart::Address(address) => {
                let field = if self == Self::Windsurf { "serverUrl" } else { "url" };
                ("http", vec![(field, json!(address))], "headers")
            }
        };

        let kind = (self == Self::VsCode).then(|| ("type", json!(kind)));
        let key = self.key_reference(server).map(|(name, reference)| (key_field, json!({name: reference})));
        let fields = kind.into_iter().chain(fields).chain(key);
        Ok(fields.map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Returns the command with which the host adds the server; `None` if this program edits the file of the host.
    pub(super) fn add_command(self, server: &ServerEntry) -> Option<HostCommand> {
        let (transport, [option, sign], target) = match &server.start {
            ServerStart::Command { program, arguments } => {
                // Gemini CLI takes the program from the words before the mark.
                let program = if self == Self::Gemini { [program, "--"] } else { ["--", program] };
                ("stdio", ["--env", "="], [program.map(str::to_owned).to_vec(), arguments.clone()].concat())
            }
            ServerStart::Address(address) => ("http", ["--header", ": "], vec![address.clone()]),
        };
        let key = self.key_reference(server).filter(|_| self != Self::Codex);
        let key = key.map(|(name, reference)| [option.to_owned(), format!("{name}{sign}{reference}")]);

        let options = match self {
            // The option with the key takes all words up to the next option.
            Self::ClaudeCode | Self::Gemini => format!("--transport {transport} --scope user {ENTRY}"),
            Self::Codex => match (transport, server.key_variable) {
                ("stdio", _) => ENTRY.to_owned(),
                (_, None) => format!("{ENTRY} --url"),
                (_, Some(key)) => format!("{ENTRY} --bearer-token-env-var {key} --url"),
            },
            Self::VsCode => {
                return self.command(words("--add-mcp").chain([named(&self.entry(server).ok()?)]));
            }
            Self::ClaudeDesktop | Self::Cursor | Self::Windsurf | Self::Zed => return None,
        };

        self.command(words("mcp add").chain(key.into_iter().flatten()).chain(words(&options)).chain(target))
    }

    /// Returns the command with which the host removes the server; `None` if this program edits the file of the host.
    pub(super) fn remove_command(self) -> Option<HostCommand> {
        let scope = match self {
            Self::ClaudeCode | Self::Gemini => "--scope user ",
            Self::Codex => "",
            Self::ClaudeDesktop | Self::Cursor | Self::VsCode | Self::Windsurf | Self::Zed => return None,
        };

        self.command(words(&format!("mcp remove {scope}{ENTRY}")))
    }

    /// Returns the address with which the host adds the entry; `None` if the host has no such addresses.
    pub(super) fn deep_link(self, entry: &Fields) -> Option<String> {
        match self {
            Self::Cursor => {
                let entry = BASE64_STANDARD.encode(Value::Object(entry.clone()).to_string());
                let entry: String = byte_serialize(entry.as_bytes()).collect();
                Some(format!("cursor://anysphere.cursor-deeplink/mcp/install?name={ENTRY}&config={entry}"))
            }
            Self::VsCode => Some(format!("vscode:mcp/install?{}", encoded(&named(entry)))),
            _ => None,
        }
    }

    /// Returns the text of a file with this entry alone; `None` if this program edits no file of the host.
    pub(super) fn snippet(self, entry: &Value) -> Option<String> {
        let container = self.facts().2?;
        Some(format!("{:#}\n", json!({container: {ENTRY: entry}})))
    }

    fn command(self, arguments: impl Iterator<Item = String>) -> Option<HostCommand> {
        Some(HostCommand { program: self.facts().1?, arguments: arguments.collect() })
    }

    /// Returns the variable or header with the key, and the text that the host replaces by the key. `None` for a host that
    /// expands no variables, or whose documentation does not promise it.
    pub(super) fn key_reference(self, server: &ServerEntry) -> Option<(&'static str, String)> {
        let (key, is_address) = (server.key_variable?, matches!(server.start, ServerStart::Address(_)));
        let reference = match self {
            Self::ClaudeCode => format!("${{{key}}}"),
            Self::Gemini => format!("${key}"),
            Self::Cursor | Self::Windsurf => format!("${{env:{key}}}"),
            Self::Codex if is_address => key.to_owned(),
            Self::ClaudeDesktop | Self::VsCode | Self::Codex | Self::Zed => return None,
        };

        Some((if is_address { KEY_HEADER } else { key }, reference))
    }
}

impl ValueEnum for Host {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

/// Returns the entry with its name, as VS Code takes it.
fn named(entry: &Fields) -> String {
    let mut named = Fields::from_iter([("name".to_owned(), ENTRY.into())]);
    named.extend(entry.clone());
    Value::Object(named).to_string()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(' ').map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_its_place_on_every_system() {
        let files = |system, variables: &[(&str, &str)]| {
            let value = |name: &str| Some(variables.iter().find(|(known, _)| *known == name)?.1.to_owned());
            let directories = UserDirectories::from_variables(system, Some("/me".into()), value);
            let directories = directories.expect("a home directory");
            let files = Host::ALL.into_iter().filter_map(|host| Some(host.file(&directories)?.0));
            files.map(|file| file.to_string_lossy().replace('\\', "/")).collect::<Vec<_>>()
        };

        for (system, variables, [configuration, zed]) in [
            (OperatingSystem::Linux, &[][..], ["/me/.config", "/me/.config/zed"]),
            (OperatingSystem::Linux, &[("XDG_CONFIG_HOME", "/x")], ["/x", "/x/zed"]),
            (OperatingSystem::Linux, &[("FLATPAK_XDG_CONFIG_HOME", "/x")], ["/me/.config", "/x/zed"]),
            (OperatingSystem::MacOs, &[], ["/me/Library/Application Support", "/me/.config/zed"]),
            (OperatingSystem::Windows, &[("APPDATA", "C:/roaming")], ["C:/roaming", "C:/roaming/Zed"]),
        ] {
            assert_eq!(
                files(system, variables),
                [
                    &format!("{configuration}/Claude/claude_desktop_config.json"),
                    "/me/.cursor/mcp.json",
                    &format!("{configuration}/Code/User/mcp.json"),
                    "/me/.codeium/windsurf/mcp_config.json",
                    &format!("{zed}/settings.json"),
                ],
                "{system:?} {variables:?}"
            );
        }
    }

    #[test]
    fn a_packaged_claude_desktop_has_its_file_in_the_package() {
        let local = tempfile::tempdir().expect("a directory");
        let package = local.path().join(CLAUDE_PACKAGE);
        std::fs::create_dir_all(&package).expect("a directory");
        let variable = |name: &str| (name == "LOCALAPPDATA").then(|| local.path().to_owned());
        let windows =
            UserDirectories::from_variables(OperatingSystem::Windows, Some("C:/me".into()), variable);
        let file = Host::ClaudeDesktop.file(&windows.expect("a home directory"));

        assert_eq!(file.expect("a file").0, package.join("claude_desktop_config.json"));
    }
}
