//! Keys that outlive a process: in the keychain of the system, or in a file that only the user can read.
//!
//! All functions block: a keychain that is locked may ask the user and wait for the answer.

use std::{
    collections::BTreeMap,
    fmt::Display,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::key::ApiKey;
use crate::text_file::{TextFile, lock_beside};

/// Name of the file with keys.
const FILE: &str = "keys.json";

/// Maximum size of the file with keys, in bytes.
const MAX_FILE_BYTES: u64 = 256 * 1024;

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
    fn record(&self, account: &str) -> Result<StoredRecord, KeyStoreError> {
        let key = ApiKey::parse(&self.key).map_err(|_| KeyStoreError::Damaged(account.to_owned()))?;
        Ok(StoredRecord { key, addresses: self.addresses.clone() })
    }
}

/// The stored keys of one user. Each belongs to an account, which has the name of a profile.
#[derive(Clone, Debug)]
pub struct KeyStore {
    file: PathBuf,
}

/// The keys in the file, by account.
type Keys = BTreeMap<String, StoredForm>;

impl KeyStore {
    /// Creates a store whose file is in `directory`, the directory of this program in the configuration of the user.
    pub fn in_directory(directory: &Path) -> Self {
        Self { file: directory.join(FILE) }
    }

    /// Path of the file with keys.
    pub fn file(&self) -> &Path {
        &self.file
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

    /// Finds the key of `account`: in the file without asking the keychain. A missing keychain is no error.
    pub fn find(&self, account: &str) -> Result<Option<(StoredRecord, KeyPlace)>, KeyStoreError> {
        let (_, keys) = self.read()?;
        if let Some(form) = keys.get(account) {
            return Ok(Some((form.record(account)?, KeyPlace::File)));
        }

        match keychain::find(account) {
            Err(KeyStoreError::NoKeychain(_)) => Ok(None),
            found => Ok(found?.map(|record| (record, KeyPlace::Keychain))),
        }
    }

    /// Stores the key of `account` in place of an earlier one.
    pub fn save(&self, place: KeyPlace, account: &str, record: &StoredRecord) -> Result<(), KeyStoreError> {
        match place {
            KeyPlace::File => self.change(|keys| drop(keys.insert(account.to_owned(), record.into()))),
            KeyPlace::Keychain => {
                keychain::save(account, record)?;
                // The file would be found first.
                self.remove_from_file(account).map(drop)
            }
        }
    }

    /// Removes the key of `account`. Returns where it was stored. A missing keychain is no error.
    pub fn remove(&self, account: &str) -> Result<Vec<KeyPlace>, KeyStoreError> {
        let from_file = self.remove_from_file(account)?.then_some(KeyPlace::File);
        let from_keychain = match keychain::remove(account) {
            Ok(is_removed) => is_removed.then_some(KeyPlace::Keychain),
            Err(KeyStoreError::NoKeychain(_)) => None,
            Err(error) => return Err(error),
        };

        Ok(from_file.into_iter().chain(from_keychain).collect())
    }

    fn remove_from_file(&self, account: &str) -> Result<bool, KeyStoreError> {
        // Without a key there is nothing to lock, and the directory may be read-only.
        let (_, keys) = self.read()?;
        Ok(keys.contains_key(account) && self.change(|keys| keys.remove(account).is_some())?)
    }

    /// Replaces the file by one with changed keys. Only the user may read it.
    fn change<T>(&self, change: impl FnOnce(&mut Keys) -> T) -> Result<T, KeyStoreError> {
        let _lock = lock_beside(&self.file).map_err(|error| self.error("cannot be written", error))?;
        let (file, mut keys) = self.read()?;
        let outcome = change(&mut keys);

        let text = serde_json::to_string_pretty(&keys);
        let text = text.map_err(|error| self.error("cannot be written", error))?;
        file.replace(&format!("{text}\n")).map_err(|error| self.error("cannot be written", error))?;

        Ok(outcome)
    }

    /// Reads the file, which may not exist. A file that other users can access is refused before its keys are used.
    fn read(&self) -> Result<(TextFile, Keys), KeyStoreError> {
        let file = TextFile::read(&self.file, MAX_FILE_BYTES);
        let file = file.map_err(|error| self.error("cannot be read", error))?;
        if !file.exists() {
            return Ok((file, Keys::new()));
        }

        #[cfg(unix)]
        if let Ok(metadata) = std::fs::metadata(file.target()) {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = metadata.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                return Err(KeyStoreError::SharedFile { path: self.file.clone(), mode });
            }
        }

        // The error of the parser could quote a key.
        let keys = serde_json::from_str(file.text()).map_err(|_| {
            self.error("cannot be used", "it does not contain keys that this program has stored")
        })?;

        Ok((file, keys))
    }

    fn error(&self, problem: &str, reason: impl Display) -> KeyStoreError {
        KeyStoreError::File { path: self.file.clone(), reason: format!("{problem}: {reason}") }
    }
}

/// Why a stored key cannot be read, written or removed.
#[derive(Debug, Error)]
pub enum KeyStoreError {
    /// There is no keychain.
    #[error("there is no keychain: {0}")]
    NoKeychain(String),
    /// The keychain is locked, refuses the access, or fails.
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
    /// What a user can do.
    pub fn hint(&self) -> String {
        match self {
            Self::NoKeychain(_) => {
                "`tas-mcp login --store file` stores the key in a file that only you can read".to_owned()
            }
            Self::Keychain(_) => {
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

/// The keychain of the system: Secret Service, macOS Keychain or Windows Credential Manager.
#[cfg(feature = "keychain")]
mod keychain {
    use keyring::{Entry, Error};

    use super::{KeyStoreError, StoredForm, StoredRecord};

    /// Name of this program in the keychain.
    const SERVICE: &str = "tas-mcp";

    pub(super) fn find(account: &str) -> Result<Option<StoredRecord>, KeyStoreError> {
        let text = match entry(account)?.get_password() {
            Err(Error::NoEntry) => return Ok(None),
            text => text.map_err(|error| failed(account, &error))?,
        };
        let form = serde_json::from_str::<StoredForm>(&text);
        let form = form.map_err(|_| KeyStoreError::Damaged(account.to_owned()))?;

        form.record(account).map(Some)
    }

    pub(super) fn save(account: &str, record: &StoredRecord) -> Result<(), KeyStoreError> {
        let text = serde_json::to_string(&StoredForm::from(record));
        let text = text.map_err(|error| KeyStoreError::Keychain(error.to_string()))?;
        entry(account)?.set_password(&text).map_err(|error| failed(account, &error))
    }

    /// Removes the key of `account`. Returns whether there was one.
    pub(super) fn remove(account: &str) -> Result<bool, KeyStoreError> {
        match entry(account)?.delete_credential() {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => Ok(false),
            Err(error) => Err(failed(account, &error)),
        }
    }

    fn entry(account: &str) -> Result<Entry, KeyStoreError> {
        if let Err(error) = Entry::store_status() {
            tracing::debug!(%error, "there is no keychain");
            return Err(KeyStoreError::NoKeychain("this system offers none".to_owned()));
        }

        Entry::new(SERVICE, account).map_err(|error| failed(account, &error))
    }

    fn failed(account: &str, error: &Error) -> KeyStoreError {
        // Users do not know the libraries that the texts of the errors name.
        tracing::debug!(%error, "the keychain has failed");
        match error {
            Error::BadEncoding(_) | Error::BadDataFormat(..) => KeyStoreError::Damaged(account.to_owned()),
            _ => KeyStoreError::Keychain("`--log debug` says why".to_owned()),
        }
    }
}

#[cfg(not(feature = "keychain"))]
mod keychain {
    use super::{KeyStoreError, StoredRecord};

    #[expect(clippy::unnecessary_wraps, reason = "the keychain can fail")]
    pub(super) fn find(_: &str) -> Result<Option<StoredRecord>, KeyStoreError> {
        Ok(None)
    }

    pub(super) fn save(_: &str, _: &StoredRecord) -> Result<(), KeyStoreError> {
        Err(KeyStoreError::NoKeychain("this program was built without the feature `keychain`".to_owned()))
    }

    #[expect(clippy::unnecessary_wraps, reason = "the keychain can fail")]
    pub(super) fn remove(_: &str) -> Result<bool, KeyStoreError> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns a store with the key of the account `a`.
    fn store() -> (tempfile::TempDir, KeyStore) {
        let directory = tempfile::tempdir().expect("a directory");
        let store = KeyStore::in_directory(&directory.path().join("a/tas-mcp"));
        save(&store, "a");
        (directory, store)
    }

    fn save(store: &KeyStore, account: &str) {
        let key = ApiKey::parse("svc_abcdef").expect("a key");
        let record = StoredRecord { key, addresses: vec!["https://tas.example/api/v1".to_owned()] };
        store.save(KeyPlace::File, account, &record).expect("written");
    }

    #[test]
    fn an_unusable_file_is_an_error_that_shows_no_key() {
        for text in ["", "{\"a\": \"svc_planted\"}", "svc_planted", "{\"a\": {\"key\": \"svc_planted\"}}"] {
            let (_directory, store) = store();
            fs::write(store.file(), text).expect("written");

            let error = store.find("a").expect_err("an error").to_string();
            assert!(error.contains(FILE) && !error.contains("planted"), "{error}");
        }
    }

    #[test]
    fn simultaneous_changes_lose_nothing() {
        let (_directory, store) = store();
        std::thread::scope(|scope| {
            for account in ["b", "c", "d"] {
                let store = &store;
                scope.spawn(move || save(store, account));
            }
        });

        let (_, keys) = store.read().expect("readable");
        assert_eq!(keys.len(), 4);
    }
}
