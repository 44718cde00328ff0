//! A value that may be written into a profile.

use std::path::Path;

use super::{
    absolute_path::absolute,
    configs::{Purpose, parse_settings},
    profile_settings::profile_setting,
    setting::Setting,
    values::{Origin, Values},
};
use crate::{
    failure::{Code, Failure},
    home_path::expand_home,
    text::trimmed,
    tools::upload::UploadTiming,
};

/// A value of a setting of a profile. The value has been checked.
#[derive(Debug)]
pub struct ProfileValue {
    pub(super) setting: &'static Setting,
    pub(super) text: String,
}

impl ProfileValue {
    /// Checks the value of the setting that is named `word` in a file. A path is relative to `directory`, and becomes
    /// absolute.
    ///
    /// # Errors
    /// `invalid_arguments`: no setting of a profile has this name, or the value cannot be used. `file_error`: the path is not
    /// Unicode.
    pub fn new(word: &str, text: &str, directory: &Path) -> Result<Self, Failure> {
        let invalid =
            |message: String| Failure::new(Code::InvalidArguments, message).hint("nothing was changed");
        let setting = profile_setting(word).map_err(invalid)?;
        let text = trimmed(text);
        let text = if setting.is_path() && !text.is_empty() {
            absolute(directory, &expand_home(text))?
        } else {
            text.to_owned()
        };

        match problem(setting, &text) {
            Some(reason) => Err(invalid(format!("`{word}` {reason}"))),
            None => Ok(Self { setting, text }),
        }
    }

    /// Returns the value as text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Returns why a value cannot be used, as the end of a sentence that begins with the name of the setting.
fn problem(setting: &Setting, text: &str) -> Option<String> {
    let mut values = Values::default();
    values.set(setting, text, Origin::Flag(setting.flag));
    let parsed = parse_settings(&values, None, &UploadTiming::default(), Purpose::OneCaller, None);

    let mut problems = parsed.problems.into_iter().chain(parsed.limited_problems);
    problems.find(|problem| problem.setting == setting.name()).map(|problem| problem.reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_checked_as_that_of_a_variable() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().to_str().expect("Unicode");

        for (word, text, expected) in [
            ("timeout_s", " 20 ", Ok("20")),
            ("timeout_s", "99", Err("`timeout_s` must be a whole number from 1 to 45")),
            ("base_url", "http://tas.example/api/v1", Err("`base_url` ")),
            ("base_url", "", Err("`base_url` is empty")),
            ("read_only", "yes", Ok("yes")),
            ("read_only", "perhaps", Err("must be true or false")),
            ("toolsets", "nonsense", Err("`toolsets` ")),
            ("files_root", ".", Ok(root)),
            ("files_root", "nowhere", Err("`files_root` ")),
            ("project", "${PROJECT}", Err("placeholder")),
            ("api_key", "svc_secret", Err("tas-mcp login")),
        ] {
            let value = ProfileValue::new(word, text, directory.path());
            match (value, expected) {
                (Ok(value), Ok(expected)) => assert_eq!(value.text(), expected, "{word}"),
                (Err(failure), Err(part)) => {
                    assert_eq!(failure.code, Code::InvalidArguments);
                    assert!(failure.message.contains(part), "{}", failure.message);
                    assert!(!failure.message.contains("svc_secret"), "{}", failure.message);
                }
                (other, _) => panic!("{word}={text}: {other:?}"),
            }
        }
    }
}
