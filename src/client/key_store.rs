//! Keys that outlive a process: in the keychain of the system, or in a file that only the user can read.
//!
//! All functions block: a keychain that is locked may ask the user and wait for the answer.

use std::{
    collections::BTreeMap,
    fmt::Display,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use self::system::{Error, Keychain};
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

        let Ok(keychain) = Keychain::open() else { return Ok(None) };
        let Some(secret) = keychain.find(account).map_err(|error| failed(&error))? else { return Ok(None) };
        let record = serde_json::from_slice(&secret).map_err(|_| damaged(account))?;
        Ok(Some((record, KeyPlace::Keychain)))
    }

    /// Stores the key of `account` in place of an earlier one.
    pub fn save(&self, place: KeyPlace, account: &str, record: &StoredRecord) -> Result<(), Failure> {
        match place {
            KeyPlace::File => self.change(|keys| drop(keys.insert(account.to_owned(), record.clone()))),
            KeyPlace::Keychain => {
                let keychain = Keychain::open().map_err(|error| no_keychain(&error))?;
                let secret = serde_json::to_vec(record).map_err(|_| damaged(account))?;
                keychain.save(account, &secret).map_err(|error| failed(&error))?;
                // The file would be found first.
                self.remove_from_file(account).map(drop)
            }
        }
    }

    /// Removes the key of `account`. Returns where it was stored.
    pub fn remove(&self, account: &str) -> Result<Vec<KeyPlace>, Failure> {
        let from_file = self.remove_from_file(account)?.then_some(KeyPlace::File);
        let from_keychain = match Keychain::open() {
            Ok(keychain) => {
                keychain.remove(account).map_err(|error| failed(&error))?.then_some(KeyPlace::Keychain)
            }
            Err(_) => None,
        };

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

fn damaged(account: &str) -> Failure {
    failure(format!("the stored key of `{account}` is damaged"), "store the key again: `tas-mcp login`")
}

/// Users do not know the libraries that the texts of the errors name.
fn no_keychain(error: &Error) -> Failure {
    tracing::debug!(%error, "there is no keychain");
    let reason = if cfg!(feature = "keychain") {
        "this system offers none"
    } else {
        "this program was built without the feature `keychain`"
    };

    failure(
        format!("there is no keychain: {reason}"),
        "`tas-mcp login --store file` stores the key in a file that only you can read",
    )
}

fn failed(error: &Error) -> Failure {
    tracing::debug!(%error, "the keychain has failed");
    unusable_keychain("`--log debug` says why")
}

/// The failure of a keychain that is locked, refuses the access, or does not work.
pub(crate) fn unusable_keychain(reason: &str) -> Failure {
    failure(
        format!("the keychain cannot be used: {reason}"),
        "unlock the keychain, or store the key in a file: `tas-mcp login --store file`",
    )
}

/// Name of this program in the keychain.
#[cfg(feature = "keychain")]
const SERVICE: &str = "tas-mcp";

/// The Secret Service. Its connection is a socket of the user, so that secrets pass through it as they are.
#[cfg(all(feature = "keychain", unix, not(target_os = "macos")))]
mod system {
    pub(super) use dbus_secret_service::Error;
    use dbus_secret_service::{EncryptionType, Item, SecretService};

    use super::SERVICE;

    pub(super) struct Keychain(SecretService);

    impl Keychain {
        pub(super) fn open() -> Result<Self, Error> {
            SecretService::connect(EncryptionType::Plain).map(Self)
        }

        pub(super) fn find(&self, account: &str) -> Result<Option<Vec<u8>>, Error> {
            self.items(account)?.first().map(Item::get_secret).transpose()
        }

        pub(super) fn save(&self, account: &str, secret: &[u8]) -> Result<(), Error> {
            let collection = self.0.get_default_collection()?;
            collection.ensure_unlocked()?;

            let label = format!("{SERVICE}: API key of {account}");
            collection.create_item(&label, attributes(account).into(), secret, true, "text/plain").map(drop)
        }

        pub(super) fn remove(&self, account: &str) -> Result<bool, Error> {
            let items = self.items(account)?;
            items.iter().try_for_each(Item::delete)?;
            Ok(!items.is_empty())
        }

        /// Returns the items of `account`, unlocked.
        fn items(&self, account: &str) -> Result<Vec<Item<'_>>, Error> {
            let found = self.0.search_items(attributes(account).into())?;
            found.locked.iter().try_for_each(Item::unlock)?;
            Ok(found.unlocked.into_iter().chain(found.locked).collect())
        }
    }

    fn attributes(account: &str) -> [(&str, &str); 2] {
        [("service", SERVICE), ("username", account)]
    }
}

/// The macOS Keychain or the Windows Credential Manager.
#[cfg(all(feature = "keychain", any(windows, target_os = "macos")))]
mod system {
    use std::sync::Arc;

    #[cfg(target_os = "macos")]
    use apple_native_keyring_store::keychain::Store;
    pub(super) use keyring_core::Error;
    use keyring_core::{Entry, api::CredentialStoreApi as _};
    #[cfg(windows)]
    use windows_native_keyring_store::Store;

    use super::SERVICE;

    pub(super) struct Keychain(Arc<Store>);

    impl Keychain {
        pub(super) fn open() -> Result<Self, Error> {
            Store::new().map(Self)
        }

        pub(super) fn find(&self, account: &str) -> Result<Option<Vec<u8>>, Error> {
            unless_absent(self.entry(account)?.get_secret())
        }

        pub(super) fn save(&self, account: &str, secret: &[u8]) -> Result<(), Error> {
            self.entry(account)?.set_secret(secret)
        }

        pub(super) fn remove(&self, account: &str) -> Result<bool, Error> {
            unless_absent(self.entry(account)?.delete_credential()).map(|removed| removed.is_some())
        }

        fn entry(&self, account: &str) -> Result<Entry, Error> {
            self.0.build(SERVICE, account, None)
        }
    }

    fn unless_absent<T>(outcome: Result<T, Error>) -> Result<Option<T>, Error> {
        match outcome {
            Err(Error::NoEntry) => Ok(None),
            outcome => outcome.map(Some),
        }
    }
}

#[cfg(not(feature = "keychain"))]
mod system {
    pub(super) type Error = &'static str;

    pub(super) enum Keychain {}

    impl Keychain {
        pub(super) fn open() -> Result<Self, Error> {
            Err("the program was built without one")
        }

        pub(super) fn find(&self, _: &str) -> Result<Option<Vec<u8>>, Error> {
            match *self {}
        }

        pub(super) fn save(&self, _: &str, _: &[u8]) -> Result<(), Error> {
            match *self {}
        }

        pub(super) fn remove(&self, _: &str) -> Result<bool, Error> {
            match *self {}
        }
    }
}
