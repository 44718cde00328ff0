//! Parses the texts of settings into their types. Each unusable text is a problem, whose message shows no key; a failure lists all
//! problems at once.

use std::error::Error as _;

use clap::{
    Args, Command,
    error::{ContextKind, ContextValue},
};
use serde::Serialize;
use serde_json::json;

use super::{
    definition::{API_KEY_FILE, Setting},
    values::Values,
};
use crate::{
    client::KEY_PREFIX,
    failure::{Cause, Code, Failure},
    text::{placeholder, shorten_line, variable_in_braces},
};

/// Marks around a value that a shell removes, and a host does not.
const QUOTATION_MARKS: [char; 2] = ['"', '\''];

/// Longest value that a message quotes, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// Least length of a word that looks like a key, in bytes. Real keys are far longer.
const MIN_KEY_LENGTH: usize = 12;

/// What the text of a problem shows in place of a word that may be a key.
const UNUSABLE: &str = "[unusable]";

/// Longest word of small letters that a message may quote: words of settings, such as names of tools, are shorter.
const MAX_WORD_LENGTH: usize = 40;

/// Least length of a word that may be an API key, in bytes.
const MIN_SECRET_LENGTH: usize = 8;

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
    /// Returns a problem with the value of a setting, or with its absence.
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
    let mut given = Vec::new();
    let mut add = |setting: &Setting, text: &str, reason: String| {
        let reason = quoting(is_for_key(setting), text, reason);
        problems.push(SettingProblem::new(values, setting.name(), reason));
    };
    for setting in settings.iter().filter(|setting| is_used(setting.name())) {
        let Some(text) = values.text(setting.name()) else { continue };
        match check_form(setting, text, values.problem(setting.name())) {
            Ok(()) => given.push((setting, text)),
            Err(reason) => add(setting, text, reason),
        }
    }

    let command = settings.iter().map(|setting| setting.argument.clone());
    let mut command = Command::default().no_binary_name(true).args(command);
    loop {
        let arguments = given.iter().map(|(setting, text)| format!("{}={text}", long_flag(setting)));
        let error = match command.try_get_matches_from_mut(arguments) {
            // A test parses the defaults.
            Ok(matches) => return T::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()),
            Err(error) => error,
        };

        // The library stops at the first unusable value: the others are parsed without it.
        let unusable = given.iter().position(|(setting, _)| is_about(&error, setting));
        let Some((setting, text)) = unusable.map(|index| given.remove(index)) else { error.exit() };
        add(setting, text, reason(&error, setting));
    }
}

/// Returns whether the value of `setting` is the reason of an error.
fn is_about(error: &clap::Error, setting: &Setting) -> bool {
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return false };
    argument.split(' ').next() == Some(&*long_flag(setting))
}

/// Returns why a value cannot be parsed, as the end of a sentence that begins with the name of the setting.
fn reason(error: &clap::Error, setting: &Setting) -> String {
    match error.source() {
        Some(reason) => reason.to_string(),
        None => format!("must be `{}`", setting.words().join("` or `")),
    }
}

fn long_flag(setting: &Setting) -> String {
    format!("--{}", setting.argument.get_long().unwrap_or_default())
}

/// Checks what does not depend on the type of a value. An error is the end of a sentence that begins with the name of the
/// setting.
fn check_form(setting: &Setting, text: &str, problem: Option<&str>) -> Result<(), String> {
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

    if !is_for_key(setting) && words_of(text).any(looks_like_key) {
        return Err("looks like an API key, which only TAS_API_KEY may hold".to_owned());
    }
    Ok(())
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

/// Returns the reason of a problem with the value that it is about, unless the reason quotes the value or the value may
/// be secret.
fn quoting(is_for_key: bool, value: &str, reason: String) -> String {
    // A user name in an address may be a key, and the file of the key may be the key itself.
    let bare = value.trim_matches(QUOTATION_MARKS);
    let is_secret = is_for_key || value.contains('@') || may_be_key(bare);
    let reason = without_possible_keys(value, reason);
    // A reason that quotes something quotes a part of the value, or the words that are valid.
    let is_quoted = |span: &str| span == UNUSABLE || words_of(value).chain([value]).any(|word| word == span);
    let lists_words = is_of_small_letters(value) && !quoted_spans(&reason).any(is_quoted);
    if is_secret || value.is_empty() || (reason.contains('`') && !lists_words) {
        return reason;
    }
    format!("{reason}; it is `{}`", shorten_line(value, MAX_QUOTED_CHARS))
}

/// Returns the reason of a problem without what may be an API key. A reason may quote a word of the value, or its beginning.
fn without_possible_keys(value: &str, reason: String) -> String {
    let words: Vec<_> = words_of(value).filter(|word| may_be_key(word)).collect();
    let is_part = |span: &str| {
        let span = span.trim_start_matches('-');
        span.len() >= MIN_SECRET_LENGTH && words.iter().any(|word| word.starts_with(span))
    };
    let quoted = quoted_spans(&reason).filter(|span| is_part(span));
    // An address may contain a key.
    let keys = reason.split(|character| !is_key_character(character)).filter(|word| looks_like_key(word));
    let hidden: Vec<_> = quoted.chain(keys).map(str::to_owned).collect();

    hidden.iter().fold(reason, |reason, hidden| reason.replace(hidden, UNUSABLE))
}

/// Returns the texts in a reason that stand between backticks.
fn quoted_spans(reason: &str) -> impl Iterator<Item = &str> {
    reason.split('`').skip(1).step_by(2)
}

/// Returns the words of a value: its items, if it is a list.
fn words_of(value: &str) -> impl Iterator<Item = &str> {
    let words = value.split(|character: char| character.is_whitespace() || character == ',');
    words.map(|word| word.trim_start_matches('-'))
}

fn is_key_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// Returns whether a word may be an API key that was given as the value of another setting. A short word of small letters is a word
/// of a setting.
fn may_be_key(word: &str) -> bool {
    word.len() >= MIN_SECRET_LENGTH
        && word.chars().all(is_key_character)
        && (word.starts_with(KEY_PREFIX) || !is_of_small_letters(word))
}

fn is_of_small_letters(word: &str) -> bool {
    word.len() <= MAX_WORD_LENGTH
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-'))
}

/// Returns whether a word begins as every key does and has a digit. Names of accounts and directories may begin so, too.
fn looks_like_key(word: &str) -> bool {
    word.starts_with(KEY_PREFIX)
        && word.len() >= MIN_KEY_LENGTH
        && word.contains(|character: char| character.is_ascii_digit())
        && word.chars().all(is_key_character)
}
