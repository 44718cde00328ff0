//! `tas-mcp login`: checks an address and a key, and stores them as an account.

use std::{
    io::{self, IsTerminal as _, Read as _, Write as _, stdin},
    time::Duration,
};

use clap::{ArgMatches, Args, Command, FromArgMatches as _, ValueEnum};
use serde::Serialize;

use super::status::GLOBAL_SCOPE;
use crate::{
    cli::{
        accounts::{Accounts, place_text},
        calls::{ask, can_ask, read_answer},
        checks::{Checks, Finding, Mark, reason},
        exit_status::{CommandError, ExitStatus, TerminationSignals},
        help::help_end,
        output::{JsonFlag, Output, note},
    },
    client::{HostUrl, KeyPlace, StoredRecord},
    failure::{Code, Failure},
    settings::{ConfigurationFile, Profile, Settings, complete_address},
    text::trimmed,
};

const EXAMPLES: [&str; 3] = [
    "tas-mcp login",
    "tas-mcp login --base-url https://service.example/api/v1 --profile staging",
    "pass show tas | tas-mcp login --base-url https://service.example/api/v1 --with-key",
];

const NOTES: &str = "The key is stored in a file that only you can read. The packages of a release store it in the keychain of the system, unless `--store file` is given. It is sent only to the address for which it was stored. A key in TAS_API_KEY, TAS_API_KEY_FILE or TAS_API_KEY_COMMAND comes before a stored key. The account has the name of a profile, which --profile chooses.";

const MAX_INPUT_BYTES: u64 = 64 * 1024;

#[derive(Args)]
struct LoginArguments {
    /// Read the key from standard input
    #[arg(long)]
    with_key: bool,

    /// Where the key is stored; the default is `keychain` in the packages of a release, which ask whether to use a file if there is none, else `file`
    #[arg(long, value_name = "PLACE")]
    store: Option<Store>,

    #[command(flatten)]
    output: JsonFlag,
}

#[derive(Clone, Copy, ValueEnum)]
enum Store {
    Keychain,
    File,
}

#[derive(Serialize)]
struct LoginOutcome<'a> {
    account: &'a str,
    /// Whether commands use the account if no other one is chosen.
    is_default: bool,
    address: &'a str,
    knowledge: Option<&'a str>,
    stored_in: KeyPlace,
    #[serde(flatten)]
    checks: Checks,
}

pub(super) fn command() -> Command {
    let command = Command::new("login")
        .about("Stores the address and the API key of an account, after checking them")
        .after_help(help_end(&EXAMPLES, &format!("{NOTES}\n\n{}", ExitStatus::HELP)));

    LoginArguments::augment_args(command)
}

/// Asks for the account, checks it, stores it and prints what its key permits.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = LoginArguments::from_arg_matches(matches)?;
    let accounts = Accounts::read()?;
    let name = settings.account();
    ConfigurationFile::check_name(name)?;

    let profile = accounts.configuration.profiles.get(name);
    let address = read_address(settings, profile)?;
    let knowledge = read_knowledge(settings, profile, &address)?;
    let key = read_key(arguments.with_key, &address)?;
    let checked = settings.with_account(address.as_str(), knowledge.as_ref().map(HostUrl::as_str), &key);
    let checks = Checks::make(&checked).await;
    if !checks.is_key_accepted() {
        return Err(refused(&checks, address.as_str()).into());
    }

    // A profile that cannot be written is found before the key is stored.
    accounts.file.check_writable()?;
    let stored_in = store_key(arguments.store, &accounts, name, stored_record(&checked)?).await?;
    let is_default = write_profile(&accounts, &checked, name, checks.project.as_deref())?;
    if let Some(variable) = settings.key_origin_before_account() {
        note(&format!("note: the key of {variable} comes before the stored key, until it is removed"));
    }

    let knowledge = checked.server().knowledge_url.as_ref().map(HostUrl::as_str);
    let address = address.as_str();
    let outcome = LoginOutcome { account: name, is_default, address, knowledge, stored_in, checks };
    Output::from(&arguments.output).print(ExitStatus::Success, &outcome, || outcome.text())
}

/// Returns the first failure of the checks. Nothing is stored then.
fn refused(checks: &Checks, address: &str) -> Failure {
    let failure = checks.first_failure().cloned();
    let failure = failure.unwrap_or_else(|| Failure::new(Code::Rejected, "the key permits no operation"));

    let message = format!("{address} cannot be used with this key: {}", reason(&failure));
    Failure { message, ..failure }.hint("nothing was stored: check the address and the key; an organization key needs a project (`--project` or `--projects`)")
}

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

/// Returns the address of the settings, else the one of the profile that exists, else the one that the user types.
fn read_address(settings: &Settings, profile: Option<&Profile>) -> Result<HostUrl, Failure> {
    let known = settings.base_url().or(profile.and_then(|profile| profile.text("base_url")));
    let text = match known {
        Some(known) => known.to_owned(),
        None => ask_for("Address of the service, such as https://tas.example.com:")?
            .ok_or_else(|| unanswered("address", "name it with `--base-url`"))?,
    };

    let complete = complete_address(trimmed(&text), true);
    let address = HostUrl::main(&complete).map_err(|reason| invalid_address(&reason))?;
    if known.is_none() && complete != trimmed(&text) {
        note(&format!("note: the address is {complete}"));
    }

    Ok(address)
}

/// Returns the address of the host for knowledge files and artifacts that the user types. Returns `None` if it is known, if the
/// user wants none, or if nobody can be asked.
fn read_knowledge(
    settings: &Settings,
    profile: Option<&Profile>,
    address: &HostUrl,
) -> Result<Option<HostUrl>, Failure> {
    let is_known = settings.names_knowledge_host()
        || profile.is_some_and(|profile| profile.text("knowledge_url").is_some());
    if is_known {
        return Ok(None);
    }

    let proposed = address.as_str().trim_end_matches("/api/v1").to_owned();
    let question = format!("Host of screenshots, run files and knowledge files, `-` for none [{proposed}]:");
    let Some(text) = ask_for(&question)? else { return Ok(None) };
    let complete = match trimmed(&text) {
        "-" => return Ok(None),
        "" => proposed,
        text => complete_address(text, false).into_owned(),
    };

    HostUrl::parse(&complete).map(Some).map_err(|reason| invalid_address(&reason))
}

fn invalid_address(reason: &str) -> Failure {
    Failure::new(Code::InvalidArguments, format!("the address {reason}"))
        .hint("name one such as https://tas.example.com; nothing was sent")
}

/// Returns the key from standard input, or the one that the user types without seeing it.
fn read_key(is_passed: bool, address: &HostUrl) -> Result<String, Failure> {
    if is_passed && !stdin().is_terminal() {
        let mut key = String::new();
        stdin().take(MAX_INPUT_BYTES).read_to_string(&mut key).map_err(|error| unreadable(&error))?;
        return Ok(key);
    }

    if !can_ask() {
        return Err(unanswered("API key", "pass it on standard input with `--with-key`"));
    }
    restore_echo_after_signal();
    let question = write!(io::stderr(), "API key for {} (not shown): ", address.as_str());
    let key = question.and_then(|()| rpassword::read_password());
    if key.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {
        // The signal ends the process.
        std::thread::park_timeout(Duration::from_secs(1));
    }
    key.map_err(|error| unreadable(&error))
}

/// Lets the terminal show again what is typed if a signal ends the process: the library does so only after an answer.
#[expect(clippy::exit, reason = "a question that is read cannot be cancelled")]
fn restore_echo_after_signal() {
    std::thread::spawn(|| {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        let signal = runtime.block_on(async { TerminationSignals::new().receive().await });
        drop(std::process::Command::new("stty").arg("echo").status());
        std::process::exit(signal.exit_status() as i32);
    });
}

/// Asks the user at the terminal. Returns `None` without a terminal.
fn ask_for(question: &str) -> Result<Option<String>, Failure> {
    if !can_ask() {
        return Ok(None);
    }
    read_answer(question).map_err(|error| unreadable(&error))
}

/// Returns the failure of an input. The text of the error could quote it.
fn unreadable(error: &io::Error) -> Failure {
    Failure::new(Code::InvalidArguments, format!("the input cannot be read: {}", error.kind()))
}

fn unanswered(what: &str, hint: &'static str) -> Failure {
    let message = format!("the {what} is missing, and nobody can be asked without a terminal");
    Failure::new(Code::InvalidArguments, message).hint(hint)
}

/// Stores the key in the place that the user chooses. Returns the place.
async fn store_key(
    chosen: Option<Store>,
    accounts: &Accounts,
    account: &str,
    record: StoredRecord,
) -> Result<KeyPlace, CommandError> {
    let place = match chosen {
        Some(Store::File) => KeyPlace::File,
        Some(Store::Keychain) => KeyPlace::Keychain,
        None => KeyPlace::DEFAULT,
    };
    let save = async |place| {
        let (account, record) = (account.to_owned(), record.clone());
        accounts.with_keys(move |keys| keys.save(place, &account, &record)).await
    };

    match save(place).await {
        Ok(()) => Ok(place),
        Err(failure) if chosen.is_none() && place == KeyPlace::Keychain => {
            let path = accounts.keys.file().display();
            let statement = format!("{failure}. The key can be stored in {path}, which only you can read");
            ask(&statement, failure)?;
            Ok(save(KeyPlace::File).await.map(|()| KeyPlace::File)?)
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Writes the address, the project and the settings of the flags into the profile, and makes the profile the default
/// one if there is none. Returns whether it is the default profile.
fn write_profile(
    accounts: &Accounts,
    checked: &Settings,
    account: &str,
    project: Option<&str>,
) -> Result<bool, Failure> {
    let directory = std::env::current_dir().unwrap_or_default();
    accounts.file.set_values(account, &checked.profile_values(project, &directory)?)?;

    let default = accounts.configuration.default_profile.as_deref();
    if default.is_none() {
        accounts.file.set_default_profile(account)?;
    }

    Ok(default.is_none_or(|default| default == account))
}

impl LoginOutcome<'_> {
    /// Returns a line for each fact, and what works with the account.
    fn text(&self) -> String {
        let choice = if self.is_default { "used by default" } else { "choose it with --profile" };
        let key = self.checks.key.unwrap_or("key");
        let stored = [
            ("account", format!("{} ({choice})", self.account)),
            ("key", format!("{key}, stored {}", place_text(self.stored_in))),
            ("project", self.checks.project.as_deref().unwrap_or(GLOBAL_SCOPE).to_owned()),
        ];

        let stored = stored.map(|(subject, found)| Finding::new(Mark::Works, subject, &found));
        stored.into_iter().chain(self.checks.findings()).map(|finding| finding.to_string()).collect()
    }
}
