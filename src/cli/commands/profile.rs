//! `tas-mcp profile use`: chooses the default profile of the configuration file.

use clap::{ArgMatches, Command, FromArgMatches as _, Subcommand};
use serde_json::json;

use crate::{
    cli::{
        accounts::Accounts,
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        output::{JsonFlag, Output, note},
    },
    settings::{Origin, Settings, profile_completer},
};

const EXAMPLES: [&str; 1] = ["tas-mcp profile use production"];

const EXIT_CODES: &str = "Exit codes: 0 success, 1 not found, 2 invalid arguments or file";

#[derive(Subcommand)]
enum ProfileCommand {
    /// Makes a profile the default
    #[command(after_help = help_end(&EXAMPLES, EXIT_CODES))]
    Use {
        /// Name of the profile; `tas-mcp status` lists them
        #[arg(add = profile_completer())]
        name: String,

        #[command(flatten)]
        output: JsonFlag,
    },
}

pub(super) fn command() -> Command {
    let command = Command::new("profile")
        .about("Chooses the default profile: a named set of settings in the configuration file")
        .after_help(help_end(&EXAMPLES, EXIT_CODES))
        .subcommand_value_name("use")
        .subcommand_required(true)
        .arg_required_else_help(true);

    ProfileCommand::augment_subcommands(command)
}

pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let ProfileCommand::Use { name, output } = ProfileCommand::from_arg_matches(matches)?;
    let accounts = Accounts::read()?;
    accounts.profile(&name)?;
    accounts.file.set_default_profile(&name)?;

    if let (Some(active), Some(origin)) = (settings.profile(), settings.profile_origin())
        && !matches!(origin, Origin::ConfigurationFile(_))
        && active != name
    {
        note(&format!("here, {origin} chooses the profile {active}"));
    }

    let outcome = json!({"profile": name, "file": accounts.file.path()});
    Output::from(&output)
        .print(ExitStatus::Success, &outcome, || format!("the profile {name} is the default\n"))
}
