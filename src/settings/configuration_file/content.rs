//! The content of the configuration file.

use indexmap::IndexMap;

use crate::{
    settings::{
        profile_settings::{profile_setting, text_of},
        setting::Setting,
        source_table::SourceTable,
        unusable_file::FileProblem,
    },
    toml_text::parse_document,
};

/// Name of the default profile.
pub(super) const DEFAULT_PROFILE: &str = "default_profile";

/// Table with a table for each profile.
pub(super) const PROFILES: &str = "profile";

/// Longest name of a profile, in characters.
const MAX_NAME_CHARACTERS: usize = 64;

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
    values: Vec<(&'static Setting, String)>,
}

impl Configuration {
    /// Parses the text of the file.
    pub(super) fn parse(text: &str) -> Result<Self, FileProblem> {
        let document = parse_document(text)?;
        let source = SourceTable { text: document.raw(), table: document.as_table() };

        let mut configuration = Self::default();
        for (name, item) in source.table.iter() {
            match name {
                DEFAULT_PROFILE => {
                    let profile = item.as_str().ok_or("must be a text in quotes");
                    configuration.default_profile = Some(source.located(name, profile)?.to_owned());
                }
                PROFILES => configuration.profiles = parse_profiles(&source.below(name, item)?)?,
                _ => {
                    let reason =
                        format!("is not known here; `{DEFAULT_PROFILE}` and `[{PROFILES}.NAME]` are");
                    return source.located(name, Err(reason));
                }
            }
        }

        Ok(configuration)
    }
}

impl Profile {
    /// Returns the settings with their values as text. A value may be unusable.
    pub fn values(&self) -> impl Iterator<Item = (&'static Setting, &str)> {
        self.values.iter().map(|(setting, text)| (*setting, text.as_str()))
    }

    /// Returns the value of the setting that is named `word` in the file.
    pub fn text(&self, word: &str) -> Option<&str> {
        self.values().find(|(setting, _)| setting.word() == word).map(|(_, text)| text)
    }
}

fn parse_profiles(source: &SourceTable<'_>) -> Result<IndexMap<String, Profile>, FileProblem> {
    let mut profiles = IndexMap::new();
    for (name, item) in source.table.iter() {
        source.located(name, check_profile_name(name))?;
        profiles.insert(name.to_owned(), parse_profile(&source.below(name, item)?)?);
    }

    Ok(profiles)
}

fn parse_profile(source: &SourceTable<'_>) -> Result<Profile, FileProblem> {
    let mut profile = Profile::default();
    for (word, item) in source.table.iter() {
        let setting = profile_setting(word).map_err(|reason| source.problem(word, reason))?;
        let text = source.located(word, text_of(setting, item))?;
        profile.values.push((setting, text));
    }

    Ok(profile)
}

/// Checks that a text can be the name of a profile: it is also the value of a flag, and a part of a name in a keychain.
pub(super) fn check_profile_name(name: &str) -> Result<(), String> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let begins_plain = name.starts_with(|first: char| first.is_ascii_alphanumeric());

    if begins_plain && name.chars().all(is_plain) && name.len() <= MAX_NAME_CHARACTERS {
        return Ok(());
    }
    Err(format!(
        "is not the name of a profile: it must have at most {MAX_NAME_CHARACTERS} letters, digits, `-`, `_` and `.`, and begin with a letter or a digit"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read_in_every_form_of_toml() {
        for text in [
            "default_profile = 'b'\n[profile.a]\nproject = 'x'\n[profile.b]\ntimeout_s = 5\nread_only = true\n",
            "\u{feff}default_profile = 'b'\r\n[profile]\r\na = {project = 'x'}\r\nb.timeout_s = 5\r\nb.read_only = true\r\n",
        ] {
            let configuration = Configuration::parse(text).expect("a configuration");

            let names: Vec<_> = configuration.profiles.keys().map(String::as_str).collect();
            assert_eq!((configuration.default_profile.as_deref(), names), (Some("b"), vec!["a", "b"]));
            assert_eq!(configuration.profiles["a"].text("project"), Some("x"));
            let values: Vec<_> =
                configuration.profiles["b"].values().map(|(setting, text)| (setting.flag, text)).collect();
            assert_eq!(values, [("timeout-s", "5"), ("read-only", "true")]);
        }

        assert!(Configuration::parse("").expect("a configuration").profiles.is_empty());
    }

    #[test]
    fn a_problem_names_the_line_and_no_value() {
        for (text, line, part) in [
            ("[profile.a]\n\napi_key = 'svc_secret'\n", "line 3", "tas-mcp login"),
            ("[profile.a]\nproject = 'x'\ntoolset = 'svc_secret'\n", "line 3", "`toolsets` is"),
            ("[profile.a]\r\n# one\r\nprofile = 'svc_secret'\r\n", "line 3", "not a setting"),
            ("[profile.a]\ntimeout_s = 'svc_secret'\n", "line 2", "`timeout_s` must be a whole number"),
            ("profiles = 'svc_secret'\n", "line 1", "`profiles` is not known"),
            ("\nprofile = 'svc_secret'\n", "line 2", "`profile` must be a table"),
            ("profile = {a = 'svc_secret'}\n", "line 1", "`a` must be a table"),
            ("default_profile = 1\n", "line 1", "`default_profile` must be a text"),
            ("[profile.'a b']\n", "line 1", "`a b` is not the name"),
            ("[profile.a]\nproject = 'a'\nproject = 'b'\n", "line 3", "duplicate"),
            ("[profile.a\n", "line 1", "not valid"),
        ] {
            let problem = Configuration::parse(text).expect_err("a problem").to_string();

            assert!(problem.contains(line) && problem.contains(part), "{problem}");
            assert!(!problem.contains("svc_secret") && !problem.contains('\n'), "{problem}");
        }
    }

    #[test]
    fn the_name_of_a_profile_is_a_plain_word() {
        for (name, is_usable) in [
            ("prod", true),
            ("eu-1.prod_b", true),
            ("1", true),
            ("", false),
            ("-x", false),
            (".x", false),
            ("a b", false),
            ("a/b", false),
            ("ä", false),
        ] {
            assert_eq!(check_profile_name(name).is_ok(), is_usable, "{name}");
        }

        assert!(check_profile_name(&"a".repeat(64)).is_ok() && check_profile_name(&"a".repeat(65)).is_err());
    }
}
