//! The configuration of signed-in persons.

use std::path::PathBuf;

use super::{
    http_definitions::{GRANTS_FILE, OAUTH_AUDIENCE, OAUTH_ISSUER, OAUTH_SCOPES},
    parser::SettingParser,
};
use crate::client::HostUrl;

/// Who signs in persons, and what their tokens must contain.
#[derive(Clone, Debug)]
pub struct OauthSettings {
    /// The issuer exactly as tokens name it.
    pub issuer: String,
    /// Address of the issuer.
    pub issuer_url: HostUrl,
    /// The audience of tokens, in place of the address of the endpoint.
    pub audience: Option<String>,
    /// Scopes that every token must have.
    pub scopes: Vec<String>,
    /// The file that states what persons may use.
    pub grants_file: PathBuf,
    /// PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
}

/// Parses the settings of signed-in persons. Returns `None` if there is no issuer or a problem.
pub(super) fn oauth_settings(
    parser: &mut SettingParser<'_>,
    ca_file: Option<PathBuf>,
) -> Option<OauthSettings> {
    let issuer = parser.text(&OAUTH_ISSUER).map(str::to_owned);
    let issuer_url = parser.optional(&OAUTH_ISSUER, HostUrl::parse);
    let scopes = parser.optional(&OAUTH_SCOPES, scopes).unwrap_or_default();
    let audience = parser.text(&OAUTH_AUDIENCE).map(str::to_owned);

    if issuer.is_none() {
        for setting in [&OAUTH_AUDIENCE, &OAUTH_SCOPES, &GRANTS_FILE] {
            if parser.text(setting).is_some() {
                parser.add_problem(setting, "has no effect, because `TAS_OAUTH_ISSUER` is not set");
            }
        }
        return None;
    }

    let grants_file = parser.required(&GRANTS_FILE, |path| Ok(PathBuf::from(path)));
    Some(OauthSettings {
        issuer: issuer?,
        issuer_url: issuer_url?,
        audience,
        scopes,
        grants_file: grants_file?,
        ca_file,
    })
}

/// Parses a list of scopes (RFC 6749, 3.3), separated by commas or spaces.
fn scopes(text: &str) -> Result<Vec<String>, String> {
    let is_scope = |word: &str| word.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte));
    let words = text.split([',', ' ']).filter(|word| !word.is_empty());
    let scope = |word: &str| {
        if is_scope(word) { Ok(word.to_owned()) } else { Err(format!("`{word}` is not a scope")) }
    };
    words.map(scope).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_words_without_quotation_marks() {
        assert_eq!(scopes("tas:use, tas:admin").expect("scopes"), ["tas:use", "tas:admin"]);
        assert!(scopes("tas\"use").is_err());
    }
}
