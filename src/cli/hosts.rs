//! The hosts, and how each of them learns of the server: by a command of its own, or by an entry in its configuration file.

use std::{fmt, path::PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};

use super::next_command::quoted;

const ENTRY: &str = "tas";

/// Header with which a host sends the API key to a server over HTTP.
pub(super) const KEY_HEADER: &str = "X-Api-Key";

/// Variable with the API key, to which an entry refers.
const KEY_VARIABLE: &str = "TAS_API_KEY";

/// The hosts, in the order of the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Host {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Codex,
    Gemini,
    Windsurf,
    Zed,
}

/// How a host reaches the server.
pub(super) enum Server {
    /// The host starts the program at this absolute path.
    Program { path: String, arguments: Vec<String> },
    /// The server runs already, at this address. Hosts send a key if it needs one.
    Address { url: String, needs_key: bool },
}

/// What a user does so that a host learns of the server.
pub(super) enum Connection {
    Command(HostCommand),
    /// The text of the configuration file.
    Entry(String),
}

pub(super) struct HostCommand {
    pub(super) program: &'static str,
    pub(super) arguments: Vec<String>,
}

impl fmt::Display for HostCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.program)?;
        self.arguments.iter().try_for_each(|argument| write!(formatter, " {}", quoted(argument)))
    }
}

impl Host {
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

    /// Returns the configuration file of a host that has no command; `None` without a home directory.
    pub(super) fn file(self) -> Option<PathBuf> {
        let (home, configuration) = (dirs::home_dir()?, dirs::config_dir()?);
        match self {
            Self::ClaudeDesktop => Some(configuration.join("Claude/claude_desktop_config.json")),
            Self::Cursor => Some(home.join(".cursor/mcp.json")),
            Self::Windsurf => Some(home.join(".codeium/windsurf/mcp_config.json")),
            Self::Zed if cfg!(target_os = "macos") => Some(home.join(".config/zed/settings.json")),
            Self::Zed => Some(configuration.join("zed/settings.json")),
            Self::ClaudeCode | Self::VsCode | Self::Codex | Self::Gemini => None,
        }
    }

    /// Returns the command or the entry; `None` for Claude Desktop and an address, which its file cannot contain.
    pub(super) fn connection(self, server: &Server) -> Option<Connection> {
        let command = |program, arguments| Some(Connection::Command(HostCommand { program, arguments }));
        let entry = |field: &str, entry: Value| {
            Some(Connection::Entry(format!("{:#}\n", json!({field: {ENTRY: entry}}))))
        };

        match (self, server) {
            (Self::ClaudeCode, _) => command("claude", self.add_words(server)),
            (Self::Codex, _) => command("codex", self.add_words(server)),
            (Self::Gemini, _) => command("gemini", self.add_words(server)),
            (Self::VsCode, _) => {
                let mut named = json!({"name": ENTRY});
                if let (Some(named), Value::Object(entry)) = (named.as_object_mut(), self.entry(server)) {
                    named.extend(entry);
                }
                command("code", vec!["--add-mcp".to_owned(), named.to_string()])
            }
            (Self::ClaudeDesktop, Server::Address { .. }) => None,
            (Self::ClaudeDesktop | Self::Cursor | Self::Windsurf, _) => {
                entry("mcpServers", self.entry(server))
            }
            (Self::Zed, _) => entry("context_servers", self.entry(server)),
        }
    }

    /// Returns the words of `claude mcp add` and its relatives.
    fn add_words(self, server: &Server) -> Vec<String> {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let scope = if self == Self::Codex { "" } else { " --scope user" };

        match server {
            Server::Program { path, arguments } => {
                // Gemini CLI takes the program from the words before the mark.
                let program = if self == Self::Gemini { [path, "--"] } else { ["--", path] };
                let program = program.map(str::to_owned).to_vec();
                [words(&format!("mcp add{scope} {ENTRY}")), program, arguments.clone()].concat()
            }
            Server::Address { url, .. } if self == Self::Codex => {
                let key = self.key_reference(server).map(|key| format!(" --bearer-token-env-var {key}"));
                words(&format!("mcp add {ENTRY}{} --url {url}", key.unwrap_or_default()))
            }
            Server::Address { url, .. } => {
                // The option with the header takes all words up to the next option.
                let key = self.key_reference(server).map(|key| format!("{KEY_HEADER}: {key}"));
                let header = key.into_iter().flat_map(|key| ["--header".to_owned(), key]).collect();
                let options = words(&format!("--transport http{scope} {ENTRY} {url}"));
                [words("mcp add"), header, options].concat()
            }
        }
    }

    fn entry(self, server: &Server) -> Value {
        let mut entry = match server {
            Server::Program { path, arguments } => json!({"command": path, "args": arguments}),
            Server::Address { url, .. } if self == Self::Windsurf => json!({"serverUrl": url}),
            Server::Address { url, .. } if self == Self::VsCode => json!({"type": "http", "url": url}),
            Server::Address { url, .. } => json!({"url": url}),
        };
        if let (Some(fields), Some(key)) = (entry.as_object_mut(), self.key_reference(server)) {
            fields.insert("headers".to_owned(), json!({KEY_HEADER: key}));
        }
        entry
    }

    /// Returns the text that the host replaces by the key that a server over HTTP needs. `None` for a host that expands no
    /// variables, or whose documentation does not promise it.
    pub(super) fn key_reference(self, server: &Server) -> Option<String> {
        if !matches!(server, Server::Address { needs_key: true, .. }) {
            return None;
        }

        match self {
            Self::ClaudeCode => Some(format!("${{{KEY_VARIABLE}}}")),
            Self::Gemini => Some(format!("${KEY_VARIABLE}")),
            Self::Cursor | Self::Windsurf => Some(format!("${{env:{KEY_VARIABLE}}}")),
            Self::Codex => Some(KEY_VARIABLE.to_owned()),
            Self::ClaudeDesktop | Self::VsCode | Self::Zed => None,
        }
    }
}
