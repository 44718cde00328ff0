//! The address of the store.

use std::fmt;

use redis::Client;

/// Schemes of the address: without and with TLS.
const SCHEMES: [&str; 2] = ["redis://", "rediss://"];

/// The address of the store. It may contain a password, so that no output shows it.
#[derive(Clone)]
pub struct StoreUrl(Client);

impl StoreUrl {
    /// Parses an address.
    ///
    /// # Errors
    /// The reason, which does not quote the address.
    pub fn parse(text: &str) -> Result<Self, String> {
        let has_scheme = SCHEMES.iter().any(|scheme| text.starts_with(scheme));
        let client = Client::open(text).ok().filter(|_| has_scheme);
        client.map(Self).ok_or_else(|| {
            "must be an address such as redis://HOST:6379 or rediss://USER:PASSWORD@HOST:6379/0".to_owned()
        })
    }

    /// Returns the client of the store.
    pub(super) fn into_client(self) -> Client {
        self.0
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[store]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_known_scheme_and_a_host() {
        let cases = [
            ("redis://127.0.0.1", true),
            ("redis://:planted@store.example:6380/2", true),
            ("rediss://user:planted@store.example", true),
            ("redis+unix:///run/planted.sock", false),
            ("unix:///run/planted.sock", false),
            ("http://planted.example", false),
            ("redis://", false),
            ("redis://planted.example/first", false),
            ("planted:6379", false),
        ];

        for (text, is_usable) in cases {
            let parsed = StoreUrl::parse(text);
            assert_eq!(parsed.is_ok(), is_usable, "{text}");
            assert!(!format!("{parsed:?}").contains("planted"), "{parsed:?}");
        }
    }
}
