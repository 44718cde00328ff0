//! The configuration file of the user: profiles, and the profile that is used by default. It contains no key.

use std::{
    fmt::Display,
    ops::Range,
    path::{Path, PathBuf},
};

use anyhow::Result;
use indexmap::IndexMap;
use toml_edit::{Document, DocumentMut, Item, Table, TableLike, value};

use super::definition::{PROFILE, SETTINGS, Setting};
use crate::{
    client::KEY_PREFIX,
    failure::{Code, Failure},
    home_path::{configuration_directory, expand_home},
    text::most_similar,
    text_file::{TextFile, lock_beside},
};

/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Words for the key, which is never in the file.
const KEY_WORDS: [&str; 2] = ["api_key", "key"];

/// Name of the default profile in the file.
const DEFAULT_PROFILE: &str = "default_profile";

/// Table with a table for each profile.
const PROFILES: &str = "profile";

/// Variables that contain the home directory or a directory in it with the configuration of programs.
pub const HOME_VARIABLES: [&str; 4] = ["HOME", "USERPROFILE", "XDG_CONFIG_HOME", "APPDATA"];

/// Returns the directory of this program in the configuration of the user; `None` if the user has no home directory.
pub fn user_directory() -> Option<PathBuf> {
    configuration_directory().map(|directory| directory.join("tas-mcp"))
}

/// The configuration file of a user.
#[derive(Clone, Debug)]
pub struct ConfigurationFile {
    path: PathBuf,
}

/// The content of the configuration file.
#[derive(Debug, Default)]
pub struct Configuration {
    /// Name of the profile that is used if no other one is chosen. The profile may not exist.
    pub default_profile: Option<String>,
    /// The profiles by name, in the order of the file.
    pub profiles: IndexMap<String, Profile>,
}

/// The settings of a profile, in the order of the file.
#[derive(Debug, Default)]
pub struct Profile {
    values: Vec<ProfileValue>,
}

/// A setting of a profile, with its value as text.
pub type ProfileValue = (&'static Setting, String);

impl Profile {
    fn parse(source: &Source<'_>) -> Result<Self> {
        let value = |(word, item)| {
            let setting = source.located(word, profile_setting(word))?;
            Ok((setting, source.located(word, text_of(setting, item))?))
        };
        Ok(Self { values: source.table.iter().map(value).collect::<Result<_>>()? })
    }

    /// Returns the settings with their values as text. A value may be unusable.
    pub fn values(&self) -> impl Iterator<Item = (&'static Setting, &str)> {
        self.values.iter().map(|(setting, text)| (*setting, text.as_str()))
    }

    /// Returns the value of the setting with this name, or with this word in the file.
    pub fn text(&self, name: &str) -> Option<&str> {
        let is_named = |setting: &Setting| setting.word == name || setting.name() == name;
        self.values().find(|(setting, _)| is_named(setting)).map(|(_, text)| text)
    }
}

impl ConfigurationFile {
    /// Returns the file in the directory of this program. It may not exist.
    pub fn in_directory(directory: &Path) -> Self {
        Self { path: directory.join("config.toml") }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that a text can be the name of a profile.
    ///
    /// # Errors
    /// `invalid_arguments`, with the characters that a name may have.
    pub fn check_name(profile: &str) -> Result<(), Failure> {
        check_name(profile)
            .map_err(|reason| Failure::new(Code::InvalidArguments, format!("`{profile}` {reason}")))
    }

    /// Reads the file. A file that does not exist, or whose directory cannot be searched, is empty.
    ///
    /// # Errors
    /// `file_error`: the file cannot be used. The message names the line.
    pub fn read(&self) -> Result<Configuration, Failure> {
        self.load().map_err(|problem| self.failure(&problem))
    }

    /// Reads the file. The error is the end of a sentence about the file.
    pub(super) fn load(&self) -> Result<Configuration> {
        // Services run as users whose home directory is that of another user, or no directory.
        if self.path.symlink_metadata().is_err() {
            return Ok(Configuration::default());
        }
        Configuration::parse(TextFile::read(&self.path, MAX_BYTES)?.text())
    }

    /// Checks that the file can be changed, if it exists.
    ///
    /// # Errors
    /// `file_error`: it cannot be read, or is read-only.
    pub fn check_writable(&self) -> Result<(), Failure> {
        let file = TextFile::read(&self.path, MAX_BYTES);
        file.and_then(|file| file.check_writable()).map_err(|problem| self.failure(&problem.into()))
    }

    /// Sets settings of a profile. A profile that does not exist is created.
    ///
    /// # Errors
    /// `invalid_arguments`: the text cannot be the name of a profile. Otherwise that of every change: `file_error`, the file has
    /// an error or cannot be written.
    pub fn set_values(&self, profile: &str, values: &[ProfileValue]) -> Result<(), Failure> {
        Self::check_name(profile).map_err(|failure| failure.hint("nothing was changed"))?;

        self.edit(|document| {
            let profiles = document.entry(PROFILES).or_insert_with(|| {
                let mut profiles = Table::new();
                profiles.set_implicit(true);
                Item::Table(profiles)
            });
            let Some(profiles) = profiles.as_table_like_mut() else { return };
            if !profiles.contains_key(profile) {
                profiles.insert(profile, Item::Table(Table::new()));
            }
            let Some(profile) = profiles.get_mut(profile).and_then(Item::as_table_like_mut) else { return };
            for (setting, text) in values {
                profile.insert(setting.word, item_of(setting, text));
            }
        })
    }

    /// Removes a profile, if it exists. If it is the default profile, there is none afterwards. The errors are those of
    /// [`Self::set_values`].
    pub fn remove_profile(&self, profile: &str) -> Result<(), Failure> {
        self.edit(|document| {
            if let Some(profiles) = document.get_mut(PROFILES).and_then(Item::as_table_like_mut) {
                profiles.remove(profile);
            }
            if document.get(DEFAULT_PROFILE).and_then(Item::as_str) == Some(profile) {
                document.remove(DEFAULT_PROFILE);
            }
        })
    }

    /// Sets the profile that is used if no other one is chosen. The errors are those of [`Self::set_values`].
    pub fn set_default_profile(&self, profile: &str) -> Result<(), Failure> {
        self.edit(|document| {
            document.insert(DEFAULT_PROFILE, value(profile));
        })
    }

    /// Changes the file. A file with an error is left as it is.
    fn edit(&self, change: impl FnOnce(&mut DocumentMut)) -> Result<(), Failure> {
        let edit = || -> Result<()> {
            let _lock = lock_beside(&self.path)?;
            let file = TextFile::read(&self.path, MAX_BYTES)?;
            let mut document = parse_document(file.text())?.into_mut();
            change(&mut document);

            let changed = document.to_string();
            // A file that could not be read again would disable every command.
            Configuration::parse(&changed)?;
            Ok(file.replace(&changed)?)
        };
        edit().map_err(|problem| self.failure(&problem))
    }

    fn failure(&self, problem: &anyhow::Error) -> Failure {
        let message = format!("{} cannot be used: {problem}", self.path.display());
        Failure::new(Code::FileError, message).hint("the file was left as it is: correct it")
    }
}

impl Configuration {
    fn parse(text: &str) -> Result<Self> {
        let document = parse_document(text)?;
        let source = Source { text: document.raw(), table: document.as_table() };

        let mut configuration = Self::default();
        for (name, item) in source.table.iter() {
            match name {
                DEFAULT_PROFILE => {
                    let profile = item.as_str().ok_or("must be a text in quotes");
                    configuration.default_profile = Some(source.located(name, profile)?.to_owned());
                }
                PROFILES => {
                    let profiles = source.below(name, item)?;
                    for (name, item) in profiles.table.iter() {
                        profiles.located(name, check_name(name))?;
                        let profile = Profile::parse(&profiles.below(name, item)?)?;
                        configuration.profiles.insert(name.to_owned(), profile);
                    }
                }
                _ => source
                    .located(name, Err("is not known here; `default_profile` and `[profile.NAME]` are"))?,
            }
        }

        Ok(configuration)
    }
}

/// Parses a text, with the positions of its parts.
fn parse_document(text: &str) -> Result<Document<String>> {
    let text = text.trim_start_matches('\u{feff}');
    Document::parse(text.to_owned())
        .map_err(|error| anyhow::anyhow!(invalid_toml(text, error.message(), error.span())))
}

/// Returns why a text in TOML cannot be read. The line is named and not quoted, because it may contain a key, and neither is a
/// value that looks like one.
pub(crate) fn invalid_toml(text: &str, reason: &str, span: Option<Range<usize>>) -> String {
    let place = span.map(|span| format!(" near line {}", line_number(text, span.start)));
    let reason = reason.lines().collect::<Vec<_>>().join(", ");
    let reason = if reason.contains(KEY_PREFIX) { "a value has another type".to_owned() } else { reason };
    format!("it is not valid: {reason}{}", place.unwrap_or_default())
}

/// Returns the number of the line that contains this position. The first line is 1.
fn line_number(text: &str, position: usize) -> usize {
    text.get(..position).unwrap_or_default().matches('\n').count() + 1
}

/// Checks that a text can be the name of a profile: it is also the value of a flag, and a part of a name in a keychain.
fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let begins_plain = name.starts_with(|first: char| first.is_ascii_alphanumeric());

    if begins_plain && name.chars().all(is_plain) && name.len() <= 64 {
        return Ok(());
    }
    let reason = "is not the name of a profile: it must have at most 64 letters, digits, `-`, `_` and `.`, and begin with a letter or a digit";
    Err(reason.to_owned())
}

/// Returns the settings that a profile may contain: every setting with a flag and a variable, except the profile itself. A key
/// has no flag.
pub(super) fn profile_settings() -> impl Iterator<Item = &'static Setting> {
    let in_files = |setting: &&Setting| !setting.flag.is_empty() && !setting.variable.is_empty();
    SETTINGS.iter().filter(in_files).filter(|setting| setting.name() != PROFILE)
}

/// Returns the setting that is named `word` in a profile, or why a profile cannot contain it.
fn profile_setting(word: &str) -> Result<&'static Setting, String> {
    let letters = word.replace('-', "_").to_lowercase();
    let words: Vec<_> = profile_settings().map(|setting| setting.word).collect();

    profile_settings().find(|setting| setting.word == word).ok_or_else(|| {
        match most_similar(&letters, words.iter().copied()) {
            _ if KEY_WORDS.contains(&&*letters) => {
                "is never in a file of settings: store a key with `tas-mcp login`".to_owned()
            }
            Some(similar) => format!("is not a setting of a profile; `{similar}` is"),
            None => format!("is not a setting of a profile; these are: {}", words.join(", ")),
        }
    })
}

/// Returns the text of a value in TOML, or the form that it must have.
fn text_of(setting: &Setting, item: &Item) -> Result<String, &'static str> {
    if setting.is_switch() {
        let value = item.as_bool().map(|value| value.to_string());
        return value.ok_or("must be true or false, without quotes");
    }
    if setting.is_number() {
        let value = item.as_integer().map(|value| value.to_string());
        return value.ok_or("must be a whole number, without quotes");
    }

    let text = item.as_str().ok_or("must be a text in quotes")?;
    if setting.is_path() && !Path::new(&*expand_home(text)).is_absolute() {
        return Err("must be an absolute path, or begin with `~/`");
    }
    Ok(text.to_owned())
}

/// Returns the value of a flag as it stands in the file. The flag of a switch is given only to turn it on.
fn item_of(setting: &Setting, text: &str) -> Item {
    match text.parse::<i64>() {
        _ if setting.is_switch() => value(true),
        Ok(number) if setting.is_number() => value(number),
        _ => value(text),
    }
}

/// A table, with the text that it is a part of.
struct Source<'a> {
    text: &'a str,
    table: &'a dyn TableLike,
}

impl<'a> Source<'a> {
    fn below(&self, name: &str, item: &'a Item) -> Result<Self> {
        let table = self.located(name, item.as_table_like().ok_or("must be a table"))?;
        Ok(Self { text: self.text, table })
    }

    /// Returns the value, or its error, which is the end of a sentence that begins with `name`, with the line of `name`.
    fn located<T>(&self, name: &str, value: Result<T, impl Display>) -> Result<T> {
        value.map_err(|reason| {
            let span = self.table.get_key_value(name).and_then(|(key, _)| key.span());
            let line = span.map_or(1, |span| line_number(self.text, span.start));
            anyhow::anyhow!("line {line}: `{name}` {reason}")
        })
    }
}
