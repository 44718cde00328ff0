//! Keys that outlive a process: in the keychain of the system, or in a file that only the user can read.
//!
//! All functions block: a keychain that is locked may ask the user and wait for the answer.

use std::{
    collections::BTreeMap,
    fmt::Display,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::key::ApiKey;
use crate::{
    failure::{Code, Failure},
    text::guidance::Guidance,
    text_file::{TextFile, lock_beside},
};

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
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StoredRecord {
    /// The key.
    #[serde(serialize_with = "write_key", deserialize_with = "read_key")]
    pub key: ApiKey,
    /// Addresses of the hosts that may receive the key, without a trailing slash; the first is the main API.
    pub addresses: Vec<String>,
}

fn write_key<S: Serializer>(key: &ApiKey, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(key.expose())
}

fn read_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ApiKey, D::Error> {
    ApiKey::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// The stored keys of one user. Each belongs to an account, which has the name of a profile.
#[derive(Clone, Debug)]
pub struct KeyStore {
    file: PathBuf,
}

/// The keys in the file, by account.
type Keys = BTreeMap<String, StoredRecord>;

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
        work: impl FnOnce(&Self) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let store = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&store)).await;
        // A thread that panics has a keychain that this program does not understand.
        done.unwrap_or_else(|error| Err(unusable_keychain(&error.to_string())))
    }

    /// Finds the key of `account`: in the file without asking the keychain.
    pub fn find(&self, account: &str) -> Result<Option<(StoredRecord, KeyPlace)>, Failure> {
        let (_, mut keys) = self.read()?;
        if let Some(record) = keys.remove(account) {
            return Ok(Some((record, KeyPlace::File)));
        }

        Ok(keychain::find(account)?.map(|record| (record, KeyPlace::Keychain)))
    }

    /// Stores the key of `account` in place of an earlier one.
    pub fn save(&self, place: KeyPlace, account: &str, record: &StoredRecord) -> Result<(), Failure> {
        match place {
            KeyPlace::File => self.change(|keys| drop(keys.insert(account.to_owned(), record.clone()))),
            KeyPlace::Keychain => {
                keychain::save(account, record)?;
                // The file would be found first.
                self.remove_from_file(account).map(drop)
            }
        }
    }

    /// Removes the key of `account`. Returns where it was stored.
    pub fn remove(&self, account: &str) -> Result<Vec<KeyPlace>, Failure> {
        let from_file = self.remove_from_file(account)?.then_some(KeyPlace::File);
        let from_keychain = keychain::remove(account)?.then_some(KeyPlace::Keychain);

        Ok(from_file.into_iter().chain(from_keychain).collect())
    }

    fn remove_from_file(&self, account: &str) -> Result<bool, Failure> {
        // Without a key there is nothing to lock, and the directory may be read-only.
        let (_, keys) = self.read()?;
        Ok(keys.contains_key(account) && self.change(|keys| keys.remove(account).is_some())?)
    }

    /// Replaces the file by one with changed keys. Only the user may read it.
    fn change<T>(&self, change: impl FnOnce(&mut Keys) -> T) -> Result<T, Failure> {
        let _lock = lock_beside(&self.file).map_err(|error| self.error("cannot be written", error))?;
        let (file, mut keys) = self.read()?;
        let outcome = change(&mut keys);

        let text = serde_json::to_string_pretty(&keys);
        let text = text.map_err(|error| self.error("cannot be written", error))?;
        file.replace(&format!("{text}\n")).map_err(|error| self.error("cannot be written", error))?;

        Ok(outcome)
    }

    /// Reads the file, which may not exist. A file that other users can access is refused before its keys are used.
    fn read(&self) -> Result<(TextFile, Keys), Failure> {
        let file = TextFile::read(&self.file, MAX_FILE_BYTES);
        let file = file.map_err(|error| self.error("cannot be read", error))?;
        if file.permissions().is_none() {
            return Ok((file, Keys::new()));
        }
        #[cfg(unix)]
        self.check_private(&file)?;

        // The error of the parser could quote a key.
        let keys = serde_json::from_str(file.text()).map_err(|_| {
            self.error("cannot be used", "it does not contain keys that this program has stored")
        })?;

        Ok((file, keys))
    }

    /// Refuses a file that other users could read or replace.
    #[cfg(unix)]
    fn check_private(&self, file: &TextFile) -> Result<(), Failure> {
        use std::os::unix::fs::PermissionsExt as _;

        let (path, mode) = (self.file.display(), file.permissions().map_or(0, |mode| mode.mode() & 0o777));
        if mode & 0o077 != 0 {
            let message = format!("other users can access {path} (mode {mode:o}), which contains API keys");
            let hint = format!(
                "change that with `chmod 600 {path}`, and replace the keys if others may have read them"
            );
            return Err(failure(message, hint));
        }
        Ok(())
    }

    fn error(&self, problem: &str, reason: impl Display) -> Failure {
        let path = self.file.display();
        let hint = format!("correct or remove {path}, and sign in again: `tas-mcp login`");
        failure(format!("{path} {problem}: {reason}"), hint)
    }
}

fn failure(message: String, hint: impl Into<Guidance>) -> Failure {
    Failure::new(Code::FileError, message).hint(hint)
}

#[cfg(feature = "keychain")]
fn damaged(account: &str) -> Failure {
    failure(format!("the stored key of `{account}` is damaged"), "store the key again: `tas-mcp login`")
}

fn no_keychain(reason: &str) -> Failure {
    failure(
        format!("there is no keychain: {reason}"),
        "`tas-mcp login --store file` stores the key in a file that only you can read",
    )
}

/// The failure of a keychain that is locked, refuses the access, or does not work.
pub(crate) fn unusable_keychain(reason: &str) -> Failure {
    failure(
        format!("the keychain cannot be used: {reason}"),
        "unlock the keychain, or store the key in a file: `tas-mcp login --store file`",
    )
}

/// The keychain of the system: Secret Service, macOS Keychain or Windows Credential Manager.
#[cfg(feature = "keychain")]
mod keychain {
    use keyring::{Entry, Error};

    use super::{Failure, StoredRecord, damaged, no_keychain, unusable_keychain};

    /// Name of this program in the keychain.
    const SERVICE: &str = "tas-mcp";

    pub(super) fn find(account: &str) -> Result<Option<StoredRecord>, Failure> {
        let Some(entry) = entry(account)? else { return Ok(None) };
        let text = match entry.get_password() {
            Err(Error::NoEntry) => return Ok(None),
            text => text.map_err(|error| failed(account, &error))?,
        };
        serde_json::from_str(&text).map(Some).map_err(|_| damaged(account))
    }

    pub(super) fn save(account: &str, record: &StoredRecord) -> Result<(), Failure> {
        let text = serde_json::to_string(record);
        let text = text.map_err(|error| unusable_keychain(&error.to_string()))?;
        let entry = entry(account)?.ok_or_else(|| no_keychain("this system offers none"))?;
        entry.set_password(&text).map_err(|error| failed(account, &error))
    }

    /// Removes the key of `account`. Returns whether there was one.
    pub(super) fn remove(account: &str) -> Result<bool, Failure> {
        let Some(entry) = entry(account)? else { return Ok(false) };
        match entry.delete_credential() {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => Ok(false),
            Err(error) => Err(failed(account, &error)),
        }
    }

    /// Returns the entry of `account`; `None` if there is no keychain.
    fn entry(account: &str) -> Result<Option<Entry>, Failure> {
        if let Err(error) = Entry::store_status() {
            tracing::debug!(%error, "there is no keychain");
            return Ok(None);
        }

        Entry::new(SERVICE, account).map(Some).map_err(|error| failed(account, &error))
    }

    fn failed(account: &str, error: &Error) -> Failure {
        // Users do not know the libraries that the texts of the errors name.
        tracing::debug!(%error, "the keychain has failed");
        match error {
            Error::BadEncoding(_) | Error::BadDataFormat(..) => damaged(account),
            _ => unusable_keychain("`--log debug` says why"),
        }
    }
}

#[cfg(not(feature = "keychain"))]
mod keychain {
    use super::{Failure, StoredRecord, no_keychain};

    #[expect(clippy::unnecessary_wraps, reason = "the keychain can fail")]
    pub(super) fn find(_: &str) -> Result<Option<StoredRecord>, Failure> {
        Ok(None)
    }

    pub(super) fn save(_: &str, _: &StoredRecord) -> Result<(), Failure> {
        Err(no_keychain("this program was built without the feature `keychain`"))
    }

    #[expect(clippy::unnecessary_wraps, reason = "the keychain can fail")]
    pub(super) fn remove(_: &str) -> Result<bool, Failure> {
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
