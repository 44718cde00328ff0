//! `tas-mcp config`: the settings that apply, and the path of the configuration file.

use anyhow::Context as _;
use clap::{ArgMatches, Command};
use serde::Serialize;

use super::{
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    output::{print_json_or_table, print_line, status_after_output, wants_json},
    table::Table,
    user_configuration::{EXIT_CODES, subcommand, user_directories},
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

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    Command::new("config")
        .about("Shows the settings that apply, and where the configuration file is")
        .after_help(help_end(&EXAMPLES, EXIT_CODES))
        .subcommand_required(true)
        .subcommand_value_name("list|path")
        .arg_required_else_help(true)
        .subcommand(subcommand(
            "list",
            "Lists the settings that apply here, with the place that each comes from",
            EXAMPLES[0],
        ))
        .subcommand(subcommand("path", "Prints the path of the configuration file", EXAMPLES[1]))
}

/// Runs a subcommand.
pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    match matches.subcommand().context("the subcommand is missing")? {
        ("list", matches) => Ok(list(matches, settings)),
        (_, matches) => path(matches),
    }
}

fn list(matches: &ArgMatches, settings: &Settings) -> ExitStatus {
    let applied: Vec<_> = settings.shown_values().into_iter().map(applied_setting).collect();
    let mut table = Table::new(["setting", "value", "from"]);
    for setting in &applied {
        table.add_row([&setting.setting, &setting.value, &setting.origin]);
    }

    status_after_output(ExitStatus::Success, print_json_or_table(&applied, table, wants_json(matches)))
}

fn path(matches: &ArgMatches) -> Result<ExitStatus, CommandError> {
    let file = ConfigurationFile::of_user(&user_directories()?);
    let path = file.path().display().to_string();
    let line = if wants_json(matches) { serde_json::json!({"path": path}).to_string() } else { path };

    Ok(status_after_output(ExitStatus::Success, print_line(line)))
}

/// Returns the setting with the name that it has in the configuration file; the name of the variable if the file cannot
/// contain it.
fn applied_setting(value: SettingValue) -> AppliedSetting {
    let setting = profile_settings().find(|setting| setting.variable == value.setting);
    let name = setting.map_or(value.setting, |setting| setting.word).to_owned();
    AppliedSetting { setting: name, value: value.value, origin: value.origin }
}
