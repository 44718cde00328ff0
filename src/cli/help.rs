//! Help texts: the end of the help of each command, the settings of every command, and the explanation of the program.

use std::io::{IsTerminal as _, Write as _};

use clap::Command;

use super::{exit_status::ExitStatus, output::print_text};
use crate::settings::{SETTINGS, Setting};

const SETTINGS_LINE: &str = "Settings of every command: tas-mcp help settings; -v logs what happens";

const EXAMPLES: &str = "Examples:";

/// Longest description of a command in a group, in bytes: the line fits 80 columns.
const MAX_ROW: usize = 65;

/// Order of the help of a command: a user reads examples first.
const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}\n";

/// Order of the help of the program, whose commands are in groups.
const PROGRAM_TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}\n";

/// The commands by what users do with them.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Results", &["report", "show", "runs", "jobs", "executions", "bugs"]),
    ("Runs", &["run", "rerun", "wait", "stop", "export", "tests", "plans", "builds", "devices"]),
    ("Files", &["upload", "download", "files"]),
    ("Account", &["login", "logout", "status", "profile", "completions"]),
    ("Servers", &["install", "skills", "http", "sandbox", "demo", "tools", "call"]),
];

/// What applies to all settings.
const NOTES: &str = "A flag overrides a variable. A variable overrides the profile in the configuration file, unless the flag --profile chooses it. tas-mcp status shows the settings that apply, and where each comes from. A secret has no flag, because every user of a machine can read the arguments of a process.";

/// What the program is, for a user who starts it on a terminal without a subcommand: nobody can speak MCP by hand.
const EXPLANATION: &str = "\
tas-mcp is an MCP server for the Test Automation Service, and a command line for
people and CI.

Without a subcommand, tas-mcp serves MCP on standard input and output. An
assistant or an IDE starts it so. This terminal is neither, so nothing was
started.

  tas-mcp demo              a session of an assistant, with an embedded sandbox
  tas-mcp --sandbox runs    a command with an embedded sandbox, without an account
  tas-mcp help              all commands
  tas-mcp help settings     address, key, project and the other settings
  tas-mcp status            what is set, and whether the service can be used

To connect an assistant, add this to its configuration:

  {\"mcpServers\": {\"tas\": {\"command\": \"tas-mcp\", \"args\": [\"--sandbox\"]}}}
";

/// Returns the end of the help of a command: examples, notes such as the exit codes, and where the settings are
/// described.
pub(super) fn help_end(examples: &[impl AsRef<str>], notes: &str) -> String {
    let examples: Vec<_> = examples.iter().map(AsRef::as_ref).collect();
    let examples = format!("{EXAMPLES}\n  {}", examples.join("\n  "));

    let mut sections = vec![examples.as_str(), notes, SETTINGS_LINE];
    sections.retain(|section| !section.is_empty());
    sections.join("\n\n")
}

/// Returns the command with its examples before its arguments, and its notes after them.
pub(super) fn arranged(command: Command) -> Command {
    let end = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (examples, notes) = match end.split_once("\n\n") {
        Some((examples, notes)) if examples.starts_with(EXAMPLES) => (examples, notes),
        _ => ("", end.as_str()),
    };
    if examples.is_empty() {
        return command;
    }

    let command = command.before_help(examples.to_owned()).after_help(notes.to_owned());
    command.help_template(TEMPLATE).mut_subcommands(arranged)
}

pub(super) fn grouped(program: Command) -> Command {
    let program = arranged(program);
    let groups = GROUPS.iter().map(|(group, names)| {
        let commands = names.iter().filter_map(|name| program.find_subcommand(name)).map(row);
        format!("{group}:\n{}", commands.collect::<String>())
    });
    let groups = groups.collect::<Vec<_>>().join("\n");
    let examples = program.get_before_help().map(ToString::to_string).unwrap_or_default();

    program.before_help(format!("{examples}\n\n{}", groups.trim_end())).help_template(PROGRAM_TEMPLATE)
}

fn row(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let about = about.split([';', ':', '.']).next().unwrap_or_default();
    let beginning = about.get(..MAX_ROW).and_then(|beginning| Some(beginning.rsplit_once(", ")?.0));
    format!("  {:<12} {}\n", command.get_name(), beginning.unwrap_or(about))
}

/// Returns the definition of the command whose help is shown by `tas-mcp help settings`.
pub(super) fn settings_command() -> Command {
    Command::new("settings")
        .about("The settings of every command: flag, variable, default and meaning")
        .help_template("{about}{after-help}\n")
        // The command is found through the help of the other commands.
        .hide(true)
        .defer(|command| command.after_help(format!("{}\n\n{NOTES}", settings_table())))
}

pub(super) fn print_settings(mut program: Command) -> std::io::Result<()> {
    program.build();
    let help = program.find_subcommand_mut("settings").map(Command::render_help).unwrap_or_default();
    print_text(help)
}

/// Returns the settings as a table with the meaning of each setting below its names, where clap can wrap it.
fn settings_table() -> String {
    let head = ["Flag", "Variable", "Default"].map(str::to_owned);
    let rows: Vec<_> =
        SETTINGS.iter().map(|setting| (names(setting), Some(setting.meaning.clone()))).collect();
    let rows = std::iter::once((head, None)).chain(rows);

    let lines = rows.map(|([flag, variable, default], meaning)| {
        let names = format!("{flag:<28}{variable:<22}{default}");
        let meaning = meaning.map(|meaning| format!("\n    {meaning}")).unwrap_or_default();
        format!("{}{meaning}", names.trim_end())
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn names(setting: &Setting) -> [String; 3] {
    let flag = match (setting.flag, setting.value) {
        ("", _) => "-".to_owned(),
        (flag, "") => format!("--{flag}"),
        (flag, value) => format!("--{flag} <{value}>"),
    };
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };

    [flag, or_dash(setting.variable), or_dash(setting.default)]
}

/// Returns whether a user has started the server on a terminal.
pub fn is_started_by_person() -> bool {
    std::io::stdin().is_terminal()
}

/// Explains on standard error what the program is. Returns the status of a command line without a command.
pub fn explain_program() -> ExitStatus {
    // If standard error is closed, the exit status is all that can be reported.
    drop(anstream::stderr().write_all(EXPLANATION.as_bytes()));

    ExitStatus::InvalidInput
}
