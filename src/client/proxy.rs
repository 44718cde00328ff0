//! The proxy of the system: the variables `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, or else the settings of the
//! operating system.
//!
//! `hyper-util` finds the proxy, as it does for `reqwest`. `reqwest` itself does not tell which proxy it uses, which
//! `doctor` shows and the address policy needs to know. The variables are read here: the library prefers names in capital
//! letters, does not know the forms `host:port`, `[address]` and `*.domain`, and its `*` does not match addresses.

use std::net::IpAddr;

use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use ipnet::IpNet;
use url::{Host, Url};

use super::address::HostUrl;

/// The proxy of the system, as it was when this value was created.
#[derive(Debug)]
pub(super) struct SystemProxy {
    matcher: Matcher,
    exceptions: Vec<Exception>,
}

/// An entry of `NO_PROXY`: hosts that are reached without a proxy.
#[derive(Debug, PartialEq, Eq)]
struct Exception {
    hosts: Hosts,
    /// `None` stands for every port.
    port: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
enum Hosts {
    All,
    Network(IpNet),
    /// A domain with its subdomains.
    Domain(String),
}

impl SystemProxy {
    pub(super) fn read() -> Self {
        let own = Self::from_variables(variable);
        own.unwrap_or_else(|exceptions| Self { matcher: Matcher::from_system(), exceptions })
    }

    /// Returns the proxy that the variables name. As for curl, a name in small letters comes first, and an empty variable is
    /// not set.
    ///
    /// # Errors
    /// No variable names a proxy. The exceptions apply to the proxy of the operating system.
    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Vec<Exception>> {
        let first = |names: [&str; 2]| names.into_iter().filter_map(&variable).find(|text| !text.is_empty());
        let exceptions = parse_exceptions(&first(["no_proxy", "NO_PROXY"]).unwrap_or_default());
        let proxies = [first(["https_proxy", "HTTPS_PROXY"]), first(["all_proxy", "ALL_PROXY"])];

        match proxies {
            [None, None] => Err(exceptions),
            [https, all] => {
                let builder =
                    Matcher::builder().https(https.unwrap_or_default()).all(all.unwrap_or_default());
                Ok(Self { matcher: builder.build(), exceptions })
            }
        }
    }

    pub(super) fn find(&self, url: &Url) -> Option<Intercept> {
        if self.exceptions.iter().any(|exception| exception.matches(url)) {
            return None;
        }

        self.matcher.intercept(&url.as_str().parse().ok()?)
    }

    #[cfg(test)]
    pub(super) fn for_test(address: &str, exceptions: &str) -> Self {
        Self { matcher: Matcher::builder().https(address).build(), exceptions: parse_exceptions(exceptions) }
    }
}

/// Returns the proxy that requests to `url` go through, without its credentials.
pub fn proxy_for(url: &HostUrl) -> Option<String> {
    if url.is_loopback() {
        return None;
    }

    let proxy = SystemProxy::read().find(url.url())?;
    let scheme = proxy.uri().scheme_str().unwrap_or("http");

    Some(format!("{scheme}://{}", proxy.uri().authority()?))
}

#[expect(clippy::disallowed_methods, reason = "the variables are those of all programs, and no setting")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn parse_exceptions(text: &str) -> Vec<Exception> {
    text.split([',', ' ', '\t']).filter_map(Exception::parse).collect()
}

impl Exception {
    fn parse(entry: &str) -> Option<Self> {
        // An IPv6 address without brackets has no port.
        if let Some(network) = parse_network(entry) {
            return Some(Self { hosts: Hosts::Network(network), port: None });
        }

        let with_port = entry.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let (host, port) = with_port.map_or((entry, None), |(host, port)| (host, Some(port)));

        Some(Self { hosts: Hosts::parse(host)?, port })
    }

    fn matches(&self, url: &Url) -> bool {
        self.port.is_none_or(|port| url.port_or_known_default() == Some(port)) && self.hosts.contain(url)
    }
}

impl Hosts {
    fn parse(host: &str) -> Option<Self> {
        if host == "*" {
            return Some(Self::All);
        }

        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if let Some(network) = parse_network(address) {
            return Some(Self::Network(network));
        }

        let domain = host.trim_start_matches('*').trim_matches('.').to_ascii_lowercase();

        (!domain.is_empty()).then_some(Self::Domain(domain))
    }

    fn contain(&self, url: &Url) -> bool {
        match (self, url.host()) {
            (Self::All, _) => true,
            (Self::Network(network), Some(Host::Ipv4(address))) => network.contains(&IpAddr::from(address)),
            (Self::Network(network), Some(Host::Ipv6(address))) => network.contains(&IpAddr::from(address)),
            (Self::Domain(domain), Some(Host::Domain(name))) => {
                let name = name.trim_end_matches('.');
                name.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            }
            _ => false,
        }
    }
}

/// A network such as `10.0.0.0/8`, or a single address.
fn parse_network(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse().ok().map(|address: IpAddr| address.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether `exceptions` lead around the proxy for `address`.
    fn is_direct(exceptions: &str, address: &str) -> bool {
        let url = Url::parse(address).expect("an address");
        SystemProxy::for_test("http://proxy.example:3128", exceptions).find(&url).is_none()
    }

    #[test]
    fn every_form_of_an_exception_leads_around_the_proxy() {
        for (exceptions, address) in [
            ("*", "https://tas.example/"),
            ("*", "https://192.0.2.1/"),
            ("*", "https://[2001:db8::1]/"),
            ("tas.example", "https://tas.example/"),
            ("tas.example", "https://TAS.example.:8443/"),
            ("TAS.Example.", "https://tas.example/"),
            ("example", "https://tas.example/"),
            (".tas.example", "https://tas.example/"),
            (".tas.example", "https://a.b.tas.example/"),
            ("*.tas.example", "https://a.tas.example/"),
            ("*.tas.example", "https://tas.example/"),
            ("tas.example:443", "https://tas.example/"),
            ("tas.example:8443", "https://a.tas.example:8443/"),
            ("*:8443", "https://tas.example:8443/"),
            ("192.0.2.1", "https://192.0.2.1/"),
            ("192.0.2.1:8443", "https://192.0.2.1:8443/"),
            ("192.0.2.0/24", "https://192.0.2.200/"),
            ("2001:db8::1", "https://[2001:db8::1]/"),
            ("[2001:db8::1]", "https://[2001:db8:0::1]:8443/"),
            ("[2001:db8::1]:8443", "https://[2001:db8::1]:8443/"),
            ("2001:db8::/32", "https://[2001:db8:7::1]/"),
            ("other.example, tas.example", "https://tas.example/"),
            ("other.example tas.example", "https://tas.example/"),
        ] {
            assert!(is_direct(exceptions, address), "{exceptions:?} {address}");
        }
    }

    #[test]
    fn variables_are_read_as_curl_reads_them() {
        let url = Url::parse("https://tas.example/").expect("an address");
        for (variables, expected) in [
            (&[("HTTPS_PROXY", "http://a:1"), ("https_proxy", "http://b:1")][..], Some("b:1")),
            (&[("HTTPS_PROXY", "http://a:1"), ("https_proxy", "")], Some("a:1")),
            (&[("ALL_PROXY", "http://a:1"), ("HTTPS_PROXY", "http://b:1")], Some("b:1")),
            (&[("ALL_PROXY", "http://a:1"), ("NO_PROXY", "tas.example"), ("no_proxy", "")], None),
            (&[("ALL_PROXY", "http://a:1"), ("NO_PROXY", "tas.example"), ("no_proxy", "other")], Some("a:1")),
            (&[("ALL_PROXY", "http://a:1"), ("NO_PROXY", "other"), ("no_proxy", "tas.example")], None),
            (&[("NO_PROXY", "tas.example")], None),
        ] {
            let variable = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            let proxy = SystemProxy::from_variables(variable).ok().and_then(|proxy| proxy.find(&url));
            let authority = proxy.map(|proxy| proxy.uri().authority().expect("a host").to_string());
            assert_eq!(authority.as_deref(), expected, "{variables:?}");
        }
    }

    #[test]
    fn other_hosts_are_reached_through_the_proxy() {
        for (exceptions, address) in [
            ("", "https://tas.example/"),
            (" , ", "https://tas.example/"),
            (".", "https://tas.example/"),
            ("as.example", "https://tas.example/"),
            ("*as.example", "https://tas.example/"),
            ("a.tas.example", "https://tas.example/"),
            ("tas.example:8443", "https://tas.example/"),
            ("tas.example:x", "https://tas.example/"),
            ("192.0.2.0/24", "https://192.0.3.1/"),
            ("192.0.2", "https://192.0.2.1/"),
            ("2001:db8::1", "https://[2001:db8::2]/"),
            ("[2001:db8::1]:8443", "https://[2001:db8::1]/"),
        ] {
            assert!(!is_direct(exceptions, address), "{exceptions:?} {address}");
        }
    }
}
