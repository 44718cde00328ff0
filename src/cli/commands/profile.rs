//! `tas-mcp profile`: the profiles of the configuration file.

use clap::{ArgMatches, Command, FromArgMatches as _, Subcommand};
use serde::Serialize;
use serde_json::json;

use crate::{
    cli::{
        accounts::Accounts,
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        output::{JsonFlag, Output, note},
        table::Table,
    },
    fields::Fields,
    settings::{Origin, Settings, profile_completer},
};

const EXAMPLES: [&str; 2] = ["tas-mcp profile list", "tas-mcp profile use production"];

const EXIT_CODES: &str =
    "Exit codes: 0 success, 1 not found or another program has changed the file, 2 invalid arguments or file";

/// A profile, as the commands print it.
#[derive(Serialize)]
struct ShownProfile<'a> {
    name: &'a str,
    /// Whether the commands use the profile.
    is_active: bool,
    /// Whether the profile is used if no other one is chosen.
    is_default: bool,
    settings: Fields,
}

#[derive(Subcommand)]
enum ProfileCommand {
    /// Lists the profiles
    #[command(after_help = help_end(&EXAMPLES[..1], EXIT_CODES))]
    List {
        #[command(flatten)]
        output: JsonFlag,
    },
    /// Makes a profile the default
    #[command(after_help = help_end(&EXAMPLES[1..], EXIT_CODES))]
    Use {
        /// Name of the profile
        #[arg(add = profile_completer())]
        name: String,

        #[command(flatten)]
        output: JsonFlag,
    },
}

pub(super) fn command() -> Command {
    let command = Command::new("profile")
        .about("Lists and chooses profiles: named sets of settings in the configuration file")
        .after_help(help_end(&EXAMPLES, EXIT_CODES))
        .subcommand_value_name("list|use")
        .subcommand_required(true)
        .arg_required_else_help(true);

    ProfileCommand::augment_subcommands(command)
}

pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let accounts = Accounts::read()?;

    match ProfileCommand::from_arg_matches(matches)? {
        ProfileCommand::List { output } => list(&output, settings, &accounts),
        ProfileCommand::Use { name, output } => use_profile(&output, settings, &accounts, &name),
    }
}

fn list(output: &JsonFlag, settings: &Settings, accounts: &Accounts) -> Result<ExitStatus, CommandError> {
    let configuration = &accounts.configuration;
    let profiles = configuration.profiles.iter().map(|(name, profile)| ShownProfile {
        name,
        is_active: settings.profile() == Some(name),
        is_default: configuration.default_profile.as_ref() == Some(name),
        settings: profile.values().map(|(setting, text)| (setting.word.to_owned(), text.into())).collect(),
    });
    let profiles: Vec<_> = profiles.collect();
    if profiles.is_empty() {
        note("there are no profiles; `tas-mcp login` creates one");
    }

    let mut table = Table::new(["profile", "used", "address", "project"]);
    for profile in &profiles {
        let used = [(profile.is_active, "here"), (profile.is_default, "by default")];
        let used: Vec<_> = used.into_iter().filter_map(|(is_used, how)| is_used.then_some(how)).collect();
        let setting =
            |word: &str| profile.settings.get(word).and_then(|value| value.as_str()).unwrap_or_default();
        table.add_row([profile.name, &used.join(", "), setting("base_url"), setting("project")]);
    }

    Output::from(output).print(ExitStatus::Success, &profiles, || table)
}

fn use_profile(
    output: &JsonFlag,
    settings: &Settings,
    accounts: &Accounts,
    name: &str,
) -> Result<ExitStatus, CommandError> {
    accounts.profile(name)?;
    accounts.file.set_default_profile(name)?;

    if let (Some(active), Some(origin)) = (settings.profile(), settings.profile_origin())
        && !matches!(origin, Origin::ConfigurationFile(_))
        && active != name
    {
        note(&format!("here, {origin} chooses the profile {active}"));
    }

    let outcome = json!({"profile": name, "file": accounts.file.path()});
    Output::from(output)
        .print(ExitStatus::Success, &outcome, || format!("the profile {name} is the default\n"))
}
