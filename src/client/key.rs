//! The API key: where it comes from, what kind it is, and how it stays secret.

use std::{fmt, fs, path::PathBuf};

use http::HeaderValue;
use ring::hmac;
use serde_json::Value;

use crate::fields::Fields;

/// Text that no output shows: it has no `Display`, no serialization, and a `Debug` without content.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// The text itself, for the one header that carries it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[secret]")
    }
}

/// Whose key it is (specification, Authentication).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// One project; works on every route.
    Project,
    /// All projects of an organization; works on project-scoped routes only.
    Organization,
}

/// A usable API key.
#[derive(Clone, Debug)]
pub struct ApiKey {
    secret: Secret,
    header: HeaderValue,
    kind: KeyKind,
}

impl ApiKey {
    /// Takes a key; the problem if it cannot be one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("is empty".to_owned());
        }

        let unusable = "has characters that no key has (a line break, a space or a control character?)";
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(unusable.to_owned());
        }

        let mut header = HeaderValue::from_str(text).map_err(|_| unusable.to_owned())?;
        header.set_sensitive(true);

        Ok(Self { secret: Secret(text.to_owned()), header, kind: kind_of(text) })
    }

    /// Value of the header `X-Api-Key`, marked as sensitive.
    pub(crate) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// A key for another purpose, from which this one does not follow.
    pub(crate) fn derived(&self, purpose: &[u8]) -> Vec<u8> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.secret.expose().as_bytes());
        hmac::sign(&key, purpose).as_ref().to_vec()
    }

    /// Whether it is the same key.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.secret.expose() == other.secret.expose()
    }

    /// Whose key it is.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// `text` with the key masked, should it hold it.
    pub fn masked(&self, text: String) -> String {
        let key = self.secret.expose();
        if text.contains(key) { text.replace(key, "[api key]") } else { text }
    }

    /// Masks the key in every text and name of a JSON value, however the value was escaped.
    pub fn mask(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.masked(std::mem::take(text)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask(item)),
            Value::Object(fields) => self.mask_fields(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// As [`Self::mask`], for the members of an object.
    pub fn mask_fields(&self, fields: &mut Fields) {
        if fields.keys().any(|name| name.contains(self.secret.expose())) {
            *fields =
                std::mem::take(fields).into_iter().map(|(name, value)| (self.masked(name), value)).collect();
        }
        fields.values_mut().for_each(|value| self.mask(value));
    }
}

/// `<word>_org_...` is an organization key, anything else a project key.
fn kind_of(key: &str) -> KeyKind {
    match key.split_once("_org_") {
        Some((word, _)) if !word.contains('_') => KeyKind::Organization,
        _ => KeyKind::Project,
    }
}

/// Where the key comes from.
#[derive(Debug)]
pub enum KeySource {
    /// Set once.
    Fixed(ApiKey),
    /// A file that may change.
    File(KeyFile),
}

impl KeySource {
    /// A key that was set as such.
    pub fn fixed(text: &str) -> Result<Self, String> {
        ApiKey::parse(text).map(Self::Fixed)
    }

    /// A file that holds the key.
    pub fn file(path: PathBuf) -> Result<Self, String> {
        let file = KeyFile { path };
        file.key()?;
        Ok(Self::File(file))
    }

    /// The key as it is now; the problem if there is none any more.
    pub fn key(&self) -> Result<ApiKey, String> {
        match self {
            Self::Fixed(key) => Ok(key.clone()),
            Self::File(file) => file.key(),
        }
    }
}

/// A file with a key, read for every call: it is small, and a changed one cannot be missed.
#[derive(Debug)]
pub struct KeyFile {
    path: PathBuf,
}

impl KeyFile {
    /// No problem shows the path: it may be the key itself, set in the wrong place.
    fn key(&self) -> Result<ApiKey, String> {
        const LONGEST_FILE: u64 = 64 * 1024;

        let unreadable = |error: std::io::Error| format!("names a file that cannot be read: {error}");
        let metadata = fs::metadata(&self.path).map_err(unreadable)?;
        if !metadata.is_file() || metadata.len() > LONGEST_FILE {
            return Err("does not name a file with a key".to_owned());
        }

        let text = fs::read_to_string(&self.path).map_err(unreadable)?;

        ApiKey::parse(&text).map_err(|problem| format!("names a file whose content {problem}"))
    }
}
