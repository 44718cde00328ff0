//! The file with keys, for systems without a keychain. Only the user may read it.

use std::{
    collections::BTreeMap,
    fmt::Display,
    fs::{self, File},
    path::{Path, PathBuf},
};

use super::{KeyStoreError, StoredForm, StoredRecord};
use crate::text_file::{TextFile, lock_beside};

/// Name of the file.
const NAME: &str = "keys.json";

/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// The keys of all accounts, by name.
type Keys = BTreeMap<String, StoredForm>;

/// The file with the keys.
#[derive(Clone, Debug)]
pub(super) struct FileStore {
    path: PathBuf,
}

impl FileStore {
    pub(super) fn in_directory(directory: &Path) -> Self {
        Self { path: directory.join(NAME) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn find(&self, account: &str) -> Result<Option<StoredRecord>, KeyStoreError> {
        let keys = self.parse(&self.read()?)?;
        let Some(form) = keys.get(account) else { return Ok(None) };
        let record = form.record().ok_or_else(|| KeyStoreError::Damaged(account.to_owned()))?;

        Ok(Some(record))
    }

    pub(super) fn save(&self, account: &str, record: &StoredRecord) -> Result<(), KeyStoreError> {
        let _lock = self.lock()?;
        let file = self.read()?;
        let mut keys = self.parse(&file)?;
        keys.insert(account.to_owned(), record.into());

        self.write(&file, &keys)
    }

    /// Removes the key of `account`. Returns whether there was one.
    pub(super) fn remove(&self, account: &str) -> Result<bool, KeyStoreError> {
        // Without a key there is nothing to lock, and the directory may be read-only.
        if !self.parse(&self.read()?)?.contains_key(account) {
            return Ok(false);
        }

        let _lock = self.lock()?;
        let file = self.read()?;
        let mut keys = self.parse(&file)?;
        let is_removed = keys.remove(account).is_some();
        self.write(&file, &keys)?;

        Ok(is_removed)
    }

    /// Reads the file, which may not exist. A file that other users can access is refused before its keys are used.
    fn read(&self) -> Result<TextFile, KeyStoreError> {
        let file =
            TextFile::read(&self.path, MAX_BYTES).map_err(|error| self.error("cannot be read", error))?;

        #[cfg(unix)]
        if let Ok(metadata) = fs::metadata(file.target()) {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = metadata.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                return Err(KeyStoreError::SharedFile { path: self.path.clone(), mode });
            }
        }

        Ok(file)
    }

    fn parse(&self, file: &TextFile) -> Result<Keys, KeyStoreError> {
        if !file.exists() {
            return Ok(Keys::new());
        }
        // The error of the parser could quote a key.
        serde_json::from_str(file.text()).map_err(|_| {
            self.error("cannot be used", "it does not contain keys that this program has stored")
        })
    }

    /// Replaces the file. Only the user may read it.
    fn write(&self, file: &TextFile, keys: &Keys) -> Result<(), KeyStoreError> {
        let text =
            serde_json::to_string_pretty(keys).map_err(|error| self.error("cannot be written", error))?;
        file.replace(&format!("{text}\n")).map_err(|error| self.error("cannot be written", error))
    }

    fn lock(&self) -> Result<File, KeyStoreError> {
        lock_beside(&self.path).map_err(|error| self.error("cannot be written", error))
    }

    fn error(&self, problem: &str, reason: impl Display) -> KeyStoreError {
        KeyStoreError::File { path: self.path.clone(), reason: format!("{problem}: {reason}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::ApiKey;

    fn record(key: &str) -> StoredRecord {
        let key = ApiKey::parse(key).expect("a key");
        StoredRecord { key, addresses: vec!["https://tas.example/api/v1".to_owned()] }
    }

    fn store() -> (tempfile::TempDir, FileStore) {
        let directory = tempfile::tempdir().expect("a directory");
        let store = FileStore::in_directory(&directory.path().join("a/tas-mcp"));
        (directory, store)
    }

    #[test]
    fn a_key_is_stored_found_and_removed() {
        let (_directory, store) = store();
        assert!(store.find("a").expect("readable").is_none());
        assert!(!store.remove("a").expect("readable"));

        store.save("a", &record("svc_abcdef")).expect("written");
        store.save("b", &record("svc_ghijkl")).expect("written");
        assert_eq!(store.find("a").expect("readable").expect("a key").key.expose(), "svc_abcdef");

        assert!(store.remove("a").expect("written") && !store.remove("a").expect("readable"));
        assert!(store.find("b").expect("readable").is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let (_directory, store) = store();
        store.save("a", &record("svc_abcdef")).expect("written");
        let mode = fs::metadata(store.path()).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        for mode in [0o640, 0o604, 0o620, 0o777] {
            fs::set_permissions(store.path(), fs::Permissions::from_mode(mode)).expect("changed");
            let error = store.find("a").expect_err("a refusal");
            assert!(matches!(error, KeyStoreError::SharedFile { .. }), "{error}");
            assert!(store.save("b", &record("svc_ghijkl")).is_err());
        }
    }

    #[test]
    fn an_unusable_file_is_an_error_that_shows_no_key() {
        for text in ["", "{\"a\": \"svc_planted\"}", "svc_planted", "{\"a\": {\"key\": \"svc_planted\"}}"] {
            let (_directory, store) = store();
            store.save("a", &record("svc_abcdef")).expect("written");
            fs::write(store.path(), text).expect("written");

            let error = store.find("a").expect_err("an error").to_string();
            assert!(error.contains("keys.json") && !error.contains("planted"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_the_file_stays_a_link() {
        let (directory, store) = store();
        store.save("a", &record("svc_abcdef")).expect("written");
        let target = directory.path().join("elsewhere.json");
        fs::rename(store.path(), &target).expect("moved");
        std::os::unix::fs::symlink(&target, store.path()).expect("a link");

        store.save("b", &record("svc_ghijkl")).expect("written");

        assert!(
            store.path().is_symlink() && fs::read_to_string(target).expect("a text").contains("svc_ghijkl")
        );
    }

    #[test]
    fn simultaneous_changes_lose_nothing() {
        let (_directory, store) = store();
        std::thread::scope(|scope| {
            for account in ["a", "b", "c", "d"] {
                let store = &store;
                scope.spawn(move || store.save(account, &record("svc_abcdef")).expect("written"));
            }
        });

        assert!(["a", "b", "c", "d"].iter().all(|account| store.find(account).expect("readable").is_some()));
    }
}
