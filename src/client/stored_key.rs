//! The stored key of an account, which is sent only to the addresses for which it was stored.

use super::{
    ApiKey, FoundKey, HostUrl, KeyStore, KeyStoreError, StoredRecord, lookup_failure::LookupFailure,
};

/// The stored key of an account, for requests to certain addresses.
#[derive(Clone, Debug)]
pub struct StoredKey {
    store: KeyStore,
    account: String,
    /// Addresses that the key would be sent to.
    addresses: Vec<String>,
    /// Why a key that is set is not used, as the end of a sentence that begins with its setting.
    withheld: Option<String>,
}

impl StoredKey {
    /// Returns the key of `account` for requests to these hosts. `withheld` says why another key is not used.
    pub fn new<'a>(
        store: KeyStore,
        account: String,
        hosts: impl IntoIterator<Item = &'a HostUrl>,
        withheld: Option<String>,
    ) -> Self {
        let addresses = hosts.into_iter().map(|host| host.as_str().to_owned()).collect();
        Self { store, account, addresses, withheld }
    }

    /// Looks for the key.
    pub(super) async fn find(&self) -> Result<ApiKey, LookupFailure> {
        let account = self.account.clone();
        match self.store.in_background(move |store| store.find(&account)).await {
            Ok(FoundKey::Found(record, _)) => self.bound_key(record),
            Ok(FoundKey::Missing(error)) => Err(self.missing(error.as_ref())),
            Err(error) => Err(unreadable(&error)),
        }
    }

    /// Returns the key if it was stored for all addresses.
    fn bound_key(&self, record: StoredRecord) -> Result<ApiKey, LookupFailure> {
        let other = self.addresses.iter().find(|address| !record.addresses.contains(address));
        let Some(other) = other else { return Ok(record.key) };

        let stored_for = record.addresses.join(" and ");
        let message = format!(
            "the API key of the account `{}` is stored for {stored_for}, and is not sent to {other}",
            self.account
        );
        let hint = "correct the address, or sign in for it with `tas-mcp login`";

        Err(LookupFailure::cheap(message, hint))
    }

    fn missing(&self, error: Option<&KeyStoreError>) -> LookupFailure {
        let reason = error.map(|error| format!(" ({error})")).unwrap_or_default();
        let message = format!(
            "no API key: no key is stored for the account `{}`{reason}, and `TAS_API_KEY` {}",
            self.account,
            self.withheld.as_deref().unwrap_or("is not set")
        );
        let hint = "run `tas-mcp login` in a terminal, or set TAS_API_KEY, TAS_API_KEY_FILE or TAS_API_KEY_COMMAND; `--sandbox` works without settings";

        LookupFailure::cheap(message, hint)
    }
}

fn unreadable(error: &KeyStoreError) -> LookupFailure {
    let (message, hint) = (format!("no API key: {error}"), error.hint());
    // A file is read again at once; a keychain may ask the person each time.
    if error.is_of_keychain() {
        LookupFailure::costly(message, hint)
    } else {
        LookupFailure::cheap(message, hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::KeyPlace;

    #[tokio::test]
    async fn a_key_is_used_only_for_the_addresses_that_it_was_stored_for() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = KeyStore::in_directory(directory.path());
        let [main, knowledge] = ["https://tas.example/api/v1", "https://files.example"];
        let key = ApiKey::parse("svc_planted").expect("a key");
        let record = StoredRecord { key, addresses: vec![main.to_owned(), knowledge.to_owned()] };
        store.save(KeyPlace::File, "default", &record).expect("written");

        for (hosts, refused) in [
            (&["https://tas.example/api/v1/"][..], None),
            (&[main, knowledge], None),
            (&["https://tas.example/other/api/v1"], Some("https://tas.example/other/api/v1")),
            (&["https://tas.example:444/api/v1"], Some("https://tas.example:444/api/v1")),
            (&["https://tas.example.evil/api/v1"], Some("https://tas.example.evil/api/v1")),
            (&[main, "https://evil.example"], Some("https://evil.example")),
        ] {
            let hosts: Vec<_> = hosts.iter().map(|host| HostUrl::parse(host).expect("an address")).collect();
            let found = StoredKey::new(store.clone(), "default".to_owned(), &hosts, None).find().await;
            match (found, refused) {
                (Ok(_), None) => {}
                (Err(LookupFailure { failure, .. }), Some(refused)) => {
                    assert!(failure.message.ends_with(&format!("is not sent to {refused}")), "{failure:?}");
                    assert!(!failure.to_json().contains("planted"), "{failure:?}");
                }
                (found, _) => panic!("{hosts:?}: {found:?}"),
            }
        }
    }
}
