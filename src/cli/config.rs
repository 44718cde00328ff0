//! `tas-mcp config`: the settings that apply, and the path of the configuration file.

use clap::{ArgMatches, Command, FromArgMatches as _, Subcommand};
use serde::Serialize;

use super::{
    accounts::{EXIT_CODES, own_directory},
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    output::{JsonFlag, print_json_or_table, print_line, status_after_output},
    table::Table,
};
use crate::settings::{ConfigurationFile, SettingValue, Settings, profile_settings};

/// Commands that the help shows.
const EXAMPLES: [&str; 2] = ["tas-mcp config list", "tas-mcp config path"];

/// A setting that applies, with its name in the configuration file.
#[derive(Serialize)]
struct AppliedSetting {
    setting: String,
    value: String,
    origin: String,
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Lists the settings that apply here, with the place that each comes from
    #[command(after_help = help_end(&EXAMPLES[..1], EXIT_CODES))]
    List(JsonFlag),
    /// Prints the path of the configuration file
    #[command(after_help = help_end(&EXAMPLES[1..], EXIT_CODES))]
    Path(JsonFlag),
}

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let command = Command::new("config")
        .about("Shows the settings that apply, and where the configuration file is")
        .after_help(help_end(&EXAMPLES, EXIT_CODES))
        .subcommand_value_name("list|path")
        .subcommand_required(true)
        .arg_required_else_help(true);

    ConfigCommand::augment_subcommands(command)
}

/// Runs a subcommand.
pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    match ConfigCommand::from_arg_matches(matches)? {
        ConfigCommand::List(output) => Ok(list(&output, settings)),
        ConfigCommand::Path(output) => path(&output),
    }
}

fn list(output: &JsonFlag, settings: &Settings) -> ExitStatus {
    let applied: Vec<_> = settings.shown_values().into_iter().map(applied_setting).collect();
    let mut table = Table::new(["setting", "value", "from"]);
    for setting in &applied {
        table.add_row([&setting.setting, &setting.value, &setting.origin]);
    }

    status_after_output(ExitStatus::Success, print_json_or_table(&applied, table, output.json))
}

fn path(output: &JsonFlag) -> Result<ExitStatus, CommandError> {
    let file = ConfigurationFile::in_directory(&own_directory()?);
    let path = file.path().display().to_string();
    let line = if output.json { serde_json::json!({"path": path}).to_string() } else { path };

    Ok(status_after_output(ExitStatus::Success, print_line(line)))
}

/// Returns the setting with the name that it has in the configuration file; the name of the variable if the file cannot
/// contain it.
fn applied_setting(value: SettingValue) -> AppliedSetting {
    let setting = profile_settings().find(|setting| setting.variable == value.setting);
    let name = setting.map_or(value.setting, |setting| setting.word).to_owned();
    AppliedSetting { setting: name, value: value.value, origin: value.origin }
}
