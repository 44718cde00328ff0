//! Addresses that the service names: parts of uploads, redirects and artifacts (`design.md` 6).
//!
//! A hostile service could name an address of this machine or of its network, which the service itself cannot reach.

use std::net::{IpAddr, Ipv6Addr};

use url::Url;

use super::{HostUrl, host_url::is_loopback};

/// Names that stand for this machine, apart from `localhost` itself.
const LOCAL_SUFFIX: &str = ".localhost";

/// Which addresses that the service names are followed.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddressPolicy {
    /// Whether addresses of this machine and of its link are followed.
    allows_local: bool,
}

impl AddressPolicy {
    /// Returns the policy for the service at `base_url`. Only a service on this machine may name local addresses.
    pub fn for_service(base_url: &HostUrl) -> Self {
        Self { allows_local: base_url.is_loopback() }
    }

    /// Returns whether local addresses are followed.
    pub(super) fn allows_local(self) -> bool {
        self.allows_local
    }

    /// Parses an address that the service names.
    ///
    /// # Errors
    /// Describes why the address is not followed. The description shows no part of the address.
    pub fn parse(self, text: &str) -> Result<Url, &'static str> {
        let url = Url::parse(text).map_err(|_| "is not an address")?;
        self.check(&url)?;
        Ok(url)
    }

    /// Checks an address that the service names.
    ///
    /// # Errors
    /// Describes why the address is not followed.
    pub(super) fn check(self, url: &Url) -> Result<(), &'static str> {
        let is_plain_loopback = url.scheme() == "http" && is_loopback(url) && self.allows_local;
        if url.scheme() != "https" && !is_plain_loopback {
            return Err("must use https");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not contain a user name or password");
        }
        if !self.allows_local && is_local_host(url) {
            return Err("must not lead to this machine or its local link");
        }
        Ok(())
    }
}

/// Returns whether the host of `url` is this machine, or an address that only its link has.
fn is_local_host(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse();

    host.is_empty()
        || host == "localhost"
        || host.ends_with(LOCAL_SUFFIX)
        || address.is_ok_and(|address: IpAddr| is_local_address(address))
}

/// Returns whether an address is of this machine, or one that only its link has. Metadata services of cloud hosts have
/// such an address.
pub(super) fn is_local_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.is_loopback()
                || address.is_link_local()
                || address.is_unspecified()
                || address.octets()[0] == 0
        }
        IpAddr::V6(address) => match embedded_ipv4(address) {
            Some(embedded) => is_local_address(IpAddr::V4(embedded)),
            None => address.is_loopback() || address.is_unspecified() || address.is_unicast_link_local(),
        },
    }
}

/// Returns the IPv4 address in an IPv6 address of the forms `::ffff:a.b.c.d` and `64:ff9b::a.b.c.d` (RFC 6052).
fn embedded_ipv4(address: Ipv6Addr) -> Option<std::net::Ipv4Addr> {
    let translated = matches!(address.segments(), [0x64, 0xff9b, 0, 0, 0, 0, ..]);
    let [.., a, b, c, d] = address.octets();
    address.to_ipv4_mapped().or_else(|| translated.then(|| std::net::Ipv4Addr::new(a, b, c, d)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_inputs::{check_texts, text};

    const REMOTE: AddressPolicy = AddressPolicy { allows_local: false };
    const LOCAL: AddressPolicy = AddressPolicy { allows_local: true };

    #[test]
    fn a_remote_service_names_only_public_https_addresses() {
        for address in ["https://storage.example/a?b", "https://10.0.0.1/", "https://[2001:db8::1]:8443/"] {
            assert!(REMOTE.parse(address).is_ok(), "{address}");
        }

        for address in [
            "http://storage.example/",
            "http://127.0.0.1/",
            "ftp://storage.example/",
            "https://user:password@storage.example/",
            "https://user@storage.example/",
            "https://127.0.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://0.0.0.0/",
            "https://0.1.2.3/",
            "https://localhost/",
            "https://LOCALHOST./",
            "https://a.localhost/",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/",
            "https://[::]/",
            "https://[fe80::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:a9fe:a9fe]/",
            "https://[64:ff9b::7f00:1]/",
            "not an address",
        ] {
            assert!(REMOTE.parse(address).is_err(), "{address}");
        }
    }

    #[test]
    fn a_service_on_this_machine_names_local_addresses_too() {
        for (address, is_followed) in [
            ("http://127.0.0.1:9000/part", true),
            ("https://localhost/", true),
            ("http://storage.example/", false),
            ("http://user@127.0.0.1/", false),
        ] {
            assert_eq!(LOCAL.parse(address).is_ok(), is_followed, "{address}");
        }
    }

    #[test]
    fn an_address_that_is_followed_uses_https_without_credentials() {
        check_texts(&(text(), "[a-z0-9.:@\\[\\]-]{0,20}"), |(text, host)| {
            for address in [text.clone(), format!("https://{host}/{text}"), format!("http://{host}/")] {
                if let Ok(url) = REMOTE.parse(&address) {
                    let is_public = |host: &str| host != "localhost" && !host.starts_with("127.");
                    assert!(url.scheme() == "https" && url.username().is_empty(), "{address}");
                    assert!(url.host_str().is_some_and(is_public), "{address}");
                }
            }
        });
    }
}
