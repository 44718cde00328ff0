//! Addresses of the service's hosts.

use std::net::IpAddr;

use reqwest::Url;

/// How the path of the main API ends.
const MAIN_PATH: &str = "/api/v1";

/// Address of a host that the key is sent to: HTTPS, or plain HTTP on the loopback; without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostUrl {
    text: String,
    loopback: bool,
}

impl HostUrl {
    /// Takes the address of the main API; the problem if it cannot be that.
    pub fn main(text: &str) -> Result<Self, String> {
        let url = Self::parse(text)?;
        if url.text.ends_with(MAIN_PATH) {
            return Ok(url);
        }
        Err(format!("`{}` must end in {MAIN_PATH}; is it `{}{MAIN_PATH}`?", url.text, url.origin()))
    }

    /// Scheme, host and port.
    fn origin(&self) -> String {
        Url::parse(&self.text).map_or_else(|_| self.text.clone(), |url| url.origin().ascii_serialization())
    }

    /// Takes an address; the problem if requests must not be sent there.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut url = Url::parse(text).map_err(|error| format!("is not an address: {error}"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not hold a user name or password".to_owned());
        }

        let has_more = url.query().is_some() || url.fragment().is_some();
        // It may be a key, and must not be shown.
        url.set_query(None);
        url.set_fragment(None);

        let shown = url.as_str().trim_end_matches('/');
        if has_more {
            return Err(format!("`{shown}` must not have a query or fragment"));
        }

        let loopback = is_loopback(&url);
        match url.scheme() {
            "https" => {}
            "http" if loopback => {}
            "http" => {
                return Err(format!(
                    "`{shown}` must use https: the key would travel in clear text (http is for loopback addresses only)"
                ));
            }
            other => return Err(format!("`{shown}` must use https, not {other}")),
        }

        Ok(Self { text: shown.to_owned(), loopback })
    }

    /// The address, without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether requests travel without TLS.
    pub fn is_plain(&self) -> bool {
        self.text.starts_with("http:")
    }

    /// Whether it is this machine: then no proxy is asked.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }
}

/// Whether requests may be sent to `url`: HTTPS, or plain HTTP on the loopback.
pub fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}

/// Whether it is this machine.
pub fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
