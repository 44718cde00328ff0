//! The values of the settings as text, with their origins.

use std::{collections::BTreeMap, fmt};

use clap::ArgMatches;

use super::{definitions::SETTINGS, setting::Setting};

/// Values of the settings by name, not parsed yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Values(BTreeMap<&'static str, SourcedText>);

/// Text of a setting, and its origin.
#[derive(Clone)]
pub(super) struct SourcedText {
    text: String,
    origin: Origin,
}

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The command line.
    Flag(&'static str),
    /// The environment.
    Variable(&'static str),
    /// The embedded sandbox, which provides its addresses and a key.
    Sandbox,
}

impl Values {
    /// Returns the values of the flags in `matches`, and for the other settings the values that `variable` returns.
    /// An empty value counts as not set.
    pub(super) fn from_sources(matches: &ArgMatches, variable: impl Fn(&str) -> Option<String>) -> Self {
        let mut values = Self::default();
        for setting in SETTINGS {
            let from_flag = || Some((flag_text(setting, matches)?, Origin::Flag(setting.flag)));
            let from_variable = || Some((variable(setting.variable)?, Origin::Variable(setting.variable)));
            // Hosts pass variables that are not filled in as empty texts.
            let is_filled = |(text, _): &(String, Origin)| !text.trim().is_empty();

            if let Some((text, origin)) =
                from_flag().filter(is_filled).or_else(|| from_variable().filter(is_filled))
            {
                values.set(setting, text, origin);
            }
        }

        values
    }

    /// Sets the value of `setting`, in place of an earlier one.
    pub(super) fn set(&mut self, setting: &Setting, text: impl Into<String>, origin: Origin) {
        self.0.insert(setting.name(), SourcedText { text: text.into(), origin });
    }

    /// Returns whether `setting` has a value.
    pub(super) fn contains(&self, setting: &Setting) -> bool {
        self.0.contains_key(setting.name())
    }

    /// Returns the value of `setting` without surrounding spaces.
    pub(super) fn text(&self, setting: &Setting) -> Option<&str> {
        self.0.get(setting.name()).map(SourcedText::text)
    }

    /// Returns the origin of the value of `setting`.
    pub(super) fn origin(&self, setting: &Setting) -> Option<Origin> {
        self.0.get(setting.name()).map(|value| value.origin)
    }

    /// Returns the names, texts and origins of all values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &str, Origin)> {
        self.0.iter().map(|(name, value)| (*name, value.text(), value.origin))
    }
}

impl SourcedText {
    fn text(&self) -> &str {
        self.text.trim()
    }
}

impl fmt::Debug for SourcedText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text is left out, because one of the values is the API key.
        formatter.debug_struct("SourcedText").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(formatter, "flag --{flag}"),
            Self::Variable(variable) => write!(formatter, "variable {variable}"),
            Self::Sandbox => formatter.write_str("the embedded sandbox"),
        }
    }
}

fn flag_text(setting: &Setting, matches: &ArgMatches) -> Option<String> {
    match setting.flag {
        "" => None,
        flag if setting.is_switch() => matches.get_flag(flag).then(|| "true".to_owned()),
        flag => matches.get_one::<String>(flag).cloned(),
    }
}
