//! `tas-mcp status`: which account the commands use, and what its key permits.

use clap::{ArgMatches, Command};

use super::{
    command_error::CommandError,
    doctor::{self, DoctorReport},
    exit_status::ExitStatus,
    help_end::help_end,
    output::{print_line, print_text, prints_json, status_after_output},
    tool_arguments::{json_flag, wants_json},
};
use crate::{settings::Settings, text::single_line};

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    Command::new("status")
        .about("Shows which address, key and project the commands use, and what the key permits")
        .after_help(help_end(&["tas-mcp status"], ExitStatus::HELP))
        .arg(json_flag())
}

/// Prints the account.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let report = doctor::examine(settings).await?;
    let printed = if prints_json(wants_json(matches)) {
        print_line(serde_json::to_string(&report)?)
    } else {
        print_text(account(&report))
    };

    Ok(status_after_output(report.exit_status(), printed))
}

/// Returns the account as text: a line for each fact, with the place that the value comes from.
fn account(report: &DoctorReport) -> String {
    let setting = |name: &str| report.settings.iter().find(|setting| setting.setting == name);
    let shown =
        |name: &str| setting(name).map(|setting| format!("{} (from {})", setting.value, setting.origin));
    let key_source = report.key_source.as_deref().map(|source| format!(" (from {source})"));

    let mut lines = vec![
        ("address", shown("TAS_BASE_URL").unwrap_or("not set".to_owned())),
        ("key", format!("{}{}", report.key.unwrap_or("none"), key_source.unwrap_or_default())),
        (
            "project",
            shown("TAS_PROJECT_ID").unwrap_or("decided by the ids or the key (global scope)".to_owned()),
        ),
        ("files root", report.files_root.clone()),
    ];
    for probe in report.probes.iter().filter(|probe| probe.needs.starts_with("project:")) {
        let outcome = match &probe.failure {
            None => "yes".to_owned(),
            Some(failure) => format!("no: {}", single_line(&failure.message)),
        };
        let project = probe.project.as_ref().map(|project| format!(" in {project}")).unwrap_or_default();
        lines.push(("may", format!("{}{project}: {outcome}", probe.needs)));
    }
    lines.extend(report.problem.iter().map(|problem| ("unusable", single_line(&problem.message))));

    let lines = lines.into_iter().map(|(name, value)| format!("{name:<10}  {value}\n"));

    lines.collect::<Vec<_>>().concat()
}
