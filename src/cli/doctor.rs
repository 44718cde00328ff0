//! `tas-mcp doctor`: shows the settings and checks the service.
//!
//! The command shows which settings are set, which tools are offered, whether the hosts can be reached, and what the
//! key permits. If a setting of the HTTP server is set, it also checks the set-up of that server. It changes nothing at
//! the service. The output contains no secret, so it can be copied into a bug report.

mod hosts;
mod offered_tools;
mod probes;
mod report;
mod text;

use clap::{Arg, ArgAction, ArgMatches, Command};

use self::offered_tools::OfferedTools;
pub(super) use self::{probes::PermissionProbe, report::DoctorReport};
use super::{
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    output::{print_line, print_text, status_after_output},
};
use crate::{
    call::Caller, client::KeyKind, http::check_setup, settings::Settings, text::single_line,
    tools::files::FilesRoot,
};

/// Commands that the help shows.
const EXAMPLES: [&str; 2] = ["tas-mcp doctor", "tas-mcp --sandbox doctor --json"];

/// Flag that prints JSON.
const JSON: &str = "json";

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let json = Arg::new(JSON).long(JSON).action(ArgAction::SetTrue);
    Command::new("doctor")
        .about("Shows the settings and checks whether the service can be used, without changing anything")
        .after_help(help_end(&EXAMPLES, ExitStatus::HELP))
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
pub(super) async fn examine(settings: &Settings) -> serde_json::Result<DoctorReport> {
    let is_http = settings.has_http_values();
    let config =
        if is_http { settings.http_config().map(|(_, config)| config) } else { settings.tools_config() };
    let urls = config.as_ref().ok().map(|config| {
        (config.call.client.base_url.clone(), config.call.client.knowledge_url.clone().ok().flatten())
    });
    let caller = config.map(|config| Caller::new(config.call));
    let key = match &caller {
        Ok(caller) => caller.key_kind().await,
        Err(unusable) => Err(unusable.clone()),
    };
    // Each client of the HTTP server may send its own key.
    let needs_key = !is_http || settings.has_key();
    let problem = key.as_ref().err().filter(|_| needs_key).or(caller.as_ref().err()).cloned();

    let (mut hosts, mut probes) = (Vec::new(), Vec::new());
    if let (Some((base_url, knowledge_url)), Ok(caller), None) = (urls, &caller, &problem) {
        hosts = hosts::reach_all(caller, &base_url, knowledge_url.as_ref()).await;
        // Probes of an unreachable host would only repeat its failure.
        let is_reached = hosts.first().is_some_and(|main| main.reached.is_some());
        if is_reached && key.is_ok() {
            probes = probes::run_all(caller, settings, knowledge_url.is_some()).await;
        }
    }

    // Unusable settings are reported once.
    let http_setup = match &problem {
        None if is_http => check_setup(settings).await.unwrap_or_default(),
        _ => Vec::new(),
    };

    Ok(DoctorReport {
        version: env!("CARGO_PKG_VERSION"),
        settings: settings.shown_values(),
        project: settings.project().map(str::to_owned),
        key: key.ok().map(|kind| match kind {
            KeyKind::Project => "key of a project",
            KeyKind::Organization => "key of an organization",
        }),
        key_source: settings.key_origin(),
        files_root: files_root(settings),
        tools: OfferedTools::from_settings(settings),
        problem,
        hosts,
        probes,
        http_setup,
    })
}

/// Returns the files root with its origin, or why there is none.
fn files_root(settings: &Settings) -> String {
    let set = settings.shown_values().into_iter().find(|setting| setting.setting == "TAS_FILES_ROOT");
    match (set, FilesRoot::working_directory()) {
        (Some(set), _) => format!("{} (from {})", set.value, set.origin),
        (None, Ok(root)) => format!("{} (the working directory)", root.path().display()),
        (None, Err(failure)) => format!("none: {}", single_line(&failure.message)),
    }
}
