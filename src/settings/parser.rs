//! Parses values and collects every problem.

use super::{
    definitions::{API_KEY, API_KEY_COMMAND, API_KEY_FILE, SETTINGS},
    http_definitions::HTTP_SETTINGS,
    problem::{NOT_SET, SettingProblem, not_configured},
    setting::Setting,
    values::Values,
};
use crate::{
    client::{ApiKey, KeySource},
    failure::Failure,
    text::{placeholder, shorten_line, variable_in_braces},
};

/// Longest value that a message quotes, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// The problem of a setting into which a key was pasted.
const LOOKS_LIKE_KEY: &str = "looks like an API key, which only TAS_API_KEY may hold";

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

/// Parses values one after the other. A value that cannot be parsed is recorded as a problem.
pub(super) struct SettingParser<'a> {
    values: &'a Values,
    /// The key, which is masked in the texts of problems: it may have been given as the value of another setting.
    key: Option<ApiKey>,
    problems: Vec<SettingProblem>,
    /// Problems that disable only some tools.
    limited_problems: Vec<SettingProblem>,
}

impl<'a> SettingParser<'a> {
    /// Returns a parser of `values`.
    pub(super) fn new(values: &'a Values) -> Self {
        Self { values, key: None, problems: values.file_problems.clone(), limited_problems: Vec::new() }
    }

    /// Returns the values.
    pub(super) fn values(&self) -> &'a Values {
        self.values
    }

    /// Returns whether no problem has been recorded.
    pub(super) fn is_ok(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns the text of `setting`, if it has a value.
    pub(super) fn text(&self, setting: &Setting) -> Option<&str> {
        self.values.text(setting)
    }

    /// Parses the value of `setting`. A missing value is a problem.
    pub(super) fn required<T>(
        &mut self,
        setting: &Setting,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        if !self.values.contains(setting) {
            self.add_problem(setting, "is not set");
        }
        self.optional(setting, parse)
    }

    /// Parses the value of `setting`, if it has one.
    pub(super) fn optional<T>(
        &mut self,
        setting: &Setting,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = self.values.text(setting)?;
        // A placeholder is reported as such: the message of the parser would be misleading.
        let unreplaced = unreplaced(setting, text);
        let parsed = match (self.values.problem(setting), unreplaced) {
            (Some(problem), _) => Err(problem.to_owned()),
            (None, Some(placeholder)) => Err(format!(
                "still contains the placeholder `{placeholder}`, which the client that started this server did not replace"
            )),
            (None, None) => parse(text),
        };

        let is_for_key = setting.is_secret() || setting.is_command() || setting.name() == API_KEY_FILE.name();
        let parsed = parsed.and_then(|value| {
            let is_key = !is_for_key && words_of(text).any(looks_like_key);
            if is_key { Err(LOOKS_LIKE_KEY.to_owned()) } else { Ok(value) }
        });
        parsed.map_err(|reason| self.add_problem(setting, quoting(setting, text, reason))).ok()
    }

    /// Parses the value of `setting`, which only some tools need.
    ///
    /// # Errors
    /// The failure of these tools if the value cannot be parsed. The other tools can be used.
    pub(super) fn for_some_tools<T>(
        &mut self,
        setting: &Setting,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Failure> {
        let earlier = self.problems.len();
        let value = self.optional(setting, parse);

        match self.problems.drain(earlier..).next() {
            Some(problem) => {
                self.limited_problems.push(problem.clone());
                Err(not_configured(&[problem]))
            }
            None => Ok(value),
        }
    }

    /// Returns the source of the API key that `setting` names.
    pub(super) fn key_source(&mut self, setting: &Setting) -> Option<KeySource> {
        let source = match setting.name() {
            name if name == API_KEY_FILE.name() => {
                self.optional(setting, |path| KeySource::file(path.into()))
            }
            name if name == API_KEY_COMMAND.name() => self.optional(setting, KeySource::command),
            _ => self.optional(setting, KeySource::fixed),
        };
        // A key file that cannot be read is no reason to hide the other problems.
        self.key = source.as_ref().and_then(|source| source.known_key().ok());

        source
    }

    /// Records that no setting names a key that may be used.
    pub(super) fn add_missing_key(&mut self) {
        let withheld = self.values.withheld_key.as_deref();
        let reason =
            withheld.unwrap_or("is not set, and neither is `TAS_API_KEY_FILE` or `TAS_API_KEY_COMMAND`");
        self.add_problem(&API_KEY, reason);
    }

    /// Returns the problems that disable all tools in the order of the documentation, and those that disable some.
    pub(super) fn into_problems(mut self) -> (Vec<SettingProblem>, Vec<SettingProblem>) {
        let position =
            |name: &str| SETTINGS.iter().chain(&HTTP_SETTINGS).position(|setting| setting.name() == name);
        self.problems.sort_by_key(|problem| position(problem.setting));

        (self.problems, self.limited_problems)
    }

    /// Records a problem with the value of `setting`.
    pub(super) fn add_problem(&mut self, setting: &Setting, reason: impl Into<String>) {
        let origin = self.values.origin(setting).map_or(NOT_SET.to_owned(), ToString::to_string);
        let reason = self.key.iter().fold(reason.into(), |reason, key| key.mask_text(reason));
        self.problems.push(SettingProblem { setting: setting.name(), origin, reason });
    }
}

/// Returns the placeholder in a value that nobody has replaced.
fn unreplaced<'a>(setting: &Setting, text: &'a str) -> Option<&'a str> {
    // The words of a command may have the other forms of placeholders, and a key may be inside of one.
    let is_name =
        |found: &&str| found.starts_with("${") || !found.contains(|letter: char| letter.is_ascii_lowercase());
    match setting {
        setting if setting.is_command() => variable_in_braces(text),
        setting if setting.is_secret() || setting.name() == API_KEY_FILE.name() => {
            placeholder(text).filter(is_name)
        }
        _ => placeholder(text),
    }
}

/// Returns the reason of a problem with the value that it is about, unless the reason quotes the value or the value may
/// be secret.
fn quoting(setting: &Setting, value: &str, reason: String) -> String {
    // A user name in an address may be a key, and the file of the key may be the key itself.
    let is_secret = setting.is_secret()
        || setting.is_command()
        || setting.name() == API_KEY_FILE.name()
        || value.contains('@')
        || may_be_key(value) && !is_plain_word(value);
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
fn words_of(value: &str) -> impl Iterator<Item = &str> {
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
