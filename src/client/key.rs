//! The API key: its kind, and how it stays secret.

use reqwest::header::HeaderValue;
use ring::hmac;
use serde_json::Value;

use crate::text::{edit_visible, is_plain_json, placeholder, trimmed};

/// Text that masked output shows in place of the key.
const MASK: &str = "[api key]";

/// Least length of a key in bytes. Real keys are far longer.
const MIN_KEY_BYTES: usize = 6;

/// Beginning of every key (service.md 1.2).
pub const KEY_PREFIX: &str = "svc_";

/// Quotation marks of shells, of JSON and of text processors.
const QUOTATION_MARKS: [char; 7] = ['"', '\'', '`', '\u{2018}', '\u{2019}', '\u{201C}', '\u{201D}'];

/// Owner of a key (service.md 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// One project. The key works on every route.
    Project,
    /// All projects of an organization. The key works on project-scoped routes only.
    Organization,
}

impl KeyKind {
    /// Returns the kind of a key: `<word>_org_...` is an organization key, anything else is a project key.
    fn from_key(key: &str) -> Self {
        match key.split_once("_org_") {
            Some((word, _)) if !word.contains('_') => Self::Organization,
            _ => Self::Project,
        }
    }
}

/// A usable API key. It has no `Display` and no serialization, and its `Debug` does not show it.
#[derive(Clone, Debug)]
pub struct ApiKey {
    /// The key as a header that is marked as sensitive: the HTTP library does not show it in its debug output either.
    header: HeaderValue,
    kind: KeyKind,
}

impl ApiKey {
    /// Parses a key. Surrounding white space and a byte order mark are ignored.
    ///
    /// # Errors
    /// Describes why the text cannot be a key, without showing it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = trimmed(text);
        if text.is_empty() {
            return Err("is empty".to_owned());
        }
        if let Some(problem) = paste_problem(text) {
            return Err(problem.to_owned());
        }

        // Every occurrence of the key in a text is masked, which a short text would make unreadable.
        if text.len() < MIN_KEY_BYTES {
            return Err(format!("is too short to be a key: it has fewer than {MIN_KEY_BYTES} characters"));
        }

        let unusable = "has characters that no key has (a line break, a space or a control character?)";
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(unusable.to_owned());
        }

        let mut header = HeaderValue::from_str(text).map_err(|_| unusable.to_owned())?;
        header.set_sensitive(true);

        Ok(Self { header, kind: KeyKind::from_key(text) })
    }

    /// Stands for the key in a call that needs none. It is that of no project, so that no project is looked up with it.
    pub(crate) fn absent() -> Self {
        Self { header: HeaderValue::from_static(MASK), kind: KeyKind::Organization }
    }

    /// The value of the header `X-Api-Key`.
    pub(crate) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// The text of the key, for the store of keys.
    pub(super) fn expose(&self) -> &str {
        // `parse` accepts visible ASCII characters only, which a header returns unchanged.
        self.header.to_str().unwrap_or_default()
    }

    /// Derives a key for another purpose. The API key cannot be computed from it.
    pub(crate) fn derive_key(&self, purpose: &[u8]) -> Vec<u8> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.expose().as_bytes());
        hmac::sign(&key, purpose).as_ref().to_vec()
    }

    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }

    /// Returns the owner of the key.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Returns `text` with every occurrence of the key masked.
    pub fn mask_text(&self, text: String) -> String {
        masked(&text, self.expose()).unwrap_or(text)
    }

    /// Removes hidden characters from every string and field name of an answer of the service, and masks the key there. The key is
    /// masked last, because hidden characters may split it. In JSON text, escape sequences could hide it.
    pub fn clean(&self, answer: &mut Value) {
        let key = self.expose();
        edit_visible(answer, &|text| masked(text, key));
    }

    /// Returns whether [`Self::clean`] changes nothing in the value of this JSON text, which is so for most answers.
    pub fn is_clean(&self, json: &str) -> bool {
        let key = self.expose();
        // JSON writes these characters of a key as escapes.
        is_plain_json(json) && !key.contains(['"', '\\']) && !json.contains(key)
    }
}

fn masked(text: &str, key: &str) -> Option<String> {
    text.contains(key).then(|| text.replace(key, MASK))
}

/// Returns what a user has pasted in place of the key alone, without showing it.
fn paste_problem(text: &str) -> Option<&'static str> {
    if placeholder(text).is_some() {
        return Some("is a placeholder, which nobody has replaced by the key");
    }
    if text.starts_with(QUOTATION_MARKS) || text.ends_with(QUOTATION_MARKS) {
        return Some("is in quotation marks, which are no part of the key: remove them");
    }

    // `TAS_API_KEY=...`, `export TAS_API_KEY=...`, `X-Api-Key: ...`
    let (name, _) = text.split_once('=').or_else(|| text.split_once(':'))?;
    let ends_as_name = name.trim_end().to_ascii_lowercase().ends_with("key");
    let is_key = name.starts_with(KEY_PREFIX);
    (ends_as_name && !is_key).then_some("begins with the name of the key: it must be the key alone")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_key_is_read_from_its_prefix() {
        for (text, expected) in [
            ("svc_abc", KeyKind::Project),
            ("svc_org_abc", KeyKind::Organization),
            ("svc_test_org_abc", KeyKind::Project),
            ("org_abc", KeyKind::Project),
        ] {
            assert_eq!(ApiKey::parse(text).expect("a key").kind(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_pasted_in_place_of_a_key_is_named_without_showing_it() {
        for (text, expected) in [
            ("\"svc_planted1\"", "in quotation marks"),
            ("'svc_planted1'", "in quotation marks"),
            ("\u{201C}svc_planted1\u{201D}", "in quotation marks"),
            ("svc_planted1\"", "in quotation marks"),
            ("$TAS_API_KEY", "is a placeholder"),
            ("${TAS_API_KEY}", "is a placeholder"),
            ("%TAS_API_KEY%", "is a placeholder"),
            ("{{TAS_API_KEY}}", "is a placeholder"),
            ("<svc_planted1>", "is a placeholder"),
            ("TAS_API_KEY=svc_planted1", "begins with the name"),
            ("export TAS_API_KEY=\"svc_planted1\"\n", "in quotation marks"),
            ("export TAS_API_KEY=svc_planted1", "begins with the name"),
            ("X-Api-Key: svc_planted1", "begins with the name"),
        ] {
            let problem = ApiKey::parse(text).expect_err(text);
            assert!(problem.contains(expected) && !problem.contains("planted"), "{text}: {problem}");
        }

        for key in ["svc_monkey=", "svc_a:b", "\u{FEFF}svc_abcdef\r\n", "keyless=1"] {
            assert!(ApiKey::parse(key).is_ok(), "{key:?}");
        }
    }
}
