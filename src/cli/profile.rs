//! `tas-mcp profile`: the profiles of the configuration file.

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde::Serialize;

use super::{
    accounts::Accounts,
    command_error::CommandError,
    confirmation::{YES, confirm_change},
    exit_status::ExitStatus,
    help_end::help_end,
    notes::note,
    output::{print_json_or_table, status_after_output},
    table::Table,
    tool_arguments::wants_json,
    user_configuration::{EXIT_CODES, NAME, UserConfiguration, applied_value, name_argument, subcommand},
};
use crate::{
    failure::{Code, Failure},
    fields::Fields,
    settings::{Profile, ProfileChooser, Settings},
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
    let required = || name_argument().required(true).help("Name of the profile");
    let yes =
        Arg::new(YES).long(YES).action(ArgAction::SetTrue).help("Do not ask before the profile is removed");

    Command::new("profile")
        .about("Shows and chooses profiles: named sets of settings in the configuration file")
        .after_help(help_end(&EXAMPLES, EXIT_CODES))
        .subcommand_required(true)
        .subcommand_value_name("list|use|show|remove")
        .arg_required_else_help(true)
        .subcommand(subcommand("list", "Lists the profiles", "tas-mcp profile list"))
        .subcommand(
            subcommand("use", "Makes a profile the default", "tas-mcp profile use production")
                .arg(required()),
        )
        .subcommand(
            subcommand("show", "Shows the settings of a profile", "tas-mcp profile show production")
                .arg(name_argument().help("Name of the profile. Default: the one that is used here")),
        )
        .subcommand(
            subcommand(
                "remove",
                "Removes a profile and its stored key, after asking",
                "tas-mcp profile remove old --yes",
            )
            .args([required(), yes]),
        )
}

/// Runs a subcommand.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let (command, matches) = matches.subcommand().context("the subcommand is missing")?;
    let accounts = Accounts::read()?;
    let configuration = &accounts.configuration;
    let name = || matches.get_one::<String>(NAME).map(String::as_str);

    match command {
        "list" => Ok(list(matches, settings, configuration)),
        "show" => show(matches, settings, configuration, name()),
        "use" => use_profile(matches, settings, configuration, name().context("the name is missing")?),
        _ => remove(matches, &accounts, name().context("the name is missing")?).await,
    }
}

fn list(matches: &ArgMatches, settings: &Settings, configuration: &UserConfiguration) -> ExitStatus {
    let profiles = &configuration.content.profiles;
    let profiles =
        profiles.iter().map(|(name, profile)| shown_profile(settings, configuration, name, profile));
    let profiles: Vec<_> = profiles.collect();
    if profiles.is_empty() {
        note("there are no profiles; `tas-mcp config set` creates one");
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

fn show(
    matches: &ArgMatches,
    settings: &Settings,
    configuration: &UserConfiguration,
    name: Option<&str>,
) -> Result<ExitStatus, CommandError> {
    let name = name.or(configuration.active_profile(settings)).ok_or_else(|| {
        Failure::new(Code::NotFound, "no profile is used here")
            .hint("name one; `tas-mcp profile list` lists them")
    })?;
    let profile = configuration.profile(name)?;

    let mut table = Table::new(["setting", "value"]);
    for (setting, text) in profile.values() {
        table.add_row([setting.word(), text.to_owned()]);
    }
    let shown = shown_profile(settings, configuration, name, profile);
    let printed = print_json_or_table(&shown, table, wants_json(matches));

    Ok(status_after_output(ExitStatus::Success, printed))
}

fn use_profile(
    matches: &ArgMatches,
    settings: &Settings,
    configuration: &UserConfiguration,
    name: &str,
) -> Result<ExitStatus, CommandError> {
    configuration.profile(name)?;
    configuration.file.set_default_profile(name)?;

    let is_default = configuration.content.default_profile.as_deref() == Some(name);
    let outcome = if is_default { "unchanged" } else { "default" };
    let is_overridden = settings.profile_chooser() != Some(ProfileChooser::ConfigurationFile);
    let active =
        applied_value(settings, "TAS_PROFILE").filter(|active| is_overridden && active.value != name);
    if let Some(active) = active {
        note(&format!("here, {} chooses the profile {}", active.origin, active.value));
    }

    Ok(print_change(matches, configuration, name, outcome))
}

/// Removes a profile and the key that is stored for it, which nothing would name afterwards.
async fn remove(matches: &ArgMatches, accounts: &Accounts, name: &str) -> Result<ExitStatus, CommandError> {
    let configuration = &accounts.configuration;
    configuration.profile(name)?;
    if !matches.get_flag(YES) {
        let file = configuration.file.path().display();
        confirm_change(&format!("This removes the profile {name} from {file}, and its stored key"), name)?;
    }

    accounts.remove_key(name).await?;
    configuration.file.remove_profile(name)?;
    if configuration.content.default_profile.as_deref() == Some(name) {
        note("there is no default profile now; `tas-mcp profile use` chooses one");
    }

    Ok(print_change(matches, configuration, name, "removed"))
}

fn shown_profile<'a>(
    settings: &Settings,
    configuration: &UserConfiguration,
    name: &'a str,
    profile: &Profile,
) -> ShownProfile<'a> {
    let values = profile.values().map(|(setting, text)| (setting.word(), text.into()));
    ShownProfile {
        name,
        is_active: configuration.active_profile(settings) == Some(name),
        is_default: configuration.content.default_profile.as_deref() == Some(name),
        settings: values.collect(),
    }
}

fn print_change(
    matches: &ArgMatches,
    configuration: &UserConfiguration,
    profile: &str,
    outcome: &'static str,
) -> ExitStatus {
    let file = configuration.file.path().display().to_string();
    let mut table = Table::new(["profile", "outcome", "file"]);
    table.keep_whole(2);
    table.add_row([profile, outcome, &file]);

    let change = ProfileChange { profile, outcome, file };
    status_after_output(ExitStatus::Success, print_json_or_table(&change, table, wants_json(matches)))
}
