//! `tas-mcp help settings`: the settings of every command.

use clap::Command;

use super::output::print_text;
use crate::settings::{SETTINGS, Setting};

/// What applies to all settings.
const NOTES: &str = "A flag overrides a variable. A variable overrides the project file .tas-mcp.toml, which overrides the profile in the configuration file (tas-mcp config path). The flag --profile chooses a profile that overrides variables. A secret has no flag, because every user of a machine can read the arguments of a process.";

/// Returns the definition of the command. `tas-mcp help settings` shows its help.
pub(super) fn command() -> Command {
    Command::new("settings")
        .about("The settings of every command: flag, variable, default and meaning")
        .help_template("{about}{after-help}\n")
        // The command is found through the help of the other commands.
        .hide(true)
        .defer(|command| command.after_help(format!("{}\n\n{NOTES}", table())))
}

/// Prints the settings.
pub(super) fn run(mut program: Command) -> std::io::Result<()> {
    program.build();
    let help = program.find_subcommand_mut("settings").map(Command::render_help).unwrap_or_default();
    print_text(help)
}

/// Returns the settings as a table with the meaning of each setting below its names, where clap can wrap it.
fn table() -> String {
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

/// Returns the flag, the variable and the default of `setting`.
fn names(setting: &Setting) -> [String; 3] {
    let flag = match (setting.flag, setting.value) {
        ("", _) => "-".to_owned(),
        (flag, "") => format!("--{flag}"),
        (flag, value) => format!("--{flag} <{value}>"),
    };
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };

    [flag, or_dash(setting.variable), or_dash(setting.default)]
}
