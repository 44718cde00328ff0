//! A problem with a setting: its text, which shows no key, and the failure that lists all problems.

use serde::Serialize;
use serde_json::json;

use crate::{
    failure::{Code, Failure},
    text::shorten_line,
};

/// Longest value that a message quotes, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// Beginning of every API key (service.md 1.2).
const KEY_PREFIX: &str = "svc_";

/// Least length of a word that looks like a key, in bytes. Real keys are far longer.
const MIN_KEY_LENGTH: usize = 12;

/// What the text of a problem shows in place of a word that may be a key.
const UNUSABLE: &str = "[unusable]";

/// Longest word of small letters that a message may quote: words of settings, such as names of tools, are shorter.
const MAX_WORD_LENGTH: usize = 40;

/// Least length of a word that may be an API key, in bytes.
const MIN_SECRET_LENGTH: usize = 8;

/// Origin of a setting without a value.
pub(super) const NOT_SET: &str = "not set";

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

/// Returns the failure of every call while these problems exist.
pub(super) fn not_configured(problems: &[SettingProblem]) -> Failure {
    let hint = if problems.iter().any(|problem| problem.origin == NOT_SET) {
        "run `tas-mcp login` in a terminal, or set what is missing, such as in the configuration of the host, and restart the server; `--sandbox` works without settings"
    } else {
        "correct these settings where they come from, such as the configuration of the host, and restart the server; `--sandbox` works without settings"
    };
    Failure::new(Code::NotConfigured, format!("tas-mcp cannot call the service: {}", list(problems)))
        .hint(hint)
        .detail("problems", json!(problems))
}

/// Returns the failure of a server that does not start because of these problems.
pub(super) fn cannot_start(problems: &[SettingProblem]) -> Failure {
    Failure::new(Code::NotConfigured, format!("the server cannot start: {}", list(problems)))
        .detail("problems", json!(problems))
}

/// Returns the failure of a command that would pass these settings on to another process.
pub(super) fn cannot_be_passed_on(problems: &[SettingProblem]) -> Failure {
    Failure::new(Code::NotConfigured, format!("a server could not use these settings: {}", list(problems)))
        .detail("problems", json!(problems))
}

fn list(problems: &[SettingProblem]) -> String {
    let listed = problems.iter().map(|SettingProblem { setting, origin, reason }| match origin.as_str() {
        NOT_SET => format!("`{setting}` {reason}"),
        origin => format!("`{setting}` ({origin}) {reason}"),
    });
    listed.collect::<Vec<_>>().join("; ")
}

/// Returns the reason of a problem with the value that it is about, unless the reason quotes the value or the value may
/// be secret.
pub(super) fn quoting(is_for_key: bool, value: &str, reason: String) -> String {
    // A user name in an address may be a key, and the file of the key may be the key itself.
    let bare = value.trim_matches(['"', '\'']);
    let is_secret = is_for_key || value.contains('@') || may_be_key(bare) && !is_plain_word(bare);
    let reason = without_possible_keys(value, reason);
    // A reason that quotes something quotes a part of the value, or the words that are valid.
    let is_quoted = |span: &str| span == UNUSABLE || words_of(value).chain([value]).any(|word| word == span);
    let lists_words = is_plain_word(value) && !quoted_spans(&reason).any(is_quoted);
    if is_secret || value.is_empty() || (reason.contains('`') && !lists_words) {
        return reason;
    }
    format!("{reason}; it is `{}`", shorten_line(value, MAX_QUOTED_CHARS))
}

/// Returns the reason of a problem without what may be an API key. A reason may quote a word of the value, or its beginning.
fn without_possible_keys(value: &str, reason: String) -> String {
    let words: Vec<_> = words_of(value).filter(|word| may_be_quoted_key(word)).collect();
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

/// Returns the parts of a reason between backticks.
fn quoted_spans(reason: &str) -> impl Iterator<Item = &str> {
    reason.split('`').skip(1).step_by(2)
}

/// Returns the words of a value: its items, if it is a list.
pub(super) fn words_of(value: &str) -> impl Iterator<Item = &str> {
    let words = value.split(|character: char| character.is_whitespace() || character == ',');
    words.map(|word| word.trim_start_matches('-'))
}

fn is_key_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// Returns whether a message must not quote a word: it may be a key, and is no word of small letters.
fn may_be_quoted_key(word: &str) -> bool {
    may_be_key(word) && !is_of_small_letters(word)
}

/// Returns whether a value is a word that cannot be a key, such as a word of a setting.
fn is_plain_word(value: &str) -> bool {
    is_of_small_letters(value) && !value.starts_with(KEY_PREFIX)
}

fn is_of_small_letters(word: &str) -> bool {
    word.len() <= MAX_WORD_LENGTH
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-'))
}

/// Returns whether a value may be an API key that was given as the value of another setting: one long word.
fn may_be_key(value: &str) -> bool {
    value.len() >= MIN_SECRET_LENGTH && value.chars().all(is_key_character)
}

/// Returns whether a word begins as every key does and has a digit. Names of accounts and directories may begin so, too.
pub(super) fn looks_like_key(word: &str) -> bool {
    word.starts_with(KEY_PREFIX)
        && word.len() >= MIN_KEY_LENGTH
        && word.contains(|character: char| character.is_ascii_digit())
        && word.chars().all(is_key_character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_shows_no_word_that_may_be_a_key() {
        for (value, reason, expected) in [
            ("Kx81mN0pQ2", "has the unknown word `Kx81mN0pQ2`", "has the unknown word `[unusable]`"),
            ("runs,-Kx81mN0pQ2", "has the unknown word `Kx81mN0pQ2`", "has the unknown word `[unusable]`"),
            ("every_thing", "has the unknown word `every_thing`", "has the unknown word `every_thing`"),
            ("tools9", "has the unknown word `tools9`", "has the unknown word `tools9`"),
            (&"a".repeat(41), &format!("`{}` is unknown", "a".repeat(41)), "`[unusable]` is unknown"),
            (&"a1".repeat(50), &format!("`{}` is unknown", "a1".repeat(30)), "`[unusable]` is unknown"),
        ] {
            assert_eq!(without_possible_keys(value, reason.to_owned()), expected, "{value}");
        }
    }

    #[test]
    fn a_reason_shows_no_key_inside_an_address() {
        let reason = "`https://h.example/svc_live_1234` must end in /api/v1".to_owned();
        let shown = without_possible_keys("https://h.example/svc_live_1234", reason);
        assert_eq!(shown, "`https://h.example/[unusable]` must end in /api/v1");
    }

    #[test]
    fn a_word_that_begins_as_a_key_and_has_a_digit_looks_like_a_key() {
        for (word, expected) in [
            ("svc_live_1234", true),
            ("svc_1234", false),
            ("svc_build_server", false),
            ("my_svc_name_1234", false),
            ("/home/svc_build01/files", false),
        ] {
            assert_eq!(looks_like_key(word), expected, "{word}");
        }
    }
}
