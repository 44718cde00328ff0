//! Where a request comes from: its host, its origin and the address of its client.
//!
//! A web page can make a browser send requests to this machine under a host name of the page (DNS rebinding). Only known
//! hosts and origins are served.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header, uri::Authority};
use ipnet::IpNet;
use tower_http::cors::{AllowOrigin, CorsLayer};
use url::Url;

use super::refusal::Refusal;
use crate::settings::{HttpSettings, is_loopback_host};

/// Headers that web pages may send.
const REQUEST_HEADERS: [HeaderName; 15] = [
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    header::ACCEPT,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-tas-project"),
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
    HeaderName::from_static("x-mcp-toolsets"),
    HeaderName::from_static("x-mcp-tools"),
    HeaderName::from_static("x-mcp-exclude-tools"),
    HeaderName::from_static("x-mcp-readonly"),
];

/// Headers of responses that web pages may read.
const RESPONSE_HEADERS: [HeaderName; 3] =
    [header::WWW_AUTHENTICATE, HeaderName::from_static("mcp-session-id"), header::RETRY_AFTER];

/// How long browsers remember the answer to a preflight request.
const PREFLIGHT_AGE: Duration = Duration::from_secs(600);

/// Header in which a proxy states the addresses that a request came through, the last one last.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The hosts and origins that are served.
#[derive(Debug)]
pub(super) struct KnownOrigins {
    /// Lower-case hosts, each with or without a port.
    hosts: Vec<String>,
    /// Origins as browsers write them.
    origins: Vec<String>,
    /// Whether web pages of every server on this machine are served.
    serves_loopback_origins: bool,
}

impl KnownOrigins {
    /// Returns the hosts and origins of the settings. If the server calls the service with a key of its own, a page needs none, so
    /// that only the listed origins are served.
    pub(super) fn from_settings(settings: &HttpSettings, has_own_key: bool) -> Self {
        let public = settings.public_url.as_ref();
        let public_host = public.and_then(Url::host_str).map(str::to_ascii_lowercase);
        let public_origin = public.map(|url| url.origin().ascii_serialization());

        Self {
            hosts: settings.allowed_hosts.iter().cloned().chain(public_host).collect(),
            origins: settings.allowed_origins.iter().cloned().chain(public_origin).collect(),
            serves_loopback_origins: !has_own_key,
        }
    }

    /// Checks the host and the origin of a request.
    ///
    /// # Errors
    /// Status 400 without a single valid host, and 403 for an unknown host or origin.
    fn check<B>(&self, request: &http::Request<B>) -> Result<(), Refusal> {
        let host = requested_host(request.uri(), request.headers())?;
        if !self.serves_host(&host) {
            let message = format!("the host `{host}` is not served: TAS_HTTP_ALLOWED_HOSTS does not name it");
            return Err(Refusal::new(StatusCode::FORBIDDEN, message));
        }

        let mut origins = request.headers().get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(()) };
        let is_known = origin.to_str().is_ok_and(|origin| self.serves_origin(origin));
        if !is_known || origins.next().is_some() {
            let message =
                "the origin of the web page is not served: TAS_HTTP_ALLOWED_ORIGINS does not name it";
            return Err(Refusal::new(StatusCode::FORBIDDEN, message));
        }

        Ok(())
    }

    fn serves_host(&self, host: &Authority) -> bool {
        let names = |known: &String| {
            known.eq_ignore_ascii_case(host.as_str()) || known.eq_ignore_ascii_case(host.host())
        };
        is_loopback_host(host.host()) || self.hosts.iter().any(names)
    }

    fn serves_origin(&self, origin: &str) -> bool {
        let url = Url::parse(origin).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(url) = url else { return false };
        let is_loopback = url.host_str().is_some_and(is_loopback_host);
        (is_loopback && self.serves_loopback_origins)
            || self.origins.contains(&url.origin().ascii_serialization())
    }
}

/// Returns the host that a request names, in its target or else in its header (RFC 9112, 3.2.2).
pub(super) fn requested_host(uri: &Uri, headers: &HeaderMap) -> Result<Authority, Refusal> {
    let refusal = |message| Refusal::new(StatusCode::BAD_REQUEST, message);

    let mut values = headers.get_all(header::HOST).iter();
    let header = values.next();
    if values.next().is_some() {
        return Err(refusal("the request has several Host headers"));
    }
    let authority = if let Some(authority) = uri.authority() {
        authority.clone()
    } else {
        let header = header.ok_or_else(|| refusal("the request has no Host header"))?;
        Authority::try_from(header.as_bytes()).map_err(|_| refusal("the Host header is no host"))?
    };

    // The library accepts a user name, and any text after the host.
    let host = authority.host();
    let is_host = |port: u16| authority.as_str() == format!("{host}:{port}");
    if authority.as_str() != host && !authority.port_u16().is_some_and(is_host) {
        return Err(refusal("the Host header is no host"));
    }
    Ok(authority)
}

/// Refuses requests with an unknown host or origin.
///
/// # Errors
/// Status 400 without a single valid host, and 403 for an unknown host or origin.
pub(super) async fn check_origin(
    State(origins): State<Arc<KnownOrigins>>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    origins.check(&request)?;

    let is_preflight = request.method() == Method::OPTIONS;
    let mut response = next.run(request).await;
    if is_preflight {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    Ok(response)
}

/// Answers preflight requests of browsers, and lets web pages read responses. [`check_origin`] has refused unknown origins.
pub(super) fn cross_origin_layer() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AllowOrigin::mirror_request())
        .allow_methods([Method::GET, Method::POST, Method::OPTIONS])
        .allow_headers(REQUEST_HEADERS)
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
    let stated: Vec<_> = lists.flat_map(|list| list.split(',')).map(|item| item.trim().parse()).collect();
    let is_client = |item: &&Result<IpAddr, _>| !item.as_ref().is_ok_and(is_proxy);
    // Behind an item that is no address, nothing can be trusted.
    stated.iter().rev().find(is_client).and_then(|item| item.clone().ok()).unwrap_or(peer)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn known() -> KnownOrigins {
        KnownOrigins {
            hosts: vec!["tas.example.com".to_owned(), "tas.internal:8900".to_owned()],
            origins: vec!["https://ide.example.com".to_owned()],
            serves_loopback_origins: true,
        }
    }

    /// Checks a request with these headers. Returns the status of a refusal.
    fn check(target: &str, headers: &[(&'static str, &'static str)]) -> Result<(), u16> {
        let mut request = http::Request::post(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(()).expect("a request");
        known().check(&request).map(drop).map_err(|refusal| refusal.status.as_u16())
    }

    #[test]
    fn only_known_hosts_are_served() {
        let cases: [(&str, &[_], Result<(), u16>); 15] = [
            ("/mcp", &[("host", "localhost:8900")], Ok(())),
            ("/mcp", &[("host", "127.0.0.1")], Ok(())),
            ("/mcp", &[("host", "[::1]:8900")], Ok(())),
            ("/mcp", &[("host", "TAS.example.com")], Ok(())),
            ("/mcp", &[("host", "tas.example.com:443")], Ok(())),
            ("/mcp", &[("host", "tas.internal:8900")], Ok(())),
            ("/mcp", &[("host", "tas.internal:9000")], Err(403)),
            ("/mcp", &[("host", "localhost.attacker.example")], Err(403)),
            ("http://attacker.example/mcp", &[("host", "localhost")], Err(403)),
            ("/mcp", &[], Err(400)),
            ("/mcp", &[("host", "attacker.example@localhost")], Err(400)),
            ("/mcp", &[("host", "localhost:attacker")], Err(400)),
            ("/mcp", &[("host", "[::1]attacker.example")], Err(400)),
            ("http://user@localhost/mcp", &[], Err(400)),
            ("/mcp", &[("host", "localhost"), ("host", "localhost")], Err(400)),
        ];

        for (target, headers, expected) in cases {
            assert_eq!(check(target, headers), expected, "{target} {headers:?}");
        }
    }

    #[test]
    fn a_server_with_a_key_of_its_own_obeys_listed_origins_only() {
        let strict = KnownOrigins { serves_loopback_origins: false, ..known() };
        for (origin, is_served) in [("http://localhost:6274", false), ("https://ide.example.com", true)] {
            assert_eq!(strict.serves_origin(origin), is_served, "{origin}");
        }
    }

    #[test]
    fn only_known_origins_are_served() {
        let cases = [
            ("http://localhost:6274", Ok(())),
            ("https://ide.example.com", Ok(())),
            ("https://IDE.example.com:443", Ok(())),
            ("http://ide.example.com", Err(403)),
            ("https://ide.example.com.attacker.example", Err(403)),
            ("null", Err(403)),
            ("file://localhost", Err(403)),
        ];

        for (origin, expected) in cases {
            assert_eq!(check("/mcp", &[("host", "localhost"), ("origin", origin)]), expected, "{origin}");
        }
    }

    #[test]
    fn only_trusted_proxies_state_the_address_of_the_client() {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().expect("a network")];
        let (client, proxy, stranger) = ("203.0.113.7", "10.0.0.1", "198.51.100.9");
        let cases: [(&str, &[&'static str], &str); 9] = [
            (stranger, &["203.0.113.7"], stranger),
            (proxy, &[], proxy),
            (proxy, &["203.0.113.7"], client),
            (proxy, &["198.51.100.9, 203.0.113.7"], client),
            (proxy, &["198.51.100.9, 203.0.113.7, 10.0.0.2"], client),
            (proxy, &["198.51.100.9", "203.0.113.7"], client),
            (proxy, &["203.0.113.7, unknown"], proxy),
            (proxy, &["unknown, 203.0.113.7"], client),
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
