//! The text of a file of settings: its settings as TOML, and its problems, each with a line.

use std::{
    io,
    path::{Path, PathBuf},
};

use toml_edit::{Document, Item, TableLike, value};

use super::{
    definition::{PROFILE, SETTINGS, Setting},
    parse::boolean,
};
use crate::{
    failure::{Code, Failure},
    home_path::expand_home,
    text::most_similar,
    text_file::TextFileError,
    toml_text::{TomlTextError, line_number},
};

/// Largest file that is read, in bytes.
pub(super) const MAX_BYTES: u64 = 64 * 1024;

/// Words for the key, which is never in a file of settings.
const KEY_WORDS: [&str; 2] = ["api_key", "key"];

/// A file of settings that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be used: {problem}", path.display())]
pub struct UnusableFile {
    /// Path of the file.
    pub path: PathBuf,
    /// The reason.
    pub problem: FileProblem,
}

/// Reason for which a file of settings cannot be used, as the end of a sentence about the file.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] TextFileError),
    /// The text is not TOML, or cannot be changed.
    #[error(transparent)]
    Toml(#[from] TomlTextError),
    /// A name or a value is not one of this file.
    #[error("line {line}: {reason}")]
    Content {
        /// Number of the line. The first line is 1.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
}

impl From<io::Error> for FileProblem {
    fn from(error: io::Error) -> Self {
        Self::File(error.into())
    }
}

impl UnusableFile {
    /// Returns the failure of a command that reads or changes the file.
    pub fn into_failure(self) -> Failure {
        if let FileProblem::File(TextFileError::Changed) = self.problem {
            let hint = "the file was left as it is: run the command again";
            return Failure::new(Code::Conflict, self.to_string()).hint(hint);
        }
        Failure::new(Code::FileError, self.to_string()).hint("the file was left as it is: correct it")
    }
}

/// A table, with the text that it is a part of.
pub(super) struct SourceTable<'a> {
    text: &'a str,
    pub(super) table: &'a dyn TableLike,
}

impl<'a> SourceTable<'a> {
    /// Returns the whole document.
    pub(super) fn of(document: &'a Document<String>) -> Self {
        Self { text: document.raw(), table: document.as_table() }
    }

    /// Returns the table that is the value `item` of the field `name`. Any other value is a problem in the line of `name`.
    pub(super) fn below(&self, name: &str, item: &'a Item) -> Result<Self, FileProblem> {
        let table = item.as_table_like().ok_or("must be a table");
        Ok(Self { text: self.text, table: self.located(name, table)? })
    }

    /// Returns the value, or its error, which is the end of a sentence that begins with `name`, with the line of `name`.
    pub(super) fn located<T, E: AsRef<str>>(
        &self,
        name: &str,
        value: Result<T, E>,
    ) -> Result<T, FileProblem> {
        value.map_err(|reason| self.problem(name, format!("`{name}` {}", reason.as_ref())))
    }

    /// Returns a problem in the line of `name`.
    pub(super) fn problem(&self, name: &str, reason: String) -> FileProblem {
        let span = self.table.get_key_value(name).and_then(|(key, _)| key.span());
        let line = span.map_or(1, |span| line_number(self.text, &span));
        FileProblem::Content { line, reason }
    }
}

/// Returns the settings that a profile may contain: every setting with a flag and a variable, except the profile itself. A key
/// has no flag.
pub fn profile_settings() -> impl Iterator<Item = &'static Setting> {
    let in_files = |setting: &&Setting| !setting.flag.is_empty() && !setting.variable.is_empty();
    SETTINGS.iter().filter(in_files).filter(|setting| setting.name() != PROFILE)
}

/// Returns the setting that is named `word` in a profile.
///
/// # Errors
/// Why a profile cannot contain it, with the settings that it can contain.
pub(super) fn profile_setting(word: &str) -> Result<&'static Setting, String> {
    if let Some(setting) = profile_settings().find(|setting| setting.word == word) {
        return Ok(setting);
    }

    let letters = word.replace('-', "_").to_lowercase();
    if KEY_WORDS.contains(&letters.as_str()) {
        return Err(format!("`{word}` is never in a file of settings: store a key with `tas-mcp login`"));
    }

    let words: Vec<_> = profile_settings().map(|setting| setting.word).collect();
    Err(match most_similar(&letters, words.iter().copied()) {
        Some(similar) => format!("`{word}` is not a setting of a profile; `{similar}` is"),
        None => format!("`{word}` is not a setting of a profile; these are: {}", words.join(", ")),
    })
}

/// Returns the text of a value in TOML.
///
/// # Errors
/// The form that the value must have, as the end of a sentence that begins with the word of the setting.
pub(super) fn text_of(setting: &Setting, item: &Item) -> Result<String, &'static str> {
    let text = if setting.is_switch() {
        item.as_bool().map(|value| value.to_string()).ok_or("must be true or false, without quotes")?
    } else if setting.is_number() {
        item.as_integer().map(|value| value.to_string()).ok_or("must be a whole number, without quotes")?
    } else {
        item.as_str().map(str::to_owned).ok_or("must be a text in quotes")?
    };

    if setting.is_path() && !Path::new(&*expand_home(&text)).is_absolute() {
        return Err("must be an absolute path, or begin with `~/`");
    }

    Ok(text)
}

/// Returns a usable value in TOML.
pub(super) fn item_of(setting: &Setting, text: &str) -> Item {
    if setting.is_switch() {
        return value(boolean(text).unwrap_or(true));
    }
    match text.parse::<i64>() {
        Ok(number) if setting.is_number() => value(number),
        _ => value(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_the_flag_with_underscores() {
        for (word, expected) in [
            ("base_url", Ok("TAS_BASE_URL")),
            ("project", Ok("TAS_PROJECT_ID")),
            ("timeout_s", Ok("TAS_TIMEOUT_S")),
            ("timeout", Err("`timeout_s` is")),
            ("base-url", Err("`base_url` is")),
            ("api_key", Err("tas-mcp login")),
            ("API-KEY", Err("tas-mcp login")),
            ("sandbox", Err("base_url, knowledge_url")),
            ("", Err("base_url, knowledge_url")),
        ] {
            match (profile_setting(word).map(|setting| setting.variable), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(reason), Err(part)) => assert!(reason.contains(part), "{reason}"),
                (other, _) => panic!("{word}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_value_has_the_type_of_its_setting() {
        let item = |text: &str| text.parse::<toml_edit::Value>().map(Item::Value).expect("a value");
        for (word, text, expected) in [
            ("timeout_s", "20", Ok("20")),
            ("timeout_s", "'20'", Err("whole number")),
            ("timeout_s", "2.5", Err("whole number")),
            ("max_reply_chars", "'2000'", Err("whole number")),
            ("read_only", "true", Ok("true")),
            ("read_only", "'yes'", Err("true or false")),
            ("project", "'demo'", Ok("demo")),
            ("project", "['demo']", Err("text")),
            ("ca_file", "'/etc/ca.pem'", Ok("/etc/ca.pem")),
            ("ca_file", "'~/ca.pem'", Ok("~/ca.pem")),
            ("ca_file", "'ca.pem'", Err("absolute")),
        ] {
            let setting = profile_setting(word).expect("a setting");
            match (text_of(setting, &item(text)), expected) {
                (Ok(found), Ok(expected)) => {
                    let written = item_of(setting, &found).to_string();
                    assert_eq!((&*found, written), (expected, item(text).to_string().replace('\'', "\"")));
                }
                (Err(reason), Err(part)) => assert!(reason.contains(part), "{reason}"),
                (other, _) => panic!("{word}: {other:?}"),
            }
        }
    }
}
