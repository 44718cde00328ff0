//! Parses values and collects every problem.

use super::{
    definitions::{API_KEY, API_KEY_FILE, SETTINGS},
    parse::placeholder,
    problem::SettingProblem,
    setting::Setting,
    values::Values,
};
use crate::client::{ApiKey, KeySource};

/// Parses values one after the other. A value that cannot be parsed is recorded as a problem.
pub(super) struct SettingParser<'a> {
    values: &'a Values,
    problems: Vec<SettingProblem>,
}

impl<'a> SettingParser<'a> {
    /// Returns a parser of `values`.
    pub(super) fn new(values: &'a Values) -> Self {
        Self { values, problems: Vec::new() }
    }

    /// Returns whether no problem has been recorded.
    pub(super) fn is_ok(&self) -> bool {
        self.problems.is_empty()
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
        // A placeholder is reported as such: the message of the parser would be misleading.
        let text = self.values.text(setting)?;
        let parsed = match placeholder(text) {
            Some(placeholder) => Err(format!(
                "still contains the placeholder `{placeholder}`, which the client that started this server did not replace"
            )),
            None => parse(text),
        };

        parsed.map_err(|reason| self.add_problem(setting, reason)).ok()
    }

    /// Returns the source of the API key. The key itself has precedence over a file with a key.
    pub(super) fn key_source(&mut self) -> Option<KeySource> {
        if self.values.contains(&API_KEY) {
            return self.optional(&API_KEY, KeySource::fixed);
        }
        if self.values.contains(&API_KEY_FILE) {
            return self.optional(&API_KEY_FILE, |path| KeySource::file(path.into()));
        }

        self.add_problem(&API_KEY, "is not set, and `TAS_API_KEY_FILE` is not set either");

        None
    }

    /// Returns all problems in the order of the documentation. `key` is masked in the texts, because a problem may
    /// quote a key that was given as the value of another setting.
    pub(super) fn into_problems(mut self, key: Option<&ApiKey>) -> Vec<SettingProblem> {
        let position = |name: &str| SETTINGS.iter().position(|setting| setting.name() == name);
        self.problems.sort_by_key(|problem| position(problem.setting));

        if let Some(key) = key {
            for problem in &mut self.problems {
                problem.reason = key.mask_text(std::mem::take(&mut problem.reason));
            }
        }

        self.problems
    }

    fn add_problem(&mut self, setting: &Setting, reason: impl Into<String>) {
        let origin = self.values.origin(setting).map_or("not set".to_owned(), |origin| origin.to_string());
        self.problems.push(SettingProblem { setting: setting.name(), origin, reason: reason.into() });
    }
}
