//! `tas-mcp logout`: removes the stored key of an account.

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use serde_json::json;

use crate::{
    cli::{
        accounts::Accounts,
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        output::{JsonFlag, Output, note},
    },
    failure::{Code, Failure},
    settings::{Origin, Settings},
};

const EXAMPLES: [&str; 2] = ["tas-mcp logout", "tas-mcp logout --profile staging"];

const NOTES: &str = "Without `--profile` the other settings of the account stay in its profile. With `--profile` the profile is removed, too. A running server stops to use the key within 5 minutes.\n\nExit codes: 0 removed, 1 no key was stored and there is no such profile, 2 the keychain or a file cannot be changed";

#[derive(Args)]
struct LogoutArguments {
    #[command(flatten)]
    output: JsonFlag,
}

pub(super) fn command() -> Command {
    let command = Command::new("logout")
        .about("Removes the stored API key of an account; with --profile the profile, too")
        .after_help(help_end(&EXAMPLES, NOTES));

    LogoutArguments::augment_args(command)
}

/// Removes the key, wherever it is stored, and the profile that a flag names.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = LogoutArguments::from_arg_matches(matches)?;
    let accounts = Accounts::read()?;
    let name = settings.account();
    let account = name.to_owned();
    let removed_from = accounts.with_keys(move |keys| keys.remove(&account)).await?;

    let is_named = matches!(settings.profile_origin(), Some(Origin::Flag(_)));
    let removes_profile = is_named && accounts.configuration.profiles.contains_key(name);
    if removes_profile {
        accounts.file.remove_profile(name)?;
    } else if removed_from.is_empty() {
        let message = format!("no key is stored for the account `{name}`");
        return Err(Failure::new(Code::NotFound, message).hint("`tas-mcp status` lists the accounts").into());
    }
    if removes_profile && accounts.configuration.default_profile.as_deref() == Some(name) {
        note("there is no default profile now; `tas-mcp profile use` chooses one");
    }

    let what = match (removed_from.is_empty(), removes_profile) {
        (true, _) => format!("the profile {name} is removed; it had no key\n"),
        (false, true) => format!("the profile {name} and its key are removed\n"),
        (false, false) => format!("the key of the account {name} is removed\n"),
    };
    let outcome = json!({"account": name, "removed_from": removed_from, "removed_profile": removes_profile});
    Output::from(&arguments.output).print(ExitStatus::Success, &outcome, || what)
}
