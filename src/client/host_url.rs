//! Addresses of the service's hosts.

use std::net::IpAddr;

use url::Url;

/// End of every address of the main API.
const MAIN_PATH: &str = "/api/v1";

/// Address of a host that receives the API key: HTTPS, or plain HTTP on the loopback, without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostUrl {
    url: Url,
    /// The address without a trailing slash, which paths are appended to.
    text: String,
    connection_kind: ConnectionKind,
}

/// How connections to an address are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionKind {
    /// Plain HTTP, which is allowed on the loopback only.
    Plain,
    /// TLS to this machine, without a proxy.
    LoopbackTls,
    /// TLS to any other machine, through a proxy if one is configured.
    RemoteTls,
    /// The same to a machine that must not be this one or on its link.
    PublicTls,
}

impl ConnectionKind {
    pub(super) fn from_url(url: &Url) -> Self {
        match (url.scheme(), is_loopback(url)) {
            ("http", _) => Self::Plain,
            (_, true) => Self::LoopbackTls,
            (_, false) => Self::RemoteTls,
        }
    }
}

impl HostUrl {
    /// Parses the address of the main API, which ends in `/api/v1`.
    ///
    /// # Errors
    /// Describes why the text cannot be that address.
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
        if !is_safe(&url) {
            return Err(match url.scheme() {
                "http" => format!(
                    "`{text}` must use https: http would send the key without encryption (http is for loopback addresses only)"
                ),
                scheme => format!("`{text}` must use https, not {scheme}"),
            });
        }

        Ok(Self { connection_kind: ConnectionKind::from_url(&url), url, text })
    }

    /// Returns the address, without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether requests travel without TLS.
    pub fn is_plain(&self) -> bool {
        self.connection_kind == ConnectionKind::Plain
    }

    /// Returns whether the host is this machine. No proxy is used then.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.url)
    }

    pub(super) fn connection_kind(&self) -> ConnectionKind {
        self.connection_kind
    }

    /// Returns whether `url` has the same scheme, host and port.
    pub(super) fn has_origin_of(&self, url: &Url) -> bool {
        self.url.origin() == url.origin()
    }
}

/// Returns whether requests may be sent to `url`: HTTPS, or plain HTTP on the loopback.
fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}

/// Returns whether the host of `url` is this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');

    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
