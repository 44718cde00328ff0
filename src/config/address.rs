//! The address of the main API.

use std::net::IpAddr;

use reqwest::Url;

/// Base address of the main API: HTTPS, or plain HTTP on the loopback; without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    text: String,
    loopback: bool,
}

impl BaseUrl {
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
        if !shown.ends_with("/api/v1") {
            return Err(format!(
                "`{shown}` must end in /api/v1; is it `{}/api/v1`?",
                url.origin().ascii_serialization()
            ));
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

fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
