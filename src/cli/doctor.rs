//! `tas-mcp doctor`: shows the settings and checks the service.
//!
//! The command shows which settings are set, which tools are offered, whether the hosts can be reached, and what the
//! key permits. It changes nothing at the service. The output contains no secret, so it can be copied into a bug report.

mod hosts;
mod offered_tools;
mod probes;
mod report;
mod text;

use clap::{Arg, ArgAction, ArgMatches, Command};

use self::{offered_tools::OfferedTools, report::DoctorReport};
use super::{
    command_error::CommandError,
    exit_status::ExitStatus,
    output::{print_line, print_text, status_after_output},
};
use crate::{call::gateway::Gateway, client::KeyKind, settings::Settings};

/// Flag that prints JSON.
const JSON: &str = "json";

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let json = Arg::new(JSON).long(JSON).action(ArgAction::SetTrue);
    Command::new("doctor")
        .about("Shows the settings and checks whether the service can be used, without changing anything")
        .after_help(ExitStatus::HELP)
        .arg(json.help("Print JSON"))
}

/// Prints the report.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let report = examine(settings).await?;
    let printed = if matches.get_flag(JSON) {
        print_line(serde_json::to_string_pretty(&report)?)
    } else {
        print_text(text::render(&report))
    };

    Ok(status_after_output(report.exit_status(), printed))
}

/// Collects the report. Sends requests only if the settings are usable.
async fn examine(settings: &Settings) -> serde_json::Result<DoctorReport> {
    let config = settings.tools_config();
    let urls = config.as_ref().ok().map(|config| {
        (config.call.client.base_url.clone(), config.call.client.knowledge_url.clone().ok().flatten())
    });
    let gateway = Gateway::new(config.map(|config| config.call));

    let (mut hosts, mut probes) = (Vec::new(), Vec::new());
    if let Some((base_url, knowledge_url)) = urls {
        hosts = hosts::reach_all(&gateway, &base_url, knowledge_url.as_ref()).await;
        // Probes of an unreachable host would only repeat its failure.
        if hosts.first().is_some_and(|main| main.reached.is_some()) {
            probes = probes::run_all(&gateway, settings, knowledge_url.is_some()).await;
        }
    }

    Ok(DoctorReport {
        version: env!("CARGO_PKG_VERSION"),
        settings: settings.shown_values(),
        project: settings.project().map(str::to_owned),
        key: gateway.key_kind().map(|kind| match kind {
            KeyKind::Project => "key of a project",
            KeyKind::Organization => "key of an organization",
        }),
        tools: OfferedTools::from_settings(settings)?,
        problem: gateway.settings_failure().cloned(),
        hosts,
        probes,
    })
}
