//! Where the API key comes from.

use std::{fs, io, path::PathBuf};

use super::{
    ApiKey,
    key_command::KeyCommand,
    key_lookup::{KeyLookup, LookupOrigin},
    stored_key::StoredKey,
};
use crate::failure::{Code, Failure};

/// Maximum size of a key file, in bytes.
const MAX_KEY_FILE_BYTES: u64 = 64 * 1024;

/// Where the API key comes from.
#[derive(Debug)]
pub enum KeySource {
    /// A key that stays the same.
    Fixed(ApiKey),
    /// A file that holds the key and may change.
    File(KeyFile),
    /// A key that takes time to look up.
    Lookup(KeyLookup),
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

    /// Creates a source that runs a command which prints the key. The command runs when a call first needs the key.
    ///
    /// # Errors
    /// Describes why the text is no command line.
    pub fn command(text: &str) -> Result<Self, String> {
        let command = KeyCommand::parse(text)?;
        Ok(Self::Lookup(KeyLookup::new(LookupOrigin::Command(command))))
    }

    /// Creates a source that looks for a stored key when a call first needs it.
    pub fn stored(stored: StoredKey) -> Self {
        Self::Lookup(KeyLookup::new(LookupOrigin::Stored(stored)))
    }

    /// Returns the key if it is known without a look-up.
    ///
    /// # Errors
    /// Describes why the key is not known.
    pub fn known_key(&self) -> Result<ApiKey, String> {
        match self {
            Self::Fixed(key) => Ok(key.clone()),
            Self::File(file) => file.read_key(),
            Self::Lookup(_) => Err("is not known before a call".to_owned()),
            Self::EachCall => Err("is not set".to_owned()),
        }
    }

    /// Returns the current key.
    ///
    /// # Errors
    /// `not_configured` if there is no usable key.
    pub async fn key(&self) -> Result<ApiKey, Failure> {
        if let Self::Lookup(lookup) = self {
            return lookup.key().await;
        }

        self.known_key().map_err(|problem| {
            let message = format!("the API key cannot be used: TAS_API_KEY_FILE {problem}");
            Failure::new(Code::NotConfigured, message)
                .hint("put a valid key into that file; the next call reads it again")
        })
    }

    /// Notes that the service has refused the key. A key that was looked up is looked up again for a later call.
    pub fn note_refusal(&self) {
        if let Self::Lookup(lookup) = self {
            lookup.note_refusal();
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
