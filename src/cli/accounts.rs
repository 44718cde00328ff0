//! The accounts of the user: profiles of the configuration file, and the keys that are stored for them.

use std::time::Duration;

use serde::Serialize;

use crate::{
    client::{KeyPlace, KeyStore, unusable_keychain},
    failure::{Code, Failure},
    settings::{Configuration, ConfigurationFile, Profile, user_directory},
    text::single_line,
};

/// How long a command waits for the keychain, which may ask the user.
const KEYCHAIN_LIMIT: Duration = Duration::from_secs(120);

/// The file and the store in which accounts are kept.
pub(super) struct Accounts {
    pub(super) file: ConfigurationFile,
    pub(super) configuration: Configuration,
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

pub(super) fn no_home() -> Failure {
    Failure::new(Code::FileError, "this user has no home directory: set HOME")
}

impl Accounts {
    pub(super) fn read() -> Result<Self, Failure> {
        let directory = user_directory().ok_or_else(no_home)?;
        let file = ConfigurationFile::in_directory(&directory);
        let configuration = file.read()?;

        Ok(Self { file, configuration, keys: KeyStore::in_directory(&directory) })
    }

    pub(super) fn profile(&self, name: &str) -> Result<&Profile, Failure> {
        self.configuration.profiles.get(name).ok_or_else(|| {
            let names: Vec<_> = self.configuration.profiles.keys().map(String::as_str).collect();
            let hint = match names.as_slice() {
                [] => "there are none; `tas-mcp login` creates one".to_owned(),
                names => format!("the profiles are: {}", names.join(", ")),
            };
            let message = format!("{} has no profile `{name}`", self.file.path().display());
            Failure::new(Code::NotFound, message).hint(hint)
        })
    }

    /// Does something with the stored keys that may ask the user.
    pub(super) async fn with_keys<T: Send + 'static>(
        &self,
        work: impl FnOnce(&KeyStore) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let work = tokio::time::timeout(KEYCHAIN_LIMIT, self.keys.in_background(work));
        let late = format!("no answer within {} s", KEYCHAIN_LIMIT.as_secs());
        work.await.unwrap_or(Err(unusable_keychain(&late)))
    }

    /// Lists the accounts that have a profile, and the active one if it has a key.
    pub(super) async fn list(&self, active: &str) -> Vec<Account> {
        let profiles = &self.configuration.profiles;
        let mut names: Vec<_> = profiles.keys().cloned().collect();
        if !profiles.contains_key(active) {
            names.push(active.to_owned());
        }

        let places = self.places(names.clone()).await;
        let accounts = names.into_iter().zip(places).map(|(name, place)| Account {
            is_active: name == active,
            address: profiles.get(&name).and_then(|profile| profile.text("base_url")).map(str::to_owned),
            key_in: place.as_ref().ok().copied().flatten(),
            problem: place.err(),
            name,
        });

        accounts.filter(|account| account.key_in.is_some() || profiles.contains_key(&account.name)).collect()
    }

    async fn places(&self, names: Vec<String>) -> Vec<Result<Option<KeyPlace>, String>> {
        let count = names.len();
        let find = move |keys: &KeyStore| Ok(names.iter().map(|name| place(keys, name)).collect());
        self.with_keys(find).await.unwrap_or_else(|error| vec![Err(error.to_string()); count])
    }
}

impl Account {
    pub(super) fn line(&self) -> String {
        let active = if self.is_active { " (active)" } else { "" };
        let address = self.address.as_deref().unwrap_or("no address");
        let key = match (self.key_in, &self.problem) {
            (Some(place), _) => format!("key {}", place_text(place)),
            (None, Some(problem)) => problem.clone(),
            (None, None) => "no key".to_owned(),
        };

        // Names of profiles may contain line breaks.
        single_line(&format!("{}{active}: {address}, {key}", self.name))
    }
}

/// Returns where a key is, as the end of a sentence.
pub(super) fn place_text(place: KeyPlace) -> &'static str {
    match place {
        KeyPlace::Keychain => "in the keychain",
        KeyPlace::File => "in a file that only you can read",
    }
}

fn place(keys: &KeyStore, account: &str) -> Result<Option<KeyPlace>, String> {
    let found = keys.find(account).map_err(|error| error.to_string())?;
    Ok(found.map(|(_, place)| place))
}
