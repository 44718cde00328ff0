//! The keychain of the system: Secret Service, macOS Keychain or Windows Credential Manager.

#[cfg(feature = "keychain")]
pub(super) use system::{find, remove, save};

#[cfg(feature = "keychain")]
mod system {
    use keyring::{Entry, Error};

    use crate::client::key_store::{KeyStoreError, StoredForm, StoredRecord};

    /// Name of this program in the keychain.
    const SERVICE: &str = "tas-mcp";

    pub(crate) fn find(account: &str) -> Result<Option<StoredRecord>, KeyStoreError> {
        let text = match entry(account)?.get_password() {
            Err(Error::NoEntry) => return Ok(None),
            text => text.map_err(|error| failed(account, &error))?,
        };
        let form = serde_json::from_str::<StoredForm>(&text);
        let form = form.map_err(|_| KeyStoreError::Damaged(account.to_owned()))?;

        form.record(account).map(Some)
    }

    pub(crate) fn save(account: &str, record: &StoredRecord) -> Result<(), KeyStoreError> {
        let text = serde_json::to_string(&StoredForm::from(record));
        let text = text.map_err(|error| KeyStoreError::Keychain(error.to_string()))?;
        entry(account)?.set_password(&text).map_err(|error| failed(account, &error))
    }

    /// Removes the key of `account`. Returns whether there was one.
    pub(crate) fn remove(account: &str) -> Result<bool, KeyStoreError> {
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
mod absent {
    use crate::client::key_store::{KeyStoreError, StoredRecord};

    #[expect(clippy::unnecessary_wraps, reason = "the keychain can fail")]
    pub(crate) fn find(_: &str) -> Result<Option<StoredRecord>, KeyStoreError> {
        Ok(None)
    }

    pub(crate) fn save(_: &str, _: &StoredRecord) -> Result<(), KeyStoreError> {
        Err(KeyStoreError::NoKeychain("this program was built without the feature `keychain`".to_owned()))
    }

    #[expect(clippy::unnecessary_wraps, reason = "the keychain can fail")]
    pub(crate) fn remove(_: &str) -> Result<bool, KeyStoreError> {
        Ok(false)
    }
}

#[cfg(not(feature = "keychain"))]
pub(super) use absent::{find, remove, save};
