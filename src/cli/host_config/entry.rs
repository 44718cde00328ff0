//! The entry of this server, in the form of each host.

use serde_json::{Value, json};

use super::host::Host;
use crate::{
    failure::{Code, Failure},
    fields::Fields,
};

/// Name of the entry.
pub(super) const ENTRY: &str = "tas";

/// Header with which a host sends the API key to a server over HTTP.
pub(super) const KEY_HEADER: &str = "X-Api-Key";

/// What a host needs to know about the server.
#[derive(Clone, Debug)]
pub(in crate::cli) struct ServerEntry {
    pub(in crate::cli) start: ServerStart,
    /// Variable that contains the API key when the host starts. The entry refers to it by its name.
    pub(in crate::cli) key_variable: Option<&'static str>,
}

/// How the host reaches the server.
#[derive(Clone, Debug)]
pub(in crate::cli) enum ServerStart {
    /// The host starts a process.
    Command {
        /// Absolute path of the program.
        program: String,
        arguments: Vec<String>,
    },
    /// The server runs already, at this address.
    Address(String),
}

impl Host {
    /// Returns the fields of the entry.
    ///
    /// # Errors
    /// The configuration file of the host has no form for an address.
    pub(in crate::cli) fn entry(self, server: &ServerEntry) -> Result<Fields, Failure> {
        let mut entry = match &server.start {
            ServerStart::Command { program, arguments } => {
                let kind = self.names_kind().then(|| ("type".to_owned(), json!("stdio")));
                let fields = [("command".to_owned(), json!(program)), ("args".to_owned(), json!(arguments))];
                kind.into_iter().chain(fields).collect()
            }
            ServerStart::Address(address) => self.address_fields(address)?,
        };

        let is_command = matches!(server.start, ServerStart::Command { .. });
        if let Some((name, value)) = server.key_variable.and_then(|key| self.key_reference(key, is_command)) {
            entry.insert(name.to_owned(), value);
        }

        Ok(entry)
    }

    /// Returns whether the host expands variables in an entry, or passes the variables that an entry names.
    pub(in crate::cli) fn passes_variables(self) -> bool {
        self.key_reference("", true).is_some()
    }

    fn address_fields(self, address: &str) -> Result<Fields, Failure> {
        let name = match self {
            Self::ClaudeDesktop => {
                let message = "the configuration file of claude-desktop has no entries for servers over HTTP";
                return Err(Failure::new(Code::InvalidArguments, message)
                    .hint("add the address in the settings of the program, as a custom connector"));
            }
            Self::Gemini => "httpUrl",
            Self::Windsurf => "serverUrl",
            Self::ClaudeCode | Self::Cursor | Self::VsCode | Self::Codex | Self::Zed => "url",
        };
        let kind = self.names_kind().then(|| ("type".to_owned(), json!("http")));

        Ok(kind.into_iter().chain([(name.to_owned(), json!(address))]).collect())
    }

    /// Returns whether an entry says how the server is reached.
    fn names_kind(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::VsCode)
    }

    /// Returns the field with which an entry refers to the variable `key`. `None` for a host that expands no variables,
    /// or whose documentation does not promise it.
    fn key_reference(self, key: &str, is_command: bool) -> Option<(&'static str, Value)> {
        let reference = match self {
            Self::Codex if is_command => return Some(("env_vars", json!([key]))),
            Self::Codex => return Some(("env_http_headers", json!({KEY_HEADER: key}))),
            Self::ClaudeCode => format!("${{{key}}}"),
            Self::Gemini => format!("${key}"),
            Self::Cursor | Self::Windsurf => format!("${{env:{key}}}"),
            Self::ClaudeDesktop | Self::VsCode | Self::Zed => return None,
        };

        Some(if is_command {
            ("env", json!({key: reference}))
        } else {
            ("headers", json!({KEY_HEADER: reference}))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(host: Host, key_variable: Option<&'static str>) -> [Option<Value>; 2] {
        let command =
            ServerStart::Command { program: "/tas".to_owned(), arguments: vec!["--sandbox".to_owned()] };
        let address = ServerStart::Address("https://a.example/mcp".to_owned());
        [command, address]
            .map(|start| host.entry(&ServerEntry { start, key_variable }).ok().map(Value::Object))
    }

    #[test]
    fn every_host_has_its_own_form() {
        let command = json!({"command": "/tas", "args": ["--sandbox"]});
        let typed = json!({"type": "stdio", "command": "/tas", "args": ["--sandbox"]});
        let url = "https://a.example/mcp";
        let cases = [
            (Host::ClaudeDesktop, &command, None),
            (Host::ClaudeCode, &typed, Some(json!({"type": "http", "url": url}))),
            (Host::Cursor, &command, Some(json!({"url": url}))),
            (Host::VsCode, &typed, Some(json!({"type": "http", "url": url}))),
            (Host::Codex, &command, Some(json!({"url": url}))),
            (Host::Gemini, &command, Some(json!({"httpUrl": url}))),
            (Host::Windsurf, &command, Some(json!({"serverUrl": url}))),
            (Host::Zed, &command, Some(json!({"url": url}))),
        ];

        for (host, command, address) in cases {
            assert_eq!(entries(host, None), [Some(command.clone()), address], "{host:?}");
        }
    }

    #[test]
    fn a_key_is_referred_to_by_the_name_of_its_variable() {
        let cases = [
            (Host::ClaudeCode, "env", json!({"KEY": "${KEY}"}), "headers", json!({"X-Api-Key": "${KEY}"})),
            (
                Host::Cursor,
                "env",
                json!({"KEY": "${env:KEY}"}),
                "headers",
                json!({"X-Api-Key": "${env:KEY}"}),
            ),
            (Host::Gemini, "env", json!({"KEY": "$KEY"}), "headers", json!({"X-Api-Key": "$KEY"})),
            (Host::Codex, "env_vars", json!(["KEY"]), "env_http_headers", json!({"X-Api-Key": "KEY"})),
            (Host::Zed, "env", Value::Null, "headers", Value::Null),
        ];

        for (host, in_command, variable, in_address, header) in cases {
            let [command, address] = entries(host, Some("KEY")).map(Option::unwrap_or_default);
            assert_eq!((&command[in_command], &address[in_address]), (&variable, &header), "{host:?}");
        }
    }
}
