//! The proxies of the system: environment variables, or else the settings of the operating system.

use std::sync::Arc;

use http::Uri;
use hyper_rustls::HttpsConnector;
use hyper_util::client::{legacy::connect::proxy::Tunnel, proxy::matcher::Matcher};
use rustls::ClientConfig;

use super::{HostUrl, tcp_connector::TcpConnector};

/// Opens connections to proxies, with TLS if the address of a proxy begins with `https`.
pub(super) type ProxyConnector = HttpsConnector<TcpConnector>;

/// The proxies of the system, as they were when this value was created.
#[derive(Debug)]
pub(super) struct SystemProxies {
    matcher: Matcher,
    connector: ProxyConnector,
}

impl SystemProxies {
    pub(super) fn new(tcp: TcpConnector, tls: Arc<ClientConfig>) -> Self {
        Self { matcher: Matcher::from_system(), connector: HttpsConnector::from((tcp, tls)) }
    }

    /// Returns the connector that leads through the proxy for `address`; `None` if no proxy is used.
    pub(super) fn tunnel(&self, address: &Uri) -> Option<Tunnel<ProxyConnector>> {
        let proxy = self.matcher.intercept(address)?;
        let tunnel = Tunnel::new(proxy.uri().clone(), self.connector.clone());

        Some(match proxy.basic_auth() {
            Some(credentials) => tunnel.with_auth(credentials.clone()),
            None => tunnel,
        })
    }
}

/// Returns the proxy that requests to `url` go through, without its credentials.
pub fn proxy_for(url: &HostUrl) -> Option<String> {
    if url.is_loopback() {
        return None;
    }

    let address = url.as_str().parse().ok()?;
    let proxy = Matcher::from_system().intercept(&address)?;
    let scheme = proxy.uri().scheme_str().unwrap_or("http");
    // Credentials of the proxy precede the `@`.
    let host = proxy.uri().authority()?.as_str().rsplit('@').next().unwrap_or_default();

    Some(format!("{scheme}://{host}"))
}
