//! Where the API key comes from.

use std::{fs, io, path::PathBuf};

use super::ApiKey;

/// Maximum size of a key file, in bytes.
const MAX_KEY_FILE_BYTES: u64 = 64 * 1024;

/// Where the API key comes from.
#[derive(Debug)]
pub enum KeySource {
    /// A key that stays the same.
    Fixed(ApiKey),
    /// A file that holds the key and may change.
    File(KeyFile),
    /// No key: each call brings its own one.
    EachCall,
}

impl KeySource {
    /// Creates a source with a fixed key.
    ///
    /// # Errors
    /// Describes why the text cannot be a key.
    pub fn fixed(text: &str) -> Result<Self, String> {
        ApiKey::parse(text).map(Self::Fixed)
    }

    /// Creates a source that reads the key from a file.
    ///
    /// # Errors
    /// Describes why the file holds no usable key now.
    pub fn file(path: PathBuf) -> Result<Self, String> {
        let file = KeyFile { path };
        file.read_key()?;

        Ok(Self::File(file))
    }

    /// Returns the current key.
    ///
    /// # Errors
    /// Describes why the file holds no usable key any more.
    pub fn key(&self) -> Result<ApiKey, String> {
        match self {
            Self::Fixed(key) => Ok(key.clone()),
            Self::File(file) => file.read_key(),
            Self::EachCall => Err("is not set".to_owned()),
        }
    }
}

/// A file that holds the key. It is read for every call: it is small, and a changed key is noticed in any case.
#[derive(Debug)]
pub struct KeyFile {
    path: PathBuf,
}

impl KeyFile {
    /// Reads the key. Errors do not show the path, because it may be a key that was set in the wrong place.
    fn read_key(&self) -> Result<ApiKey, String> {
        let unreadable = |error: io::Error| format!("names a file that cannot be read: {error}");

        let metadata = fs::metadata(&self.path).map_err(unreadable)?;
        if !metadata.is_file() || metadata.len() > MAX_KEY_FILE_BYTES {
            return Err("does not name a file with a key".to_owned());
        }

        let text = fs::read_to_string(&self.path).map_err(unreadable)?;

        ApiKey::parse(&text).map_err(|problem| format!("names a file whose content {problem}"))
    }
}
