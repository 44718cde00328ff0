//! What the user types or a program passes: the address and the key.

use std::io::{self, IsTerminal as _, Read as _, Write as _, stdin};

use crate::{
    client::HostUrl,
    failure::{Code, Failure},
    settings::{Profile, Settings},
    text::trimmed,
};

/// Maximum size of standard input with a key, in bytes.
const MAX_INPUT_BYTES: u64 = 64 * 1024;

/// Returns the address of the settings, else the one of the profile that exists, else the one that the user types.
///
/// # Errors
/// The address cannot be used, or nobody can be asked.
pub(super) fn read_address(settings: &Settings, profile: Option<&Profile>) -> Result<HostUrl, Failure> {
    let known = settings.base_url().or(profile.and_then(|profile| profile.text("base_url")));
    let text = match known {
        Some(known) => known.to_owned(),
        None => ask("Address of the service, ending in /api/v1: ", read_line)?
            .ok_or_else(|| unanswered("address", "name it with `--base-url`"))?,
    };

    HostUrl::main(trimmed(&text))
        .map_err(|reason| Failure::new(Code::InvalidArguments, format!("the address {reason}")))
}

/// Returns the key from standard input, or the one that the user types without seeing it.
///
/// # Errors
/// Standard input cannot be read, or nobody can be asked.
pub(super) fn read_key(is_passed: bool, address: &HostUrl) -> Result<String, Failure> {
    if is_passed && !stdin().is_terminal() {
        return read_passed_key();
    }

    let question = format!("API key for {} (not shown): ", address.as_str());
    ask(&question, rpassword::read_password)?
        .ok_or_else(|| unanswered("API key", "pass it on standard input with `--with-key`"))
}

fn read_passed_key() -> Result<String, Failure> {
    let mut key = String::new();
    stdin().take(MAX_INPUT_BYTES).read_to_string(&mut key).map_err(|error| unreadable(&error))?;

    Ok(key)
}

/// Asks the user at the terminal. Returns `None` without a terminal.
fn ask(question: &str, read: impl Fn() -> io::Result<String>) -> Result<Option<String>, Failure> {
    let mut terminal = io::stderr();
    if !stdin().is_terminal() || !terminal.is_terminal() {
        return Ok(None);
    }

    let answer = write!(terminal, "{question}").and_then(|()| terminal.flush()).and_then(|()| read());
    answer.map(Some).map_err(|error| unreadable(&error))
}

fn read_line() -> io::Result<String> {
    let mut line = String::new();
    stdin().read_line(&mut line).map(|_| line)
}

/// Returns the failure of an input. The text of the error could quote it.
fn unreadable(error: &io::Error) -> Failure {
    Failure::new(Code::InvalidArguments, format!("the input cannot be read: {}", error.kind()))
}

fn unanswered(what: &str, hint: &'static str) -> Failure {
    let message = format!("the {what} is missing, and nobody can be asked without a terminal");
    Failure::new(Code::InvalidArguments, message).hint(hint)
}
