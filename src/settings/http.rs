//! The settings of `tas-mcp http`.

use std::{
    net::{IpAddr, SocketAddr},
    num::NonZeroU32,
    path::PathBuf,
    sync::LazyLock,
    time::Duration,
};

use axum::http::uri::Authority;
use clap::{Args, ValueHint};
use ipnet::IpNet;
use reqwest::Url;

use super::{
    definition::{List, Otherwise, Setting, is_loopback_host, list, number, settings},
    problem::{SettingProblem, parse_values},
    values::Values,
};
use crate::client::HostUrl;

const PUBLIC_URL: &str = "TAS_HTTP_PUBLIC_URL";
const OAUTH_ISSUER: &str = "TAS_OAUTH_ISSUER";
const OAUTH_AUDIENCE: &str = "TAS_OAUTH_AUDIENCE";
const OAUTH_SCOPES: &str = "TAS_OAUTH_SCOPES";
const GRANTS_FILE: &str = "TAS_GRANTS_FILE";

/// Configuration of the HTTP server.
#[derive(Args, Clone, Debug)]
pub struct HttpSettings {
    /// Address and port to listen on; port 0 selects a free port
    #[arg(long, env = "TAS_HTTP_LISTEN", value_name = "ADDR", value_parser = address, default_value = "127.0.0.1:8900")]
    pub listen: SocketAddr,

    /// Address and port of /healthz, /readyz and /metrics; `off` for none
    #[arg(long, env = "TAS_HTTP_ADMIN", value_name = "ADDR", value_parser = admin, default_value = "127.0.0.1:8901")]
    pub admin: AdminAddress,

    /// Origin under which clients reach the server, such as `https://tas.example.com`. Requests with its host are served
    #[arg(long, env = PUBLIC_URL, value_name = "URL", value_parser = public_url)]
    pub public_url: Option<Url>,

    /// Comma-separated further hosts that requests may name, each with or without a port
    #[arg(long, env = "TAS_HTTP_ALLOWED_HOSTS", value_name = "HOSTS", value_parser = |text: &str| list(text, |host| Ok(host.to_ascii_lowercase())), default_value = "")]
    #[arg(add = Otherwise("this machine and the host of the public URL"))]
    pub allowed_hosts: List<String>,

    /// Comma-separated further origins of web pages that may call the server. If the server has a key of its own, pages of
    /// this machine must be named too
    #[arg(long, env = "TAS_HTTP_ALLOWED_ORIGINS", value_name = "ORIGINS", value_parser = |text: &str| list(text, origin), default_value = "")]
    #[arg(add = Otherwise("this machine and the public URL"))]
    pub allowed_origins: List<Url>,

    /// Comma-separated networks, such as `10.0.0.0/8`, of proxies whose `X-Forwarded-For` states the address of the client
    #[arg(long, env = "TAS_HTTP_TRUSTED_PROXIES", value_name = "NETWORKS", value_parser = |text: &str| list(text, network), default_value = "")]
    pub trusted_proxies: List<IpNet>,

    /// Requests of one credential that are served at the same time
    #[arg(long, env = "TAS_HTTP_CONCURRENCY", value_name = "NUMBER", value_parser = count, default_value = "64")]
    pub concurrency: NonZeroU32,

    /// Requests per second of one credential. Three times as many may arrive at once
    #[arg(long, env = "TAS_HTTP_RATE", value_name = "NUMBER", value_parser = count, default_value = "20")]
    pub rate: NonZeroU32,

    /// Requests of all clients that are served at the same time
    #[arg(long, env = "TAS_HTTP_MAX_CALLS", value_name = "NUMBER", value_parser = count, default_value = "512")]
    pub max_calls: NonZeroU32,

    /// How long calls under way may continue after SIGTERM, 0 to 600 seconds. In the first half of this time, at most 5 s,
    /// further requests are accepted
    #[arg(long = "drain-s", env = "TAS_HTTP_DRAIN_S", value_name = "SECONDS", value_parser = |text: &str| number(text, 0..=600).map(Duration::from_secs), default_value = "25")]
    pub drain: Duration,

    /// Issuer that signs in persons. With an issuer every bearer token is a user token, and requests without a credential are
    /// answered with 401
    #[arg(long, env = OAUTH_ISSUER, value_name = "URL")]
    #[arg(value_parser = |text: &str| HostUrl::parse(text).map(|url| (text.to_owned(), url)))]
    pub oauth_issuer: Option<(String, HostUrl)>,

    /// Audience that user tokens must name
    #[arg(long, env = OAUTH_AUDIENCE, value_name = "TEXT")]
    #[arg(add = Otherwise("the address of the endpoint, or a parent of it"))]
    pub oauth_audience: Option<String>,

    /// Comma-separated scopes that every user token must have
    #[arg(long, env = OAUTH_SCOPES, value_name = "SCOPES", value_parser = |text: &str| list(&text.replace(' ', ","), scope), default_value = "")]
    pub oauth_scopes: List<String>,

    /// TOML file that states which signed-in persons may use which API key. It is read at the start
    #[arg(long, env = GRANTS_FILE, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub grants_file: Option<PathBuf>,
}

/// Address of the admin listener; `None` if there is none.
pub(super) type AdminAddress = Option<SocketAddr>;

/// The settings of `tas-mcp http`, in the order of the documentation.
pub static HTTP_SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(settings::<HttpSettings>);

impl HttpSettings {
    /// Returns the values of the settings, and the problems of the unusable ones.
    pub(super) fn parse(values: &Values) -> (Self, Vec<SettingProblem>) {
        let (http, mut problems): (Self, _) = parse_values(&HTTP_SETTINGS, values);
        let mut add = |setting, reason: &str| problems.push(SettingProblem::new(values, setting, reason));
        if !values.contains(OAUTH_ISSUER) {
            let others = [OAUTH_AUDIENCE, OAUTH_SCOPES, GRANTS_FILE].into_iter();
            let reason = "has no effect, because `TAS_OAUTH_ISSUER` is not set";
            others.filter(|setting| values.contains(setting)).for_each(|setting| add(setting, reason));
        } else if http.is_reachable() && !values.contains(PUBLIC_URL) {
            add(PUBLIC_URL, "must be set, because persons sign in to it, and user tokens are issued for it");
        }

        problems.sort_by_key(|problem| HTTP_SETTINGS.iter().position(|one| one.name() == problem.setting));
        (http, problems)
    }

    /// Returns whether a key of the settings would serve everybody. With an issuer it is not used.
    pub(super) fn exposes_key(&self) -> bool {
        self.is_reachable() && self.oauth_issuer.is_none()
    }

    /// Returns whether other machines can reach the server, directly or through a proxy.
    fn is_reachable(&self) -> bool {
        !self.listen.ip().is_loopback()
            || self.public_url.is_some()
            || !self.trusted_proxies.is_empty()
            || !self.allowed_hosts.iter().all(|host| is_this_machine(host))
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "must be an IP address and a port, such as 127.0.0.1:8900".to_owned())
}

fn admin(text: &str) -> Result<Option<SocketAddr>, String> {
    match text {
        "off" => Ok(None),
        _ => address(text).map(Some).map_err(|reason| format!("{reason}, or `off`")),
    }
}

/// Parses the origin under which clients reach the server. Credentials are sent to it.
fn public_url(text: &str) -> Result<Url, String> {
    let address = HostUrl::parse(text)?;
    let origin = Url::parse(address.as_str()).ok().filter(|url| url.path() == "/");
    origin.ok_or_else(|| "must be an origin without a path, such as https://tas.example.com".to_owned())
}

fn origin(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| url.path() == "/" && url.has_host());
    url.ok_or_else(|| format!("`{text}` is not an origin such as https://ide.example.com"))
}

fn network(text: &str) -> Result<IpNet, String> {
    let network = text.parse().ok().or_else(|| text.parse::<IpAddr>().map(IpNet::from).ok());
    network.ok_or_else(|| format!("`{text}` is not an address or a network such as 10.0.0.0/8"))
}

/// Returns whether a host, with or without a port, is this machine.
fn is_this_machine(host: &str) -> bool {
    host.parse().is_ok_and(|authority: Authority| is_loopback_host(authority.host()))
}

fn count(text: &str) -> Result<NonZeroU32, String> {
    number(text, NonZeroU32::MIN..=NonZeroU32::MAX)
}

/// Parses a scope (RFC 6749, 3.3).
fn scope(text: &str) -> Result<String, String> {
    let is_scope = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte));
    if is_scope { Ok(text.to_owned()) } else { Err(format!("`{text}` is not a scope")) }
}
