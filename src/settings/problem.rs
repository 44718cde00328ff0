//! Parses the texts of settings into their types. Each unusable text is a problem; a failure lists all problems at once.

use std::error::Error as _;

use clap::{Args, Command};
use serde::Serialize;
use serde_json::json;

use super::{
    definition::{API_KEY_COMMAND, API_KEY_FILE, Setting},
    values::{KEY_SETTINGS, Values},
};
use crate::{
    client::KEY_PREFIX,
    failure::{Cause, Code, Failure},
    text::{placeholder, variable_in_braces},
};

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

/// Returns the values of the settings of `T` without the unusable ones, and their problems. Settings for the key that are not used
/// are left out.
pub(super) fn parse_values<T: Args>(
    settings: &'static [Setting],
    values: &Values,
) -> (T, Vec<SettingProblem>) {
    let (mut arguments, mut problems) = (Vec::new(), Vec::new());
    let key = values.key_setting();
    let is_used = |name| !KEY_SETTINGS.contains(&name) || key == Some(name);
    for setting in settings.iter().filter(|setting| is_used(setting.name())) {
        let Some(text) = values.text(setting.name()) else { continue };
        // A secret has a flag here, too.
        let argument = format!("--{}={text}", setting.argument.get_long().unwrap_or_default());
        match problem_of_form(setting, text)
            .or(values.problem(setting.name()).map(str::to_owned))
            .or_else(|| problem_of_value(setting, &argument))
        {
            None => arguments.push(argument),
            Some(reason) => problems.push(SettingProblem::new(values, setting.name(), reason)),
        }
    }

    let command = Command::default().no_binary_name(true);
    let command = command.args(settings.iter().map(|setting| setting.argument.clone()));
    // The values have been checked, and a test parses the defaults.
    let matches = command.get_matches_from(arguments);
    (T::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()), problems)
}

// A problem of a value is the end of a sentence that begins with the name of the setting.

/// Checks a value alone, because the library stops at the first unusable one.
fn problem_of_value(setting: &Setting, argument: &str) -> Option<String> {
    let command = Command::default().no_binary_name(true).arg(setting.argument.clone());
    let error = command.try_get_matches_from([argument]).err()?;
    if let Some(reason) = error.source() {
        return Some(reason.to_string());
    }

    let words = setting.argument.get_possible_values();
    let words: Vec<_> = words.iter().map(|word| format!("`{}`", word.get_name())).collect();
    Some(format!("must be {}", words.join(" or ")))
}

/// Checks for a key in the wrong place, which no message may quote, and for what a host or a person has left around a value, of
/// which the message of the parser would be misleading.
fn problem_of_form(setting: &Setting, text: &str) -> Option<String> {
    let mut words = text.split([',', ' ', ':', '=', '@', '"', '\'']);
    // An address is checked, and shown without its secret parts, by its parser.
    let is_address = text.contains("://");
    if !setting.is_secret() && !is_address && words.any(|word| word.starts_with(KEY_PREFIX)) {
        return Some("looks like an API key, which belongs into `TAS_API_KEY`".to_owned());
    }

    let is_for_key = setting.is_secret() || setting.name() == API_KEY_FILE;
    let found = if setting.name() == API_KEY_COMMAND {
        // The words of a command may have the other forms of placeholders.
        variable_in_braces(text)
    } else {
        // A key may be inside of a placeholder.
        placeholder(text).filter(|found| !is_for_key || is_variable_name(found))
    };
    if let Some(found) = found {
        return Some(format!(
            "still contains the placeholder `{found}`, which the client that started this server did not replace"
        ));
    }

    // A shell removes these marks, and a host does not.
    let is_between = |mark| text.len() > 1 && text.starts_with(mark) && text.ends_with(mark);
    let is_quoted = !is_for_key && ['"', '\''].into_iter().any(is_between);
    is_quoted.then(|| "is in quotation marks, which are no part of the value: remove them".to_owned())
}

fn is_variable_name(placeholder: &str) -> bool {
    placeholder.starts_with("${") || !placeholder.contains(|letter: char| letter.is_ascii_lowercase())
}
