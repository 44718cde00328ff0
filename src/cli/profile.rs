//! `tas-mcp profile`: the profiles of the configuration file.

use anyhow::Context as _;
use clap::{ArgMatches, Command};
use serde::Serialize;

use super::{
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    output::{note, print_json_or_table, status_after_output, wants_json},
    table::Table,
    user_configuration::{EXIT_CODES, NAME, UserConfiguration, applied_value, name_argument, subcommand},
};
use crate::{
    fields::Fields,
    settings::{Origin, Profile, Settings},
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

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let name = name_argument().required(true).help("Name of the profile");

    Command::new("profile")
        .about("Lists and chooses profiles: named sets of settings in the configuration file")
        .after_help(help_end(&EXAMPLES, EXIT_CODES))
        .subcommand_required(true)
        .subcommand_value_name("list|use")
        .arg_required_else_help(true)
        .subcommand(subcommand("list", "Lists the profiles", EXAMPLES[0]))
        .subcommand(subcommand("use", "Makes a profile the default", EXAMPLES[1]).arg(name))
}

/// Runs a subcommand.
pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let configuration = UserConfiguration::read()?;

    match matches.subcommand().context("the subcommand is missing")? {
        ("list", matches) => Ok(list(matches, settings, &configuration)),
        (_, matches) => {
            let name = matches.get_one::<String>(NAME).context("the name is missing")?;
            use_profile(matches, settings, &configuration, name)
        }
    }
}

fn list(matches: &ArgMatches, settings: &Settings, configuration: &UserConfiguration) -> ExitStatus {
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

    let printed = print_json_or_table(&profiles, table, wants_json(matches));
    status_after_output(ExitStatus::Success, printed)
}

fn use_profile(
    matches: &ArgMatches,
    settings: &Settings,
    configuration: &UserConfiguration,
    name: &str,
) -> Result<ExitStatus, CommandError> {
    configuration.profile(name)?;
    configuration.file.set_default_profile(name)?;

    let is_overridden = !matches!(settings.profile_origin(), Some(Origin::ConfigurationFile(_)));
    let active =
        applied_value(settings, "TAS_PROFILE").filter(|active| is_overridden && active.value != name);
    if let Some(active) = active {
        note(&format!("here, {} chooses the profile {}", active.origin, active.value));
    }

    let was_default = configuration.content.default_profile.as_deref() == Some(name);
    let outcome = if was_default { "unchanged" } else { "default" };
    let file = configuration.file.path().display().to_string();
    let mut table = Table::new(["profile", "outcome", "file"]);
    table.keep_whole(2);
    table.add_row([name, outcome, &file]);
    let printed =
        print_json_or_table(&ProfileChange { profile: name, outcome, file }, table, wants_json(matches));

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
