//! `tas-mcp status`: the accounts, which one the commands use, and what its key permits.

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use serde::Serialize;

use super::{
    accounts::{Account, Accounts},
    checks::Checks,
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    output::{JsonFlag, note, print_line, print_text, prints_json, status_after_output},
};
use crate::{settings::Settings, text::single_line};

#[derive(Args)]
struct StatusArguments {
    #[command(flatten)]
    output: JsonFlag,
}

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let command = Command::new("status")
        .about("Shows the accounts, and what the commands use and may do")
        .after_help(help_end(&["tas-mcp status"], ExitStatus::HELP));

    StatusArguments::augment_args(command)
}

/// The checks, with the accounts of the user.
#[derive(Serialize)]
struct StatusReport {
    accounts: Vec<Account>,
    #[serde(flatten)]
    checks: Checks,
}

/// Prints the accounts, and what the commands use.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = StatusArguments::from_arg_matches(matches)?;
    let report =
        StatusReport { accounts: list_accounts(settings).await, checks: Checks::make(settings).await };
    let printed = if prints_json(arguments.output.json) {
        print_line(serde_json::to_string(&report)?)
    } else {
        print_text(report.text())
    };

    Ok(status_after_output(report.checks.exit_status(), printed))
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

impl StatusReport {
    /// Returns a line for each account and for each fact.
    fn text(&self) -> String {
        // Names of profiles may contain line breaks.
        let accounts = self.accounts.iter().map(|account| format!("{}\n", single_line(&account.line())));
        let findings = self.checks.findings().into_iter().map(|finding| finding.to_string());
        let gap = (!self.accounts.is_empty()).then(|| "\n".to_owned());

        accounts.chain(gap).chain(findings).collect()
    }
}
