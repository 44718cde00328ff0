//! Keys that outlive a process: in the keychain of the system, or in a file that only the user can read.
//!
//! All functions block: a keychain that is locked may ask the user and wait for the answer.

mod file;
mod keychain;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::file::FileStore;
use super::key::ApiKey;

/// Where a key is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyPlace {
    /// The keychain of the system.
    Keychain,
    /// A file of the user.
    File,
}

impl KeyPlace {
    /// Where keys are stored unless the user chooses a place.
    pub const DEFAULT: Self = if cfg!(feature = "keychain") { Self::Keychain } else { Self::File };
}

/// A key, and the addresses for which it was stored.
#[derive(Clone, Debug)]
pub struct StoredRecord {
    /// The key.
    pub key: ApiKey,
    /// Addresses of the hosts that may receive the key, without a trailing slash; the first is the main API.
    pub addresses: Vec<String>,
}

/// The stored form of a record. It has no `Debug`, because it contains the key as text.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StoredForm {
    addresses: Vec<String>,
    key: String,
}

impl From<&StoredRecord> for StoredForm {
    fn from(record: &StoredRecord) -> Self {
        Self { addresses: record.addresses.clone(), key: record.key.expose().to_owned() }
    }
}

impl StoredForm {
    /// `None` if the stored text cannot be a key.
    fn record(&self) -> Option<StoredRecord> {
        let key = ApiKey::parse(&self.key).ok()?;
        Some(StoredRecord { key, addresses: self.addresses.clone() })
    }
}

/// The stored keys of one user. Each belongs to an account, which has the name of a profile.
#[derive(Clone, Debug)]
pub struct KeyStore {
    file: FileStore,
}

/// What was found for an account.
#[derive(Debug)]
pub enum FoundKey {
    /// A stored key.
    Found(StoredRecord, KeyPlace),
    /// No key is stored. If there is no keychain, the error says why.
    Missing(Option<KeyStoreError>),
}

impl KeyStore {
    /// Creates a store whose file is in `directory`, the directory of this program in the configuration of the user.
    pub fn in_directory(directory: &Path) -> Self {
        Self { file: FileStore::in_directory(directory) }
    }

    /// Returns the path of the file.
    pub fn file(&self) -> &Path {
        self.file.path()
    }

    /// Does `work` on a thread that may block.
    pub async fn in_background<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, KeyStoreError> + Send + 'static,
    ) -> Result<T, KeyStoreError> {
        let store = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&store)).await;
        // A thread that panics has a keychain that this program does not understand.
        done.unwrap_or_else(|error| Err(KeyStoreError::Keychain(error.to_string())))
    }

    /// Returns the key of `account`. A key in the file is found without the keychain.
    pub fn find(&self, account: &str) -> Result<FoundKey, KeyStoreError> {
        if let Some(record) = self.file.find(account)? {
            return Ok(FoundKey::Found(record, KeyPlace::File));
        }

        match keychain::find(account) {
            Ok(Some(record)) => Ok(FoundKey::Found(record, KeyPlace::Keychain)),
            Ok(None) => Ok(FoundKey::Missing(None)),
            Err(error @ KeyStoreError::NoKeychain(_)) => Ok(FoundKey::Missing(Some(error))),
            Err(error) => Err(error),
        }
    }

    /// Stores the key of `account` in place of an earlier one.
    pub fn save(&self, place: KeyPlace, account: &str, record: &StoredRecord) -> Result<(), KeyStoreError> {
        match place {
            KeyPlace::File => self.file.save(account, record),
            KeyPlace::Keychain => {
                keychain::save(account, record)?;
                // The file would be found first.
                self.file.remove(account).map(drop)
            }
        }
    }

    /// Removes the key of `account`. Returns where it was stored. A missing keychain is no error.
    pub fn remove(&self, account: &str) -> Result<Vec<KeyPlace>, KeyStoreError> {
        let from_file = self.file.remove(account)?.then_some(KeyPlace::File);
        let from_keychain = match keychain::remove(account) {
            Ok(is_removed) => is_removed.then_some(KeyPlace::Keychain),
            Err(KeyStoreError::NoKeychain(_)) => None,
            Err(error) => return Err(error),
        };

        Ok(from_file.into_iter().chain(from_keychain).collect())
    }
}

/// Why a stored key cannot be read, written or removed.
#[derive(Debug, Error)]
pub enum KeyStoreError {
    /// There is no keychain.
    #[error("there is no keychain: {0}")]
    NoKeychain(String),
    /// The keychain is locked, or the user has refused the access.
    #[error("the keychain is locked or refuses the access: {0}")]
    NoAccess(String),
    /// Any other failure of the keychain.
    #[error("the keychain cannot be used: {0}")]
    Keychain(String),
    /// The stored text is not what this program writes.
    #[error("the stored key of `{0}` is damaged")]
    Damaged(String),
    /// Other users could read or replace the file with the keys.
    #[error("other users can access {path} (mode {mode:o}), which contains API keys")]
    SharedFile {
        /// Path of the file.
        path: PathBuf,
        /// Permissions of the file.
        mode: u32,
    },
    /// The file with the keys cannot be read or written.
    #[error("{path} {reason}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The reason, as the end of a sentence that begins with the path.
        reason: String,
    },
}

impl KeyStoreError {
    /// Returns what a user can do.
    pub fn hint(&self) -> String {
        match self {
            Self::NoKeychain(_) => {
                "`tas-mcp login --store file` stores the key in a file that only you can read".to_owned()
            }
            Self::NoAccess(_) | Self::Keychain(_) => {
                "unlock the keychain, or store the key in a file: `tas-mcp login --store file`".to_owned()
            }
            Self::Damaged(_) => "store the key again: `tas-mcp login`".to_owned(),
            Self::SharedFile { path, .. } => format!(
                "change that with `chmod 600 {}`, and replace the keys if others may have read them",
                path.display()
            ),
            Self::File { path, .. } => {
                format!("correct or remove {}, and sign in again: `tas-mcp login`", path.display())
            }
        }
    }
}
