//! What is wrong with the settings, all of it at once.

use serde_json::{Value, json};

use super::{
    Setting, Settings,
    setting::{API_KEY, API_KEY_FILE, name},
};
use crate::{
    client::{ApiKey, KeySource},
    failure::{Code, Failure},
};

/// Detail of a failure that lists what is wrong with the settings.
pub const PROBLEMS: &str = "problems";

/// Collects what is wrong with the settings.
pub(super) struct Problems<'a> {
    settings: &'a Settings,
    found: Vec<Value>,
}

impl<'a> Problems<'a> {
    pub(super) fn of(settings: &'a Settings) -> Self {
        Self { settings, found: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    fn add(&mut self, setting: &Setting, problem: impl Into<String>) {
        let origin = self.settings.found.get(name(setting)).map_or("not set", |found| found.origin.as_str());
        let problem: String = problem.into();
        self.found.push(json!({"setting": name(setting), "origin": origin, "problem": problem}));
    }

    pub(super) fn required<T>(
        &mut self,
        setting: &Setting,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        if self.settings.text(setting).is_none() {
            self.add(setting, "is not set");
        }
        self.optional(setting, parse)
    }

    pub(super) fn optional<T>(
        &mut self,
        setting: &Setting,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = self.settings.text(setting)?;
        let parsed = match placeholder(text) {
            Some(placeholder) => Err(format!(
                "still reads `{placeholder}`: the client that started this server did not expand it"
            )),
            None => parse(text),
        };
        parsed.map_err(|problem| self.add(setting, problem)).ok()
    }

    /// The key itself beats a file with it.
    pub(super) fn key(&mut self) -> Option<KeySource> {
        if self.settings.text(&API_KEY).is_some() {
            return self.optional(&API_KEY, KeySource::fixed);
        }
        if self.settings.text(&API_KEY_FILE).is_some() {
            return self.optional(&API_KEY_FILE, |path| KeySource::file(path.into()));
        }

        self.add(&API_KEY, "is not set, and neither is TAS_API_KEY_FILE");

        None
    }

    /// The failure of every call. A key in the wrong place is masked.
    pub(super) fn into_failure(mut self, key: Option<&ApiKey>) -> Failure {
        if let Some(key) = key {
            self.found.iter_mut().for_each(|problem| key.mask(problem));
        }

        let said = self.found.iter().map(|problem| {
            let text = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default();
            format!("`{}` ({}) {}", text("setting"), text("origin"), text("problem"))
        });
        let said = said.collect::<Vec<_>>().join("; ");

        Failure::new(Code::NotConfigured, format!("tas-mcp cannot call the service: {said}"))
            .hint("ask the person to correct these settings in the host's configuration and restart the server; `--sandbox` needs none")
            .detail(PROBLEMS, self.found)
    }
}

/// A placeholder that reached us as it was written: the client that started us did not fill it in.
pub(super) fn placeholder(value: &str) -> Option<&str> {
    let rest = value.get(value.find("${")?..)?;
    rest.get(..=rest.find('}')?)
}
