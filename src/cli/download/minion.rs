//! `tas-mcp download minion`: saves the Minion installer.

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use serde_json::Value;

use super::flags::{OVERWRITE, destination, overwrite_flag, to_flag};
use crate::{
    cli::{
        command_error::CommandError,
        download_progress_bar::DownloadProgressBar,
        exit_status::ExitStatus,
        help_end::help_end,
        output::{print_json_or_table, status_after_output},
        table::Table,
        tool_arguments::{json_flag, wants_json},
        value_completion::complete_choices,
    },
    failure::Failure,
    service::api::minions::MinionPlatform,
    text::most_similar,
    tools::{
        call_options::CallOptions,
        composite::minion_platform,
        context::CallerWithFiles,
        download::{DownloadOptions, InstallerRequest, SavedInstaller},
    },
    violation::Violation,
};

/// Commands that the help shows.
const EXAMPLES: [&str; 1] = ["tas-mcp download minion --platform linux-x86_64 --to installers"];

const PLATFORM: &str = "platform";

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let platform = Arg::new(PLATFORM).long(PLATFORM).value_name("P");
    Command::new("minion")
        .about("Saves the latest installer of a Minion, the helper agent of a test machine")
        .after_help(help_end(&EXAMPLES, ExitStatus::HELP))
        .arg(json_flag())
        .arg(complete_choices(
            platform.help(platform_help()),
            MinionPlatform::ALL.map(MinionPlatform::name).to_vec(),
        ))
        .arg(to_flag("Directory, created if missing. Default: the working directory"))
        .arg(overwrite_flag("Replace another file of the same name"))
}

fn platform_help() -> String {
    let [first, second, third] = MinionPlatform::ALL.map(MinionPlatform::name);
    format!("{first}, {second} or {third}. Default: the platform of this machine")
}

/// Downloads the installer and prints its path.
pub(super) async fn run(
    matches: &ArgMatches,
    tools: &CallerWithFiles,
    progress: &DownloadProgressBar,
) -> Result<ExitStatus, CommandError> {
    let named = matches.get_one::<String>(PLATFORM).map(|name| parse_platform(name)).transpose()?;
    let platform = minion_platform(named)?;
    let destination = destination(matches, &tools.files, ".")?;
    let request = InstallerRequest { project: None, platform, overwrite: matches.get_flag(OVERWRITE) };

    let call_options = CallOptions { progress: Arc::new(progress.clone()), ..CallOptions::silent() };
    let outcome = request
        .run(&tools.caller, &tools.files.storage, &destination, &DownloadOptions::default(), &call_options)
        .await;
    // A bar that remains would be mixed with the result.
    progress.clear();

    let installer = outcome.map_err(CommandError::AfterRequests)?;
    let printed = print_json_or_table(&installer, table(&installer), wants_json(matches));

    Ok(status_after_output(ExitStatus::Success, printed))
}

fn parse_platform(name: &str) -> Result<MinionPlatform, Failure> {
    serde_json::from_value(Value::from(name)).map_err(|_| {
        let platforms = MinionPlatform::ALL.map(MinionPlatform::name);
        let nearest = most_similar(name, platforms.iter().map(String::as_str));
        let suggestion = nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
        let rule = format!("must be one of {}{suggestion}", platforms.join(", "));

        Failure::invalid_arguments("download minion", &[Violation::new(PLATFORM, rule)])
    })
}

fn table(installer: &SavedInstaller) -> Table {
    let mut table = Table::new(["file", "bytes", "sha256"]);
    let size = installer.size.map(|size| size.to_string()).unwrap_or_default();
    table.add_row([installer.path.clone(), size, installer.sha256.clone().unwrap_or_default()]);
    table
}
