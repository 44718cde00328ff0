//! The host and the origin of a request, and requests of browsers from other origins (CORS).
//!
//! A web page can make a browser send requests to this machine under a host name of the page (DNS rebinding). Only known
//! hosts and origins are served.

use axum::body::Body;
use http::{
    HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri,
    header::{self, HeaderName},
    uri::Authority,
};
use url::Url;

use super::refusal::Refusal;
use crate::settings::{HttpSettings, is_loopback_host};

/// Methods that web pages may use: those of the endpoint, and that of its metadata.
const PAGE_METHODS: HeaderValue = HeaderValue::from_static("GET, POST, OPTIONS");

/// Methods that the endpoint has.
pub(super) const METHODS: HeaderValue = HeaderValue::from_static("POST, OPTIONS");

/// Headers that web pages may send.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Accept, X-Api-Key, X-TAS-Project, traceparent, tracestate, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, X-MCP-Toolsets, X-MCP-Tools, X-MCP-Exclude-Tools, X-MCP-Readonly",
);

/// Headers of responses that web pages may read.
const RESPONSE_HEADERS: HeaderValue =
    HeaderValue::from_static("WWW-Authenticate, Mcp-Session-Id, Retry-After");

/// How long browsers remember the answer to a preflight request, in seconds.
const PREFLIGHT_SECONDS: HeaderValue = HeaderValue::from_static("600");

/// The hosts and origins that are served.
#[derive(Debug)]
pub(super) struct KnownOrigins {
    /// Lower-case hosts, each with or without a port.
    hosts: Vec<String>,
    /// Origins as browsers write them.
    origins: Vec<String>,
}

impl KnownOrigins {
    pub(super) fn from_settings(settings: &HttpSettings) -> Self {
        let public = settings.public_url.as_ref();
        let public_host = public.and_then(Url::host_str).map(str::to_ascii_lowercase);
        let public_origin = public.map(|url| url.origin().ascii_serialization());

        Self {
            hosts: settings.allowed_hosts.iter().cloned().chain(public_host).collect(),
            origins: settings.allowed_origins.iter().cloned().chain(public_origin).collect(),
        }
    }

    /// Checks the host and the origin of a request. Returns the origin, if the request is from a web page.
    ///
    /// # Errors
    /// Status 400 without a single valid host, and 403 for an unknown host or origin.
    pub(super) fn check<B>(&self, request: &Request<B>) -> Result<Option<HeaderValue>, Refusal> {
        let host = requested_host(request.uri(), request.headers())?;
        if !self.serves_host(&host) {
            let message = format!("the host `{host}` is not served: TAS_HTTP_ALLOWED_HOSTS does not name it");
            return Err(Refusal::new(StatusCode::FORBIDDEN, message));
        }

        let mut origins = request.headers().get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(None) };
        let is_known = origin.to_str().is_ok_and(|origin| self.serves_origin(origin));
        if !is_known || origins.next().is_some() {
            let message =
                "the origin of the web page is not served: TAS_HTTP_ALLOWED_ORIGINS does not name it";
            return Err(Refusal::new(StatusCode::FORBIDDEN, message));
        }

        Ok(Some(origin.clone()))
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
        url.host_str().is_some_and(is_loopback_host)
            || self.origins.contains(&url.origin().ascii_serialization())
    }
}

/// Returns the host that a request names, in its target or else in its header (RFC 9112, 3.2.2).
fn requested_host(uri: &Uri, headers: &HeaderMap) -> Result<Authority, Refusal> {
    let refusal = |message| Refusal::new(StatusCode::BAD_REQUEST, message);

    let mut values = headers.get_all(header::HOST).iter();
    let header = values.next();
    if values.next().is_some() {
        return Err(refusal("the request has several Host headers"));
    }
    if let Some(authority) = uri.authority() {
        return Ok(authority.clone());
    }

    let header = header.ok_or_else(|| refusal("the request has no Host header"))?;
    Authority::try_from(header.as_bytes()).map_err(|_| refusal("the Host header is no host"))
}

/// Returns the answer to a request with the method `OPTIONS`.
pub(super) fn preflight_response() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ALLOW, METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, PAGE_METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS);
    response
}

/// Returns the refusal of another method than `POST` and `OPTIONS`.
pub(super) fn method_not_allowed(method: &Method) -> Refusal {
    let message =
        format!("the method {method} is not supported: this server has no sessions and no streams to open");
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message).header(header::ALLOW, METHODS)
}

/// Adds the headers that every response has. `origin` is the origin of the web page, if the request is from one.
pub(super) fn add_common_headers(response: &mut Response<Body>, origin: Option<HeaderValue>) {
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(HeaderName::from_static("x-content-type-options"), HeaderValue::from_static("nosniff"));

    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> KnownOrigins {
        KnownOrigins {
            hosts: vec!["tas.example.com".to_owned(), "tas.internal:8900".to_owned()],
            origins: vec!["https://ide.example.com".to_owned()],
        }
    }

    /// Checks a request with these headers. Returns the status of a refusal.
    fn check(target: &str, headers: &[(&'static str, &'static str)]) -> Result<(), u16> {
        let mut request = Request::post(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(()).expect("a request");
        known().check(&request).map(drop).map_err(|refusal| refusal.status.as_u16())
    }

    #[test]
    fn only_known_hosts_are_served() {
        let cases: [(&str, &[_], Result<(), u16>); 11] = [
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
            ("/mcp", &[("host", "localhost"), ("host", "localhost")], Err(400)),
        ];

        for (target, headers, expected) in cases {
            assert_eq!(check(target, headers), expected, "{target} {headers:?}");
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
}
