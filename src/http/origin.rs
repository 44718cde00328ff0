//! Where a request comes from: its host, its origin and the address of its client.
//!
//! A web page can make a browser send requests to this machine under a host name of the page (DNS rebinding). The library serves
//! messages of known hosts and origins only.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use axum::http::{HeaderMap, HeaderName, Method, header};
use ipnet::IpNet;
use reqwest::Url;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use crate::settings::HttpSettings;

/// Hosts of this machine, which are always served.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Headers of responses that web pages may read.
const RESPONSE_HEADERS: [HeaderName; 2] = [header::WWW_AUTHENTICATE, header::RETRY_AFTER];

/// How long browsers remember the answer to a preflight request.
const PREFLIGHT_AGE: Duration = Duration::from_secs(600);

/// Header in which a proxy states the addresses that a request came through, the last one last.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Lets the library serve the hosts and origins of the settings only. If the server calls the service with a key of its own, a page
/// needs none, so that pages of this machine are served only if they are listed.
pub(super) fn restrict(
    config: StreamableHttpServerConfig,
    settings: &HttpSettings,
    has_own_key: bool,
) -> StreamableHttpServerConfig {
    let (mut hosts, mut origins) = (settings.allowed_hosts.clone(), Vec::new());
    hosts.extend(LOOPBACK_HOSTS.map(str::to_owned));
    hosts.extend(settings.public_url.iter().filter_map(|url| url.host_str().map(str::to_owned)));
    if !has_own_key {
        for host in ["localhost", "127.0.0.1", "[::1]"] {
            origins.extend([format!("http://{host}:*"), format!("https://{host}:*")]);
        }
    }
    origins.extend(settings.allowed_origins.iter().chain(&settings.public_url).map(with_port));

    config.with_allowed_hosts(hosts).with_allowed_origins(origins).enforce_origin_validation()
}

/// Returns an origin with its port. The library would take one without a port for all ports.
fn with_port(origin: &Url) -> String {
    let port = origin.port_or_known_default().unwrap_or_default();
    format!("{}://{}:{port}", origin.scheme(), origin.host_str().unwrap_or_default())
}

/// Answers preflight requests of browsers, and lets web pages read responses. The library refuses messages of unknown origins.
pub(super) fn cross_origin_layer() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AllowOrigin::mirror_request())
        .allow_methods([Method::GET, Method::POST, Method::OPTIONS])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(RESPONSE_HEADERS)
        .max_age(PREFLIGHT_AGE)
}

/// Returns the address of the client of a request from `peer`. A trusted proxy states the address: the last one that is
/// not a proxy's itself.
pub(super) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[IpNet]) -> IpAddr {
    let is_proxy = |address: &IpAddr| trusted_proxies.iter().any(|known| known.contains(address));
    if !is_proxy(&peer) {
        return peer;
    }

    let lists = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
    let stated: Vec<_> = lists.flat_map(|list| list.split(',')).map(stated_address).collect();
    let is_client = |item: &&Option<IpAddr>| !item.as_ref().is_some_and(is_proxy);
    // Behind an item that is no address, nothing can be trusted.
    stated.iter().rev().find(is_client).copied().flatten().unwrap_or(peer)
}

/// Parses the address that a proxy states. Some proxies add the port, or write IPv6 in brackets or IPv4 as IPv6.
fn stated_address(item: &str) -> Option<IpAddr> {
    let item = item.trim();
    let with_port = item.parse().map(|address: SocketAddr| address.ip());
    let address = with_port.or_else(|_| item.trim_matches(['[', ']']).parse());
    address.map(|address: IpAddr| address.to_canonical()).ok()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_trusted_proxies_state_the_address_of_the_client() {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().expect("a network")];
        let (client, proxy, stranger) = ("203.0.113.7", "10.0.0.1", "198.51.100.9");
        let cases: [(&str, &[&'static str], &str); 10] = [
            (stranger, &["203.0.113.7"], stranger),
            (proxy, &[], proxy),
            (proxy, &["198.51.100.9, 203.0.113.7, 10.0.0.2"], client),
            (proxy, &["198.51.100.9", "203.0.113.7"], client),
            (proxy, &["203.0.113.7, unknown"], proxy),
            (proxy, &["unknown, 203.0.113.7"], client),
            (proxy, &["203.0.113.7:51234, 10.0.0.2:80"], client),
            (proxy, &["[2001:db8::1]:443, [::ffff:10.0.0.2]"], "2001:db8::1"),
            (proxy, &["::ffff:203.0.113.7"], client),
            (proxy, &["10.0.0.2"], proxy),
        ];

        for (peer, values, expected) in cases {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(FORWARDED_FOR, HeaderValue::from_static(value));
            }
            let address = client_address(peer.parse().expect("an address"), &headers, &trusted);
            assert_eq!(address.to_string(), expected, "{peer} {values:?}");
        }
    }
}
