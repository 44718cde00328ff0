//! `tas-mcp install`: how a host learns of the server: by a command of its own, or by an entry in its configuration file.

use std::{path::PathBuf, process::Command as Process};

use clap::{ArgMatches, Args, Command, FromArgMatches as _, ValueEnum};
use serde_json::json;

use crate::{
    cli::{
        command_names::quoted,
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        output::{note, print_text},
    },
    failure::{Code, Failure},
    home_path::{configuration_directory, home_directory},
    settings::Settings,
};

const EXAMPLES: [&str; 3] = [
    "tas-mcp install claude-code --run",
    "tas-mcp install cursor --sandbox",
    "tas-mcp install codex --profile staging",
];

const NOTES: &str = "The host starts this program with the settings that are flags of this command, such as --project, --profile, --sandbox and --read-only. The server gets the key of `tas-mcp login`; no entry contains a key.";

/// Name of the server in the host.
const ENTRY: &str = "tas";

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

/// What a user does so that a host learns of the server.
enum Connection {
    /// Program of the host, and its arguments.
    Command(&'static str, Vec<String>),
    /// Text of the configuration file.
    Entry(String),
}

#[derive(Args)]
struct InstallArguments {
    /// Program that shall use the server
    #[arg(value_enum)]
    host: Host,

    /// Run the command of the host, in place of printing it
    #[arg(long)]
    run: bool,
}

pub(super) fn command() -> Command {
    let command = Command::new("install")
        .about("Prints the command or the entry with which a host learns of this server")
        .after_help(help_end(&EXAMPLES, NOTES));

    InstallArguments::augment_args(command)
}

pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let InstallArguments { host, run } = InstallArguments::from_arg_matches(matches)?;
    let (mut program, mut arguments) = (std::env::current_exe()?, settings.given_flags());
    // The cache of npx is no place for a program that a host shall find again.
    if program.iter().any(|folder| folder == "_npx") {
        program = "npx".into();
        arguments.splice(0..0, ["-y", "tas-mcp"].map(str::to_owned));
    }

    match host.connection(program.display().to_string(), &arguments) {
        Connection::Command(program, arguments) if run => return start(program, &arguments),
        Connection::Command(program, arguments) => print_text(shell_line(program, &arguments) + "\n")?,
        Connection::Entry(_) if run => {
            let failure = Failure::new(Code::InvalidArguments, "this host has no command that adds a server");
            let hint = "leave out `--run`: the entry and the path of its file are printed";
            return Err(failure.hint(hint).into());
        }
        Connection::Entry(entry) => {
            let file = host.file().map(|file| file.display().to_string());
            note(&format!("add this to {}", file.as_deref().unwrap_or("the configuration of the host")));
            print_text(entry)?;
        }
    }

    Ok(ExitStatus::Success)
}

/// Runs the command of the host, whose output is that of this command.
fn start(program: &str, arguments: &[String]) -> Result<ExitStatus, CommandError> {
    note(&format!("running: {}", shell_line(program, arguments)));
    let status = Process::new(program).args(arguments).status().map_err(|error| {
        Failure::new(Code::FileError, format!("`{program}` cannot be started: {error}"))
            .hint("install the host first, or run the command by hand")
    })?;

    Ok(if status.success() { ExitStatus::Success } else { ExitStatus::Rejected })
}

fn shell_line(program: &str, arguments: &[String]) -> String {
    arguments.iter().fold(program.to_owned(), |line, argument| line + " " + &quoted(argument))
}

impl Host {
    /// Returns the configuration file of a host that has no command; `None` without a home directory.
    fn file(self) -> Option<PathBuf> {
        let (home, configuration) = (home_directory()?, configuration_directory()?);
        match self {
            Self::ClaudeDesktop if cfg!(target_os = "macos") => {
                Some(home.join("Library/Application Support/Claude/claude_desktop_config.json"))
            }
            Self::ClaudeDesktop => Some(configuration.join("Claude/claude_desktop_config.json")),
            Self::Cursor => Some(home.join(".cursor/mcp.json")),
            Self::Windsurf => Some(home.join(".codeium/windsurf/mcp_config.json")),
            Self::Zed => Some(configuration.join("zed/settings.json")),
            Self::ClaudeCode | Self::VsCode | Self::Codex | Self::Gemini => None,
        }
    }

    fn connection(self, program: String, arguments: &[String]) -> Connection {
        let add = |host, options: &str, start: [String; 2]| {
            let words = format!("mcp add{options} {ENTRY}");
            let words = words.split(' ').map(str::to_owned).chain(start).chain(arguments.iter().cloned());
            Connection::Command(host, words.collect())
        };
        let entry = json!({"command": program, "args": arguments});
        let end_of_options = "--".to_owned();

        match self {
            Self::ClaudeCode => add("claude", " --scope user", [end_of_options, program]),
            Self::Codex => add("codex", "", [end_of_options, program]),
            // Gemini CLI takes the program from the words before the mark.
            Self::Gemini => add("gemini", " --scope user", [program, end_of_options]),
            Self::VsCode => {
                let named = json!({"name": ENTRY, "command": program, "args": arguments}).to_string();
                Connection::Command("code", vec!["--add-mcp".to_owned(), named])
            }
            Self::ClaudeDesktop | Self::Cursor | Self::Windsurf => {
                Connection::Entry(format!("{:#}\n", json!({"mcpServers": {ENTRY: entry}})))
            }
            Self::Zed => Connection::Entry(format!("{:#}\n", json!({"context_servers": {ENTRY: entry}}))),
        }
    }
}
