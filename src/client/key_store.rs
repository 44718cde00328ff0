//! Keys that outlive a process: in the keychain of the system, or in a file that only the user can read.
//!
//! All functions block: a keychain that is locked may ask the person and wait for the answer.

mod error;
mod file;
mod keychain;
mod record;

use std::path::Path;

use serde::Serialize;

use self::file::FileStore;
pub use self::{error::KeyStoreError, record::StoredRecord};

/// Where a key is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyPlace {
    /// The keychain of the system.
    Keychain,
    /// A file of the user.
    File,
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
    ///
    /// # Errors
    /// Those of `work`.
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
    ///
    /// # Errors
    /// The file or the keychain cannot be read.
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
    ///
    /// # Errors
    /// The file or the keychain cannot be changed.
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

    /// Removes the key of `account`. Returns where it was stored.
    ///
    /// # Errors
    /// The file or the keychain cannot be changed. A missing keychain is no error.
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
