//! Parses the texts of settings into their types. Each unusable text is a problem; a failure lists all problems at once.

use std::error::Error as _;

use clap::{Args, Command};
use serde::Serialize;
use serde_json::json;

use super::{
    definition::{API_KEY_FILE, Setting},
    values::Values,
};
use crate::{
    failure::{Cause, Code, Failure},
    text::{placeholder, variable_in_braces},
};

/// Marks around a value that a shell removes, and a host does not.
const QUOTATION_MARKS: [char; 2] = ['"', '\''];

/// Origin of a setting without a value.
const NOT_SET: &str = "not set";

/// A setting that is missing or unusable.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SettingProblem {
    /// Name of the setting.
    pub(super) setting: &'static str,
    /// Origin of the value, or [`NOT_SET`].
    pub(super) origin: String,
    /// The reason, as the end of a sentence that begins with the name of the setting.
    #[serde(rename = "problem")]
    pub(super) reason: String,
}

impl SettingProblem {
    pub(super) fn new(values: &Values, setting: &'static str, reason: impl Into<String>) -> Self {
        let origin = values.origin(setting).map_or(NOT_SET.to_owned(), ToString::to_string);
        Self { setting, origin, reason: reason.into() }
    }
}

/// Returns the failure of every call while these problems exist.
pub(super) fn not_configured(problems: &[SettingProblem]) -> Failure {
    let is_missing = problems.iter().any(|problem| problem.origin == NOT_SET);
    let hint = if is_missing {
        "run `tas-mcp login` in a terminal, or set what is missing, such as in the configuration of the host, and restart the server; `--sandbox` works without settings"
    } else {
        "correct these settings where they come from, such as the configuration of the host, and restart the server; `--sandbox` works without settings"
    };
    let mut failure = unusable("tas-mcp cannot call the service", problems).hint(hint);
    failure.facts.cause = is_missing.then_some(Cause::MissingSetting);

    failure
}

/// Returns a failure that lists the problems after `what` they prevent.
pub(super) fn unusable(what: &str, problems: &[SettingProblem]) -> Failure {
    let listed = problems.iter().map(|SettingProblem { setting, origin, reason }| match origin.as_str() {
        NOT_SET => format!("`{setting}` {reason}"),
        origin => format!("`{setting}` ({origin}) {reason}"),
    });
    let message = format!("{what}: {}", listed.collect::<Vec<_>>().join("; "));

    Failure::new(Code::NotConfigured, message).detail("problems", json!(problems))
}

/// Returns the values of the settings of `T`, without the unusable ones and those that `is_used` leaves out. Each unusable value
/// is added to `problems`.
pub(super) fn parse_values<T: Args>(
    settings: &'static [Setting],
    values: &Values,
    is_used: impl Fn(&str) -> bool,
    problems: &mut Vec<SettingProblem>,
) -> T {
    let mut arguments = Vec::new();
    for setting in settings.iter().filter(|setting| is_used(setting.name())) {
        let Some(text) = values.text(setting.name()) else { continue };
        let argument = format!("--{}={text}", setting.long());
        match check(setting, text, &argument, values.problem(setting.name())) {
            Ok(()) => arguments.push(argument),
            Err(reason) => problems.push(SettingProblem::new(values, setting.name(), reason)),
        }
    }

    let command = Command::default().no_binary_name(true);
    let command = command.args(settings.iter().map(|setting| setting.argument.clone()));
    // The values have been checked, and a test parses the defaults.
    let matches = command.get_matches_from(arguments);
    T::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Checks a value alone, because the library stops at the first unusable one. An error is the end of a sentence that begins
/// with the name of the setting.
fn check(setting: &Setting, text: &str, argument: &str, problem: Option<&str>) -> Result<(), String> {
    check_form(setting, text)?;
    if let Some(problem) = problem {
        return Err(problem.to_owned());
    }

    let command = Command::default().no_binary_name(true).arg(setting.argument.clone());
    match command.try_get_matches_from([argument]) {
        Ok(_) => Ok(()),
        Err(error) => Err(match error.source() {
            Some(reason) => reason.to_string(),
            None => format!("must be `{}`", setting.words().join("` or `")),
        }),
    }
}

/// Checks for what a host or a person has left around a value: the message of the parser would be misleading.
fn check_form(setting: &Setting, text: &str) -> Result<(), String> {
    if let Some(placeholder) = unreplaced(setting, text) {
        return Err(format!(
            "still contains the placeholder `{placeholder}`, which the client that started this server did not replace"
        ));
    }
    if is_in_quotation_marks(text) && !is_for_key(setting) {
        return Err("is in quotation marks, which are no part of the value: remove them".to_owned());
    }

    Ok(())
}

fn is_for_key(setting: &Setting) -> bool {
    setting.is_secret() || setting.name() == API_KEY_FILE
}

fn unreplaced<'a>(setting: &Setting, text: &'a str) -> Option<&'a str> {
    // The words of a command may have the other forms of placeholders, and a key may be inside of one.
    let is_name =
        |found: &&str| found.starts_with("${") || !found.contains(|letter: char| letter.is_ascii_lowercase());
    match setting {
        setting if setting.is_command() => variable_in_braces(text),
        setting if is_for_key(setting) => placeholder(text).filter(is_name),
        _ => placeholder(text),
    }
}

fn is_in_quotation_marks(text: &str) -> bool {
    text.len() > 1 && QUOTATION_MARKS.iter().any(|mark| text.starts_with(*mark) && text.ends_with(*mark))
}
