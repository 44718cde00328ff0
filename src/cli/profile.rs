//! `tas-mcp profile`: the profiles of the configuration file.

use clap::{ArgMatches, Command, FromArgMatches as _, Subcommand};
use serde::Serialize;

use super::{
    accounts::{EXIT_CODES, UserConfiguration},
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    output::{JsonFlag, note, print_json_or_table, status_after_output},
    table::Table,
};
use crate::{
    fields::Fields,
    settings::{Origin, Profile, Settings, profile_completer},
};

/// Commands that the help shows.
const EXAMPLES: [&str; 2] = ["tas-mcp profile list", "tas-mcp profile use production"];

/// A profile, as the commands print it.
#[derive(Serialize)]
struct ShownProfile<'a> {
    name: &'a str,
    /// Whether commands in this directory use the profile.
    is_active: bool,
    /// Whether the profile is used if no other one is chosen.
    is_default: bool,
    settings: Fields,
}

/// The result of a change.
#[derive(Serialize)]
struct ProfileChange<'a> {
    profile: &'a str,
    outcome: &'static str,
    file: String,
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

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let command = Command::new("profile")
        .about("Lists and chooses profiles: named sets of settings in the configuration file")
        .after_help(help_end(&EXAMPLES, EXIT_CODES))
        .subcommand_value_name("list|use")
        .subcommand_required(true)
        .arg_required_else_help(true);

    ProfileCommand::augment_subcommands(command)
}

/// Runs a subcommand.
pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let configuration = UserConfiguration::read()?;

    match ProfileCommand::from_arg_matches(matches)? {
        ProfileCommand::List { output } => Ok(list(&output, settings, &configuration)),
        ProfileCommand::Use { name, output } => use_profile(&output, settings, &configuration, &name),
    }
}

fn list(output: &JsonFlag, settings: &Settings, configuration: &UserConfiguration) -> ExitStatus {
    let profiles = &configuration.content.profiles;
    let profiles =
        profiles.iter().map(|(name, profile)| shown_profile(settings, configuration, name, profile));
    let profiles: Vec<_> = profiles.collect();
    if profiles.is_empty() {
        note("there are no profiles; `tas-mcp login` creates one");
    }

    let mut table = Table::new(["profile", "used", "address", "project"]);
    for profile in &profiles {
        let used = match (profile.is_active, profile.is_default) {
            (true, true) => "here, by default",
            (true, false) => "here",
            (false, true) => "by default",
            (false, false) => "",
        };
        let setting =
            |word: &str| profile.settings.get(word).and_then(|value| value.as_str()).unwrap_or_default();
        table.add_row([profile.name, used, setting("base_url"), setting("project")]);
    }

    let printed = print_json_or_table(&profiles, table, output.json);
    status_after_output(ExitStatus::Success, printed)
}

fn use_profile(
    output: &JsonFlag,
    settings: &Settings,
    configuration: &UserConfiguration,
    name: &str,
) -> Result<ExitStatus, CommandError> {
    configuration.profile(name)?;
    configuration.file.set_default_profile(name)?;

    let is_overridden = !matches!(settings.profile_origin(), Some(Origin::ConfigurationFile(_)));
    if let (Some(active), Some(origin)) = (settings.profile(), settings.profile_origin())
        && is_overridden
        && active != name
    {
        note(&format!("here, {origin} chooses the profile {active}"));
    }

    let was_default = configuration.content.default_profile.as_deref() == Some(name);
    let outcome = if was_default { "unchanged" } else { "default" };
    let file = configuration.file.path().display().to_string();
    let mut table = Table::new(["profile", "outcome", "file"]);
    table.keep_whole(2);
    table.add_row([name, outcome, &file]);
    let printed = print_json_or_table(&ProfileChange { profile: name, outcome, file }, table, output.json);

    Ok(status_after_output(ExitStatus::Success, printed))
}

fn shown_profile<'a>(
    settings: &Settings,
    configuration: &UserConfiguration,
    name: &'a str,
    profile: &Profile,
) -> ShownProfile<'a> {
    let values = profile.values().map(|(setting, text)| (setting.word.to_owned(), text.into()));
    ShownProfile {
        name,
        is_active: configuration.active_profile(settings) == Some(name),
        is_default: configuration.content.default_profile.as_deref() == Some(name),
        settings: values.collect(),
    }
}
