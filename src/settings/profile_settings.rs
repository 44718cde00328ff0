//! The settings that a profile may contain: their words, and their values in TOML.

use toml_edit::{Item, value};

use super::{
    definitions::{API_KEY, PROFILE, SETTINGS},
    parse,
    setting::Setting,
};
use crate::{home_path::expand_home, text::most_similar};

/// Returns the settings that a profile may contain: every setting with a flag and a variable, except the profile itself. A key
/// has no flag.
pub fn profile_settings() -> impl Iterator<Item = &'static Setting> {
    let in_files = |setting: &&Setting| !setting.flag.is_empty() && !setting.variable.is_empty();
    SETTINGS.into_iter().filter(in_files).filter(|setting| setting.name() != PROFILE.name())
}

/// Returns the setting that is named `word` in a file.
///
/// # Errors
/// Why a profile cannot contain it, with the settings that it can contain.
pub fn profile_setting(word: &str) -> Result<&'static Setting, String> {
    if let Some(setting) = profile_settings().find(|setting| setting.word() == word) {
        return Ok(setting);
    }

    let letters = word.replace('-', "_").to_lowercase();
    let key = API_KEY.variable.trim_start_matches("TAS_").to_lowercase();
    if [key.as_str(), "key"].contains(&letters.as_str()) {
        return Err(format!("`{word}` is never in a file of settings: store a key with `tas-mcp login`"));
    }

    let words: Vec<_> = profile_settings().map(Setting::word).collect();
    Err(match most_similar(&letters, words.iter().map(String::as_str)) {
        Some(similar) => format!("`{word}` is not a setting of a profile; `{similar}` is"),
        None => format!("`{word}` is not a setting of a profile; these are: {}", words.join(", ")),
    })
}

/// Returns the text of a value in TOML.
///
/// # Errors
/// The form that the value must have, as the end of a sentence that begins with the word of the setting.
pub(super) fn text_of(setting: &Setting, item: &Item) -> Result<String, String> {
    let text = if setting.is_switch() {
        item.as_bool().map(|value| value.to_string()).ok_or("must be true or false, without quotes")?
    } else if setting.is_number() {
        item.as_integer().map(|value| value.to_string()).ok_or("must be a whole number, without quotes")?
    } else {
        item.as_str().map(str::to_owned).ok_or("must be a text in quotes")?
    };

    if setting.is_path() && !std::path::Path::new(&*expand_home(&text)).is_absolute() {
        return Err("must be an absolute path, or begin with `~/`".to_owned());
    }

    Ok(text)
}

/// Returns a checked value in TOML.
pub(super) fn item_of(setting: &Setting, text: &str) -> Item {
    if setting.is_switch() {
        return value(parse::boolean(text).unwrap_or(true));
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
            let found = profile_setting(word).map(|setting| setting.variable);
            match (found, expected) {
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
                    assert_eq!(found, expected);
                    assert_eq!(
                        item_of(setting, &found).to_string(),
                        item(text).to_string().replace('\'', "\"")
                    );
                }
                (Err(reason), Err(part)) => assert!(reason.contains(part), "{reason}"),
                (other, _) => panic!("{word}: {other:?}"),
            }
        }
    }
}
