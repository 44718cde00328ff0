//! The configuration of the HTTP server.

use std::{net::SocketAddr, num::NonZeroU32, path::PathBuf, time::Duration};

use ipnet::IpNet;
use url::Url;

use super::{
    http_definitions::{
        ADMIN, ALLOWED_HOSTS, ALLOWED_ORIGINS, CONCURRENCY, DRAIN_S, LISTEN, MAX_BODY, MAX_CALLS, PUBLIC_URL,
        RATE, SHARED_URL, TRUSTED_PROXIES,
    },
    oauth::{OauthSettings, oauth_settings},
    parser::SettingParser,
    setting::Setting,
    traces::{TraceSettings, trace_settings},
    values::Values,
};
use crate::store::StoreUrl;

/// Limits of the setting `TAS_HTTP_MAX_BODY`, in bytes.
const BODY_LIMITS: std::ops::RangeInclusive<usize> = 1024..=64 * 1024 * 1024;

/// Largest value of the setting `TAS_HTTP_DRAIN_S`.
const MAX_DRAIN_S: u64 = 600;

/// Configuration of the HTTP server.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Address of the endpoint.
    pub listen: SocketAddr,
    /// Address of the admin listener, if there is one.
    pub admin: Option<SocketAddr>,
    /// Origin under which clients reach the server.
    pub public_url: Option<Url>,
    /// Further hosts that requests may name.
    pub allowed_hosts: Vec<String>,
    /// Further origins of web pages that may call the server.
    pub allowed_origins: Vec<String>,
    /// Networks of proxies whose `X-Forwarded-For` counts.
    pub trusted_proxies: Vec<IpNet>,
    /// Largest body of a request, in bytes.
    pub max_body: usize,
    /// Requests of one credential that are served at the same time.
    pub concurrency: NonZeroU32,
    /// Requests per second of one credential.
    pub rate: NonZeroU32,
    /// Requests of all clients that are served at the same time.
    pub max_calls: NonZeroU32,
    /// How long calls under way may continue after the signal to stop.
    pub drain: Duration,
    /// Who signs in persons; `None` if every credential is an API key.
    pub oauth: Option<OauthSettings>,
    /// The store that several processes share, if there is one.
    pub shared_store: Option<StoreUrl>,
    /// Where spans are sent, if there is a collector and the program was built with the feature `otlp`.
    pub traces: Option<TraceSettings>,
}

/// Parses the settings of the HTTP server. Problems are recorded in `parser`.
pub(super) fn http_settings(
    parser: &mut SettingParser<'_>,
    ca_file: Option<&PathBuf>,
) -> Option<HttpSettings> {
    let (listen, admin) =
        (or_default(parser, &LISTEN, address), or_default(parser, &ADMIN, optional_address));
    let [concurrency, rate, max_calls] =
        [&CONCURRENCY, &RATE, &MAX_CALLS].map(|setting| or_default(parser, setting, count));
    let (max_body, drain) = (or_default(parser, &MAX_BODY, body_limit), or_default(parser, &DRAIN_S, drain));
    let public_url = parser.optional(&PUBLIC_URL, public_url);
    let allowed_hosts = parser.optional(&ALLOWED_HOSTS, list).unwrap_or_default();
    let allowed_origins = parser.optional(&ALLOWED_ORIGINS, origins).unwrap_or_default();
    let trusted_proxies = parser.optional(&TRUSTED_PROXIES, networks).unwrap_or_default();
    let traces = trace_settings(parser, ca_file.cloned());
    let oauth = oauth_settings(parser, ca_file.cloned());
    let is_reachable = listen.is_some_and(|address| !address.ip().is_loopback());
    if oauth.is_some() && is_reachable && public_url.is_none() {
        parser.add_problem(&PUBLIC_URL, "must be set, because user tokens are issued for it");
    }
    let shared_store =
        parser.optional(&SHARED_URL, |text| StoreUrl::parse(text, ca_file.map(PathBuf::as_path)));

    // Every value is parsed before the first missing one ends the function, so that all problems are found.
    Some(HttpSettings {
        listen: listen?,
        admin: admin?,
        public_url,
        allowed_hosts,
        allowed_origins,
        trusted_proxies,
        max_body: max_body?,
        concurrency: concurrency?,
        rate: rate?,
        max_calls: max_calls?,
        drain: drain?,
        oauth,
        shared_store,
        traces,
    })
}

/// Returns the value of `setting`, or its default.
fn or_default<T>(
    parser: &mut SettingParser<'_>,
    setting: &Setting,
    parse: fn(&str) -> Result<T, String>,
) -> Option<T> {
    match parser.text(setting) {
        Some(_) => parser.optional(setting, parse),
        None => parse(setting.default).ok(),
    }
}

/// Returns whether a setting of the HTTP server is unusable together with another one: a key of the settings would serve
/// every client that reaches the server. With an issuer the key is not used.
pub(super) fn exposes_key(values: &Values, http: &HttpSettings) -> bool {
    let is_reachable = !http.listen.ip().is_loopback() || http.public_url.is_some();
    is_reachable && http.oauth.is_none() && values.key_setting().is_some()
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "must be an IP address and a port, such as 127.0.0.1:8900".to_owned())
}

fn optional_address(text: &str) -> Result<Option<SocketAddr>, String> {
    if text == "off" {
        Ok(None)
    } else {
        address(text).map(Some).map_err(|reason| format!("{reason}, or `off`"))
    }
}

/// Parses the origin under which clients reach the server.
fn public_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("is not a URL: {error}"))?;
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() {
        return Err("must be an origin without a path, such as https://tas.example.com".to_owned());
    }

    let is_local = url.host_str().is_some_and(is_loopback_host);
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_local => Ok(url),
        _ => Err("must begin with https://, because credentials are sent to it".to_owned()),
    }
}

/// Returns whether a host, as a URL contains it, is this machine.
pub fn is_loopback_host(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[expect(clippy::unnecessary_wraps, reason = "the parsers of all settings have one form")]
fn list(text: &str) -> Result<Vec<String>, String> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    Ok(items.map(str::to_ascii_lowercase).collect())
}

/// Parses a list of origins. An origin is compared as browsers write it: without a path and without the default port.
fn origins(text: &str) -> Result<Vec<String>, String> {
    let origin = |item: String| {
        let url = Url::parse(&item).ok().filter(|url| url.path() == "/" && url.has_host());
        let url = url.ok_or_else(|| format!("`{item}` is not an origin such as https://ide.example.com"))?;
        Ok(url.origin().ascii_serialization())
    };
    list(text)?.into_iter().map(origin).collect()
}

fn networks(text: &str) -> Result<Vec<IpNet>, String> {
    let network = |item: String| {
        let single = || item.parse::<std::net::IpAddr>().map(IpNet::from).ok();
        let network = item.parse().ok().or_else(single);
        network.ok_or_else(|| format!("`{item}` is not an address or a network such as 10.0.0.0/8"))
    };
    list(text)?.into_iter().map(network).collect()
}

fn body_limit(text: &str) -> Result<usize, String> {
    let bytes = text.parse().ok().filter(|bytes| BODY_LIMITS.contains(bytes));
    bytes.ok_or_else(|| {
        format!("must be a whole number from {} to {}", BODY_LIMITS.start(), BODY_LIMITS.end())
    })
}

fn count(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| "must be a whole number from 1 to 4294967295".to_owned())
}

fn drain(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds <= MAX_DRAIN_S).map(Duration::from_secs);
    seconds.ok_or_else(|| format!("must be a whole number from 0 to {MAX_DRAIN_S}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_a_secure_origin() {
        let cases = [
            ("https://tas.example.com", true),
            ("https://tas.example.com:8443/", true),
            ("http://127.0.0.1:8900", true),
            ("http://[::1]:8900", true),
            ("http://tas.example.com", false),
            ("https://tas.example.com/mcp", false),
            ("https://tas.example.com/?a=1", false),
            ("https://key@tas.example.com", false),
            ("tas.example.com", false),
        ];

        for (text, is_usable) in cases {
            assert_eq!(public_url(text).is_ok(), is_usable, "{text}");
        }
    }

    #[test]
    fn every_default_is_a_valid_value() {
        let values = Values::default();
        let mut parser = SettingParser::new(&values);

        assert!(http_settings(&mut parser, None).is_some());
        assert!(parser.is_ok());
    }

    #[test]
    fn lists_are_checked_item_by_item() {
        assert_eq!(list(" A.example:1 ,,b").expect("hosts"), ["a.example:1", "b"]);
        assert_eq!(origins("https://A.example:443").expect("origins"), ["https://a.example"]);
        assert!(origins("a.example").is_err() && origins("https://a.example/path").is_err());
        assert_eq!(networks("10.0.0.0/8, ::1").expect("networks").len(), 2);
        assert!(networks("10.0.0.0/33").is_err());
    }
}
