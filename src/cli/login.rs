//! `tas-mcp login`: checks an address and a key, and stores them as an account.

mod input;
mod outcome;
mod storing;

use clap::{Arg, ArgAction, ArgMatches, Command};

use self::{
    input::{read_address, read_key},
    outcome::LoginOutcome,
    storing::{store_flag, store_key, write_profile},
};
use super::{
    accounts::Accounts,
    command_error::CommandError,
    doctor::{self, DoctorReport},
    exit_status::ExitStatus,
    help_end::help_end,
    notes::note,
    output::{print_line, print_text, prints_json, status_after_output},
    tool_arguments::{json_flag, wants_json},
};
use crate::{
    call::Caller,
    client::StoredRecord,
    failure::{Code, Failure},
    service::{api::uploads::InitiateBuildUpload, catalog::ListedOperation as _},
    settings::{ConfigurationFile, Settings},
};

/// Commands that the help shows.
const EXAMPLES: [&str; 3] = [
    "tas-mcp login",
    "tas-mcp login --base-url https://service.example/api/v1 --profile staging",
    "pass show tas | tas-mcp login --base-url https://service.example/api/v1 --with-key",
];

/// What the help says about the key.
const NOTES: &str = "The key is stored in the keychain of the system, or with `--store file` in a file that only you can read. It is sent only to the address for which it was stored. A key in TAS_API_KEY, TAS_API_KEY_FILE or TAS_API_KEY_COMMAND comes before a stored key. The account has the name of a profile, which --profile chooses.";

/// Flag that reads the key from standard input.
const WITH_KEY: &str = "with-key";

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let with_key = Arg::new(WITH_KEY).long(WITH_KEY).action(ArgAction::SetTrue);
    Command::new("login")
        .about("Stores the address and the API key of an account, after checking them")
        .after_help(help_end(&EXAMPLES, &format!("{NOTES}\n\n{}", ExitStatus::HELP)))
        .args([with_key.help("Read the key from standard input"), store_flag(), json_flag()])
}

/// Asks for the account, checks it, stores it and prints what its key permits.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let accounts = Accounts::read()?;
    let name = accounts.configuration.changed_profile(settings)?;
    ConfigurationFile::check_name(name)?;

    let address = read_address(settings, accounts.configuration.content.profiles.get(name))?;
    let key = read_key(matches.get_flag(WITH_KEY), &address)?;
    let checked = settings.with_account(address.as_str(), &key);
    let report = doctor::examine(&checked).await?;
    if !report.is_key_accepted() {
        return Err(refused(&report, address.as_str()).into());
    }

    let record = stored_record(&checked)?;
    let project = project(&checked).await;
    let stored = store_key(matches, &accounts, name, record).await?;
    let place = stored.place;
    let is_default = write_profile(&accounts, &checked, name, project.as_deref(), stored).await?;
    if let Some(variable) = settings.key_origin_before_account() {
        note(&format!("note: the key of {variable} comes before the stored key, until it is removed"));
    }

    let outcome = LoginOutcome::new(&report, name, address.as_str(), project, place, is_default);
    let printed = if prints_json(wants_json(matches)) {
        print_line(serde_json::to_string(&outcome)?)
    } else {
        print_text(outcome.text())
    };

    Ok(status_after_output(ExitStatus::Success, printed))
}

/// Returns the first failure of the checks. Nothing is stored then.
fn refused(report: &DoctorReport, address: &str) -> Failure {
    let failure = report.first_failure().cloned();
    let failure = failure.unwrap_or_else(|| Failure::new(Code::Rejected, "the key permits no operation"));

    let message = format!("{address} cannot be used with this key: {}", failure.message);
    Failure { message, ..failure }.hint("nothing was stored: check the address and the key; an organization key needs a project (`--project` or `--projects`)")
}

/// Returns the key with the addresses that it may be sent to.
fn stored_record(checked: &Settings) -> Result<StoredRecord, Failure> {
    let client = checked.tools_config()?.call.client;
    let knowledge = client.knowledge_url.ok().flatten();
    let addresses = std::iter::once(&client.base_url).chain(&knowledge);
    let addresses = addresses.map(|host| host.as_str().to_owned()).collect();
    let key = client
        .key
        .known_key()
        .map_err(|reason| Failure::new(Code::NotConfigured, format!("the key {reason}")))?;

    Ok(StoredRecord { key, addresses })
}

/// Returns the project of the settings, or else the project of the key; `None` if no record shows it.
async fn project(checked: &Settings) -> Option<String> {
    if let Some(project) = checked.project() {
        return Some(project.to_owned());
    }

    // The path of this operation contains the project, so that the project of the key is looked up.
    let resolved = match checked.tools_config() {
        Ok(config) => Caller::new(config.call).resolve_project(InitiateBuildUpload::entry(), None).await,
        Err(unusable) => Err(unusable),
    };
    resolved.ok().flatten()
}
