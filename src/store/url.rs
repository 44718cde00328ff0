//! The address of the store.

use std::{fmt, path::Path};

use redis::{Client, TlsCertificates};

use super::certificates::trusted_certificates;

/// Scheme of an address without TLS.
const PLAIN: &str = "redis://";

/// Scheme of an address with TLS.
const ENCRYPTED: &str = "rediss://";

/// The address of the store. It may contain a password, so that no output shows it.
#[derive(Clone)]
pub struct StoreUrl(Client);

impl StoreUrl {
    /// Parses an address. The certificates in `ca_file` are trusted in addition to those of the system.
    ///
    /// # Errors
    /// The reason, which does not quote the address.
    pub fn parse(text: &str, ca_file: Option<&Path>) -> Result<Self, String> {
        let client = match ca_file {
            Some(ca_file) if text.starts_with(ENCRYPTED) => {
                let root_cert = Some(trusted_certificates(ca_file)?);
                Client::build_with_tls(text, TlsCertificates { client_tls: None, root_cert })
            }
            _ => Client::open(text),
        };

        let has_scheme = [PLAIN, ENCRYPTED].iter().any(|scheme| text.starts_with(scheme));
        client.ok().filter(|_| has_scheme).map(Self).ok_or_else(|| {
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
            let parsed = StoreUrl::parse(text, None);
            assert_eq!(parsed.is_ok(), is_usable, "{text}");
            assert!(!format!("{parsed:?}").contains("planted"), "{parsed:?}");
        }
    }
}
