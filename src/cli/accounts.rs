//! The configuration file of the user with its profiles, and the accounts: profiles, and the keys that are stored for them.

use std::{path::PathBuf, time::Duration};

use serde::Serialize;

use super::exit_status::CommandError;
use crate::{
    client::{FoundKey, KeyPlace, KeyStore, KeyStoreError},
    failure::{Code, Failure},
    settings::{
        Configuration, ConfigurationFile, FIRST_PROFILE, Origin, Profile, Settings, UnusableFile,
        user_directory,
    },
    text::single_line,
};

/// How long a command waits for the keychain, which may ask the user.
const KEYCHAIN_LIMIT: Duration = Duration::from_secs(120);

/// How long `tas-mcp status` waits for the keychain.
const LIST_LIMIT: Duration = Duration::from_secs(20);

/// What the help of the commands says about exit codes.
pub(super) const EXIT_CODES: &str = "Exit codes: 0 success, 1 not found or another program has changed the file, 2 invalid arguments or file, or not confirmed";

/// The configuration file, with its content.
pub(super) struct UserConfiguration {
    pub(super) file: ConfigurationFile,
    pub(super) content: Configuration,
}

impl UserConfiguration {
    /// Reads the file.
    ///
    /// # Errors
    /// The user has no home directory, or the file cannot be used.
    pub(super) fn read() -> Result<Self, Failure> {
        let file = ConfigurationFile::in_directory(&own_directory()?);
        let content = file.read().map_err(UnusableFile::into_failure)?;

        Ok(Self { file, content })
    }

    /// Returns the profile with this name.
    ///
    /// # Errors
    /// `not_found` with the names of all profiles.
    pub(super) fn profile(&self, name: &str) -> Result<&Profile, Failure> {
        self.content.profiles.get(name).ok_or_else(|| {
            let names: Vec<_> = self.content.profiles.keys().map(String::as_str).collect();
            let hint = match names.as_slice() {
                [] => "there are none; `tas-mcp login` creates one".to_owned(),
                names => format!("the profiles are: {}", names.join(", ")),
            };
            let message = format!("{} has no profile `{name}`", self.file.path().display());
            Failure::new(Code::NotFound, message).hint(hint)
        })
    }

    /// Returns the name of the profile that commands use here, if there is one.
    pub(super) fn active_profile<'a>(&'a self, settings: &'a Settings) -> Option<&'a str> {
        settings.profile().or(self.content.default_profile.as_deref())
    }

    /// Returns the name of the profile that a command changes. Only a user who names a profile, or has none, creates
    /// one.
    ///
    /// # Errors
    /// `not_found`: the profile that the project file chooses does not exist.
    pub(super) fn changed_profile<'a>(&'a self, settings: &'a Settings) -> Result<&'a str, Failure> {
        let name = self.active_profile(settings).unwrap_or(FIRST_PROFILE);
        if matches!(settings.profile_origin(), Some(Origin::ProjectFile(_))) {
            self.profile(name)?;
        }

        Ok(name)
    }
}

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
            keys: KeyStore::in_directory(&own_directory()?),
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

/// Returns the directory of this program in the configuration of the user.
///
/// # Errors
/// `file_error`: the user has no home directory.
pub(super) fn own_directory() -> Result<PathBuf, Failure> {
    user_directory().ok_or_else(no_home)
}

/// Returns the failure of a user without a home directory.
pub(super) fn no_home() -> Failure {
    Failure::new(Code::FileError, "this user has no home directory: set HOME")
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
