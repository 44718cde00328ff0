//! The accounts of the user: profiles of the configuration file, and the keys that are stored for them.

use std::time::Duration;

use serde::Serialize;

use super::{
    exit_status::CommandError,
    user_configuration::{UserConfiguration, user_directories},
};
use crate::{
    client::{FoundKey, KeyPlace, KeyStore, KeyStoreError},
    failure::{Code, Failure},
    text::single_line,
};

/// How long a command waits for the keychain, which may ask the user.
const KEYCHAIN_LIMIT: Duration = Duration::from_secs(120);

/// How long `tas-mcp status` waits for the keychain.
const LIST_LIMIT: Duration = Duration::from_secs(20);

/// The files and the keychain in which accounts are kept.
pub(super) struct Accounts {
    pub(super) configuration: UserConfiguration,
    pub(super) keys: KeyStore,
}

/// An account, as `tas-mcp status` lists it.
#[derive(Debug, Serialize)]
pub(super) struct Account {
    pub(super) name: String,
    /// Whether the commands use this account.
    pub(super) is_active: bool,
    pub(super) address: Option<String>,
    /// Where the key is stored; `None` if there is none or if that is not known.
    pub(super) key_in: Option<KeyPlace>,
    /// Why it is not known whether there is a key.
    pub(super) problem: Option<String>,
}

impl Accounts {
    /// Reads the accounts of the user of this process.
    ///
    /// # Errors
    /// The user has no home directory, or the configuration file cannot be used.
    pub(super) fn read() -> Result<Self, Failure> {
        Ok(Self {
            configuration: UserConfiguration::read()?,
            keys: KeyStore::in_directory(&user_directories()?.own()),
        })
    }

    /// Does something with the stored keys that may ask the user.
    ///
    /// # Errors
    /// Those of `work`, and no end of it in time.
    pub(super) async fn with_keys<T: Send + 'static>(
        &self,
        work: impl FnOnce(&KeyStore) -> Result<T, KeyStoreError> + Send + 'static,
    ) -> Result<T, KeyStoreError> {
        within(KEYCHAIN_LIMIT, self.keys.in_background(work)).await
    }

    /// Removes the key of an account. Returns where it was stored.
    ///
    /// # Errors
    /// The keychain or the file cannot be changed.
    pub(super) async fn remove_key(&self, account: &str) -> Result<Vec<KeyPlace>, CommandError> {
        let account = account.to_owned();
        let removed = self.with_keys(move |keys| keys.remove(&account)).await;
        removed.map_err(|error| key_failure(&error))
    }

    /// Lists the accounts that have a profile or are active.
    pub(super) async fn list(&self, active: &str) -> Vec<Account> {
        let profiles = &self.configuration.content.profiles;
        let mut names: Vec<_> = profiles.keys().cloned().collect();
        if !names.iter().any(|name| name == active) {
            names.push(active.to_owned());
        }

        let places = self.places(names.clone()).await;
        let accounts = names.into_iter().zip(places).map(|(name, place)| {
            let profile = profiles.get(&name);
            Account {
                is_active: name == active,
                address: profile.and_then(|profile| profile.text("base_url")).map(str::to_owned),
                key_in: place.as_ref().ok().copied().flatten(),
                problem: place.err(),
                name,
            }
        });

        // An active account without settings and key does not exist.
        let is_known = |account: &Account| profiles.contains_key(&account.name);
        accounts.filter(|account| account.key_in.is_some() || is_known(account)).collect()
    }

    /// Returns where the key of each account is stored.
    async fn places(&self, names: Vec<String>) -> Vec<Result<Option<KeyPlace>, String>> {
        let count = names.len();
        let find = move |keys: &KeyStore| Ok(names.iter().map(|name| place(keys, name)).collect());
        let places = within(LIST_LIMIT, self.keys.in_background(find)).await;

        places.unwrap_or_else(|error| vec![Err(error.to_string()); count])
    }
}

impl Account {
    /// Returns the account as a line.
    pub(super) fn line(&self) -> String {
        let active = if self.is_active { " (active)" } else { "" };
        let address = self.address.as_deref().unwrap_or("no address");
        let key = match (self.key_in, &self.problem) {
            (Some(KeyPlace::Keychain), _) => "key in the keychain".to_owned(),
            (Some(KeyPlace::File), _) => "key in a file".to_owned(),
            (None, Some(problem)) => single_line(problem),
            (None, None) => "no key".to_owned(),
        };

        format!("{}{active}: {address}, {key}", self.name)
    }
}

/// Returns the failure of a command that uses the stored keys.
pub(super) fn key_failure(error: &KeyStoreError) -> CommandError {
    Failure::new(Code::FileError, error.to_string()).hint(error.hint()).into()
}

fn place(keys: &KeyStore, account: &str) -> Result<Option<KeyPlace>, String> {
    match keys.find(account) {
        Ok(FoundKey::Found(_, place)) => Ok(Some(place)),
        Ok(FoundKey::Missing(_)) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, KeyStoreError>>,
) -> Result<T, KeyStoreError> {
    let late = || KeyStoreError::NoAccess(format!("no answer within {} s", limit.as_secs()));
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| Err(late()))
}
