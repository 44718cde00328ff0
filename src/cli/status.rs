//! `tas-mcp status`: the accounts, which one the commands use, and what its key permits.

use clap::{ArgMatches, Command};
use serde::Serialize;

use super::{
    accounts::{Account, Accounts},
    doctor::{self, DoctorReport, PermissionProbe},
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    output::{json_flag, note, print_line, print_text, prints_json, status_after_output, wants_json},
};
use crate::{settings::Settings, text::single_line};

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    Command::new("status")
        .about("Lists the accounts, and shows which address, key and project the commands use and what the key permits")
        .after_help(help_end(&["tas-mcp status"], ExitStatus::HELP))
        .arg(json_flag())
}

/// The report with the accounts of the user.
#[derive(Serialize)]
struct StatusReport<'a> {
    accounts: &'a [Account],
    #[serde(flatten)]
    report: &'a DoctorReport,
}

/// Prints the accounts, and what the commands use.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let accounts = list_accounts(settings).await;
    let report = doctor::examine(settings).await?;
    let printed = if prints_json(wants_json(matches)) {
        print_line(serde_json::to_string(&StatusReport { accounts: &accounts, report: &report })?)
    } else {
        print_text(text(&accounts, &report))
    };

    Ok(status_after_output(report.exit_status(), printed))
}

/// Returns the accounts of the user. Accounts that cannot be listed do not prevent the rest of the status.
async fn list_accounts(settings: &Settings) -> Vec<Account> {
    if settings.wants_sandbox() {
        return Vec::new();
    }

    match Accounts::read() {
        Ok(accounts) => accounts.list(settings.account()).await,
        Err(failure) => {
            note(&format!("note: the accounts cannot be listed: {}", failure.message));
            Vec::new()
        }
    }
}

/// Returns a line for each fact, with the place that the value comes from.
fn text(accounts: &[Account], report: &DoctorReport) -> String {
    let setting = |name: &str| report.settings.iter().find(|setting| setting.setting == name);
    let shown =
        |name: &str| setting(name).map(|setting| format!("{} (from {})", setting.value, setting.origin));
    let key_source = report.key_source.as_deref().map(|source| format!(" (from {source})"));

    let accounts = accounts.iter().map(|account| ("account", account.line()));
    let facts = [
        ("address", shown("TAS_BASE_URL").unwrap_or("not set".to_owned())),
        ("key", format!("{}{}", report.key.unwrap_or("none"), key_source.unwrap_or_default())),
        (
            "project",
            shown("TAS_PROJECT_ID").unwrap_or("decided by the ids or the key (global scope)".to_owned()),
        ),
        ("files root", report.files_root.clone()),
    ];
    let problem = report.problem.iter().map(|problem| ("unusable", single_line(&problem.message)));

    lines(accounts.chain(facts).chain(permission_lines(&report.probes)).chain(problem))
}

/// Returns a line for each permission of a project: whether the key has it.
pub(super) fn permission_lines(probes: &[PermissionProbe]) -> impl Iterator<Item = (&'static str, String)> {
    probes.iter().filter(|probe| probe.needs.starts_with("project:")).map(|probe| {
        let outcome = match &probe.failure {
            None => "yes".to_owned(),
            Some(failure) => format!("no: {}", single_line(&failure.message)),
        };
        let project = probe.project.as_ref().map(|project| format!(" in {project}")).unwrap_or_default();
        ("may", format!("{}{project}: {outcome}", probe.needs))
    })
}

/// Returns facts, each with its name, as lines.
pub(super) fn lines(facts: impl Iterator<Item = (&'static str, String)>) -> String {
    // Names of profiles and directories may contain line breaks.
    let lines = facts.map(|(name, value)| format!("{name:<10}  {}\n", single_line(&value)));
    lines.collect::<Vec<_>>().concat()
}
