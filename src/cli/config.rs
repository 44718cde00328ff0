//! `tas-mcp config`: the settings in the configuration file, and those that apply.

use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command};
use serde::Serialize;

use super::{
    command_error::CommandError,
    exit_status::ExitStatus,
    help_end::help_end,
    notes::note,
    output::{print_json_or_table, print_line, status_after_output},
    table::Table,
    tool_arguments::wants_json,
    user_configuration::{EXIT_CODES, UserConfiguration, applied_value, subcommand, user_directories},
    value_completion::complete_choices,
};
use crate::{
    failure::{Code, Failure},
    settings::{
        ConfigurationFile, ProfileValue, Setting, SettingValue, Settings, profile_setting, profile_settings,
    },
};

const KEY: &str = "key";
const VALUE: &str = "value";

/// Commands that the help shows.
const EXAMPLES: [&str; 3] = [
    "tas-mcp config set base_url https://tas.example.com/api/v1",
    "tas-mcp config set --profile production read_only true",
    "tas-mcp config list",
];

/// A setting that applies, with its name in the configuration file.
#[derive(Serialize)]
struct AppliedSetting {
    setting: String,
    value: String,
    origin: String,
}

/// The result of a change.
#[derive(Serialize)]
struct SettingChange<'a> {
    profile: &'a str,
    setting: &'a str,
    /// The new value, or `None` if the setting was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    file: String,
}

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let key = || {
        let key = Arg::new(KEY).value_name("KEY").required(true);
        let help = "Name of the setting: its flag with `_` in place of `-`, such as `base_url`";
        complete_choices(key.help(help), profile_settings().map(Setting::word).collect())
    };
    let value = Arg::new(VALUE).value_name("VALUE").required(true).allow_hyphen_values(true);

    Command::new("config")
        .about("Changes settings in the configuration file, and shows the settings that apply")
        .after_help(help_end(&EXAMPLES, EXIT_CODES))
        .subcommand_required(true)
        .subcommand_value_name("set|unset|get|list|path")
        .arg_required_else_help(true)
        .subcommand(
            subcommand(
                "set",
                "Sets a setting of the profile that is used, or of that of --profile",
                EXAMPLES[0],
            )
            .args([key(), value.help("The value. A path is relative to the working directory")]),
        )
        .subcommand(
            subcommand(
                "unset",
                "Removes a setting from the profile that is used, or from that of --profile",
                "tas-mcp config unset --profile production read_only",
            )
            .arg(key()),
        )
        .subcommand(
            subcommand(
                "get",
                "Prints the value of a setting that applies here",
                "tas-mcp config get base_url",
            )
            .arg(key()),
        )
        .subcommand(subcommand(
            "list",
            "Lists the settings that apply here, with the place that each comes from",
            "tas-mcp config list",
        ))
        .subcommand(subcommand("path", "Prints the path of the configuration file", "tas-mcp config path"))
}

/// Runs a subcommand.
pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let (command, matches) = matches.subcommand().context("the subcommand is missing")?;
    let argument = |name: &str| matches.get_one::<String>(name).context("an argument is missing");

    match command {
        "set" => set(matches, settings, argument(KEY)?, argument(VALUE)?),
        "unset" => unset(matches, settings, argument(KEY)?),
        "get" => get(matches, settings, argument(KEY)?),
        "list" => Ok(list(matches, settings)),
        _ => path(matches),
    }
}

fn set(matches: &ArgMatches, settings: &Settings, key: &str, text: &str) -> Result<ExitStatus, CommandError> {
    let value = ProfileValue::new(key, text, &std::env::current_dir()?)?;
    let configuration = UserConfiguration::read()?;
    let profile = configuration.changed_profile(settings)?;
    let is_first =
        configuration.content.profiles.is_empty() && configuration.content.default_profile.is_none();
    configuration.file.set_values(profile, std::slice::from_ref(&value))?;
    if is_first {
        configuration.file.set_default_profile(profile)?;
    }
    if let Some(origin) = overriding_origin(settings, key)? {
        note(&format!("here, {origin} overrides `{key}` of the profile"));
    }

    Ok(print_change(matches, &configuration, profile, key, Some(value.text())))
}

fn unset(matches: &ArgMatches, settings: &Settings, key: &str) -> Result<ExitStatus, CommandError> {
    find_setting(key)?;
    let configuration = UserConfiguration::read()?;
    let profile = configuration.changed_profile(settings)?;
    if configuration.profile(profile)?.text(key).is_none() {
        let failure = Failure::new(Code::NotFound, format!("the profile `{profile}` does not set `{key}`"));
        return Err(failure.hint("`tas-mcp profile show` shows the settings of a profile").into());
    }

    configuration.file.remove_value(profile, key)?;
    if let Some(origin) = overriding_origin(settings, key)? {
        note(&format!("here, {origin} sets `{key}`"));
    }

    Ok(print_change(matches, &configuration, profile, key, None))
}

fn print_change(
    matches: &ArgMatches,
    configuration: &UserConfiguration,
    profile: &str,
    setting: &str,
    value: Option<&str>,
) -> ExitStatus {
    let file = configuration.file.path().display().to_string();
    let mut table = Table::new(["profile", "setting", "value", "file"]);
    table.keep_whole(3);
    table.add_row([profile, setting, value.unwrap_or("(removed)"), &file]);
    let change = SettingChange { profile, setting, value, file };

    status_after_output(ExitStatus::Success, print_json_or_table(&change, table, wants_json(matches)))
}

/// Returns the place that sets the setting here in place of a profile, if there is one.
fn overriding_origin(settings: &Settings, key: &str) -> Result<Option<String>, CommandError> {
    let applied = applied_value(settings, find_setting(key)?.variable);
    Ok(applied.filter(|applied| !applied.is_in_profile).map(|applied| applied.origin))
}

fn get(matches: &ArgMatches, settings: &Settings, key: &str) -> Result<ExitStatus, CommandError> {
    let setting = find_setting(key)?;
    let applied = applied_value(settings, setting.variable).ok_or_else(|| {
        let failure = Failure::new(Code::NotFound, format!("`{key}` is not set"));
        match setting.default {
            "" => failure.hint(format!("`tas-mcp config set {key} VALUE` sets it")),
            default => failure.hint(format!("the default is: {default}")),
        }
    })?;

    let printed = if wants_json(matches) {
        print_line(serde_json::to_string(&applied_setting(applied))?)
    } else {
        print_line(applied.value)
    };

    Ok(status_after_output(ExitStatus::Success, printed))
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

fn find_setting(key: &str) -> Result<&'static Setting, Failure> {
    let hint = "`tas-mcp config list` shows the settings that apply";
    profile_setting(key).map_err(|reason| Failure::new(Code::InvalidArguments, reason).hint(hint))
}

/// Returns the setting with the name that it has in the configuration file; the name of the variable if the file cannot
/// contain it.
fn applied_setting(value: SettingValue) -> AppliedSetting {
    let setting = profile_settings().find(|setting| setting.variable == value.setting);
    let name = setting.map_or_else(|| value.setting.to_owned(), Setting::word);
    AppliedSetting { setting: name, value: value.value, origin: value.origin }
}
