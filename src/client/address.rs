//! Addresses: those of the service's hosts, those that the service names, and presigned ones.
//!
//! A hostile service could name an address of this machine or of its network, which the service itself cannot reach.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use percent_encoding::percent_decode_str;
use reqwest::Url;

/// End of every address of the main API.
pub const MAIN_PATH: &str = "/api/v1";

/// Names that stand for this machine, apart from `localhost` itself.
const LOCAL_SUFFIX: &str = ".localhost";

/// Address of a host that receives the API key: HTTPS, or plain HTTP on the loopback, without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostUrl {
    url: Url,
    /// The address without a trailing slash, which paths are appended to.
    text: String,
}

impl HostUrl {
    /// Parses the address of the main API, which ends in `/api/v1`.
    pub fn main(text: &str) -> Result<Self, String> {
        let host = Self::parse(text)?;
        if host.text.ends_with(MAIN_PATH) {
            return Ok(host);
        }

        let origin = host.url.origin().ascii_serialization();

        Err(format!("`{}` must end in {MAIN_PATH}; is it `{origin}{MAIN_PATH}`?", host.text))
    }

    /// Parses the address of a host.
    ///
    /// # Errors
    /// Describes why requests must not be sent to this address. The description holds no secret part of the address.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut url = Url::parse(text).map_err(|error| format!("is not an address: {error}"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not hold a user name or password".to_owned());
        }

        // A query or a fragment may be a key, and must not appear in the message.
        let has_query = url.query().is_some() || url.fragment().is_some();
        url.set_query(None);
        url.set_fragment(None);

        let text = url.as_str().trim_end_matches('/').to_owned();
        if has_query {
            return Err(format!("`{text}` must not have a query or fragment"));
        }
        if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback(&url)) {
            return Err(match url.scheme() {
                "http" => format!(
                    "`{text}` must use https: http would send the key without encryption (http is for loopback addresses only)"
                ),
                scheme => format!("`{text}` must use https, not {scheme}"),
            });
        }

        Ok(Self { url, text })
    }

    /// Returns the address, without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether requests travel without TLS.
    pub fn is_plain(&self) -> bool {
        self.url.scheme() == "http"
    }

    /// Returns whether the host is this machine. No proxy is used then.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.url)
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn has_origin_of(&self, url: &Url) -> bool {
        self.url.origin() == url.origin()
    }
}

pub(super) fn is_loopback(url: &Url) -> bool {
    match host_address(url) {
        Some(address) => address.is_loopback(),
        None => url.host_str() == Some("localhost"),
    }
}

/// Returns the host of `url` unless it is a name. An IPv6 address stands in brackets.
fn host_address(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_matches(['[', ']']).parse().ok()
}

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
    if let Some(address) = host_address(url) {
        return is_local_address(address);
    }

    let name = url.host_str().unwrap_or_default().trim_end_matches('.');
    name.is_empty() || name == "localhost" || name.ends_with(LOCAL_SUFFIX)
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
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let translated = matches!(address.segments(), [0x64, 0xff9b, 0, 0, 0, 0, ..]);
    let [.., a, b, c, d] = address.octets();
    address.to_ipv4_mapped().or_else(|| translated.then(|| Ipv4Addr::new(a, b, c, d)))
}

/// A presigned address. No output shows it, except the reply to the caller: its `Debug` leaves out the query.
#[derive(Clone, PartialEq, Eq)]
pub struct PresignedAddress {
    url: Url,
    /// The address as the service wrote it. The text of `url` can encode characters in another way.
    text: String,
}

impl PresignedAddress {
    /// Creates the address from one that the [`AddressPolicy`] allows.
    pub fn new(url: Url) -> Self {
        Self { text: url.to_string(), url }
    }

    /// Creates the address from the text of one that the policy allows.
    pub(crate) fn as_written(text: &str, policy: AddressPolicy) -> Option<Self> {
        let url = policy.parse(text).ok()?;
        Some(Self { url, text: text.trim().to_owned() })
    }

    /// Returns the complete address, for the reply to the caller.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// Returns the name of the file: the last segment of the path.
    pub fn file_name(&self) -> Option<String> {
        let segment = self.url.path_segments()?.next_back().filter(|segment| !segment.is_empty())?;
        percent_decode_str(segment).decode_utf8().ok().map(String::from)
    }
}

impl fmt::Debug for PresignedAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}?[signature]", self.url.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_name_is_the_last_segment_of_the_path() {
        for (address, expected) in [
            ("https://storage.example/a/b%20c.zip?x=/y", Some("b c.zip")),
            ("https://storage.example/", None),
            ("https://storage.example/%FF", None),
        ] {
            let address = PresignedAddress::new(Url::parse(address).expect("an address"));
            assert_eq!(address.file_name().as_deref(), expected, "{address:?}");
        }
    }

    #[test]
    fn the_debug_output_leaves_out_the_query() {
        let url = Url::parse("https://storage.example/file?X-Amz-Signature=secret").expect("an address");
        assert_eq!(format!("{:?}", PresignedAddress::new(url)), "/file?[signature]");
    }
}
