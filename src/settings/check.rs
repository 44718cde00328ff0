//! Parses the texts of settings into their types, and collects every problem.

use std::error::Error as _;

use clap::{Args, Command};

use super::{
    definition::{API_KEY_FILE, Setting},
    problem::{SettingProblem, looks_like_key, quoting, words_of},
    values::Values,
};
use crate::text::{placeholder, variable_in_braces};

/// Marks around a value that a shell removes, and a host does not.
const QUOTATION_MARKS: [char; 2] = ['"', '\''];

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
        let name = setting.name();
        let Some(text) = values.text(name) else { continue };
        match check(setting, text, values.problem(name)) {
            Ok(()) => arguments.push(argument(setting, text)),
            Err(reason) => {
                let reason = quoting(is_for_key(setting), text, reason);
                problems.push(values.problem_with(name, reason));
            }
        }
    }

    let command = settings.iter().map(|setting| setting.argument.clone());
    let matches = Command::default().no_binary_name(true).args(command).get_matches_from(arguments);
    // Every value has been checked, and a test parses the defaults.
    T::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Checks the text of a setting. An error is the end of a sentence that begins with the name of the setting.
fn check(setting: &Setting, text: &str, problem: Option<&str>) -> Result<(), String> {
    if let Some(problem) = problem {
        return Err(problem.to_owned());
    }
    // What a host or a person has left around a value is named as such: the message of the parser would be misleading.
    if let Some(placeholder) = unreplaced(setting, text) {
        return Err(format!(
            "still contains the placeholder `{placeholder}`, which the client that started this server did not replace"
        ));
    }
    if is_in_quotation_marks(text) && !is_for_key(setting) {
        return Err("is in quotation marks, which are no part of the value: remove them".to_owned());
    }

    parse(setting, text)?;
    if !is_for_key(setting) && words_of(text).any(looks_like_key) {
        return Err("looks like an API key, which only TAS_API_KEY may hold".to_owned());
    }
    Ok(())
}

fn parse(setting: &Setting, text: &str) -> Result<(), String> {
    let command = Command::default().no_binary_name(true).arg(setting.argument.clone());
    let parsed = command.try_get_matches_from([argument(setting, text)]);

    parsed.map(drop).map_err(|error| match error.source() {
        Some(reason) => reason.to_string(),
        None => format!("must be `{}`", setting.words().join("` or `")),
    })
}

fn argument(setting: &Setting, text: &str) -> String {
    format!("--{}={text}", setting.argument.get_long().unwrap_or_default())
}

/// Returns whether the value may be a key, or contain one. It is never shown.
fn is_for_key(setting: &Setting) -> bool {
    setting.is_secret() || setting.is_command() || setting.name() == API_KEY_FILE
}

/// Returns the placeholder in a value that nobody has replaced.
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
