//! `tas-mcp logout`: removes the stored key of an account.

use clap::{ArgMatches, Command};
use serde_json::json;

use super::{
    accounts::Accounts,
    command_error::CommandError,
    exit_status::ExitStatus,
    help_end::help_end,
    output::{print_line, print_text, prints_json, status_after_output},
    tool_arguments::{json_flag, wants_json},
};
use crate::{
    failure::{Code, Failure},
    settings::Settings,
};

/// Commands that the help shows.
const EXAMPLES: [&str; 2] = ["tas-mcp logout", "tas-mcp logout --profile staging"];

/// What the help says about the rest of the account.
const NOTES: &str = "The other settings of the account stay in its profile. A running server stops to use the key within 5 minutes.\n\nExit codes: 0 the key was removed, 1 no key was stored, 2 the keychain or the file cannot be changed";

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    Command::new("logout")
        .about("Removes the stored API key of an account")
        .after_help(help_end(&EXAMPLES, NOTES))
        .arg(json_flag())
}

/// Removes the key, wherever it is stored.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let accounts = Accounts::read()?;
    let name = settings.account();
    let removed = accounts.remove_key(name).await?;

    if removed.is_empty() {
        let message = format!("no key is stored for the account `{name}`");
        return Err(Failure::new(Code::NotFound, message).hint("`tas-mcp status` lists the accounts").into());
    }
    let printed = if prints_json(wants_json(matches)) {
        print_line(json!({"account": name, "removed_from": removed}))
    } else {
        print_text(format!("the key of the account {name} is removed\n"))
    };

    Ok(status_after_output(ExitStatus::Success, printed))
}
