//! The hosts whose configuration can be changed.

use clap::{ValueEnum, builder::PossibleValue};

/// A host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Host {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    VsCode,
    Codex,
    Gemini,
    Windsurf,
    Zed,
}

/// The format of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON, which may have comments and trailing commas.
    Json,
    Toml,
}

impl Host {
    /// All hosts, in the order of the documentation.
    pub(in crate::cli) const ALL: [Self; 8] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
        Self::Gemini,
        Self::Windsurf,
        Self::Zed,
    ];

    /// Returns the name on the command line.
    pub(in crate::cli) fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
        }
    }

    /// Returns the name of the field that contains the entries of all servers.
    pub(super) fn container(self) -> &'static str {
        match self {
            Self::ClaudeDesktop | Self::ClaudeCode | Self::Cursor | Self::Gemini | Self::Windsurf => {
                "mcpServers"
            }
            Self::VsCode => "servers",
            Self::Codex => "mcp_servers",
            Self::Zed => "context_servers",
        }
    }

    /// Returns the format of the configuration file.
    pub(super) fn format(self) -> Format {
        if self == Self::Codex { Format::Toml } else { Format::Json }
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
