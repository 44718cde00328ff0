//! Connections: directly or through a proxy, with TLS for `https` addresses, and kept for later requests.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use reqwest::{
    Certificate, Client, ClientBuilder, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect,
};

use super::{
    address::{AddressPolicy, is_local_address, is_loopback},
    transport_error::{TransportError, error_chain},
};

/// Time limit of opening a connection, including TLS and the way through a proxy.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Share of the request's time limit that opening a connection may take. A connection that does not open fails before
/// the request does, so that it is certain that nothing was sent.
const CONNECT_SHARE: f64 = 0.8;

/// How long an idle connection is kept. The span is shorter than that of most servers, so that a request seldom meets a
/// connection that the server is closing.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// Time without traffic after which the operating system checks whether a connection is still alive, and the interval
/// of these checks. Devices on the way forget connections without traffic, although a response is still expected.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// Number of failed checks after which a connection counts as lost.
const KEEPALIVE_CHECKS: u32 = 3;

/// Variables with the proxy for `https` addresses.
const PROXY_VARIABLES: [&str; 4] = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

/// The HTTP clients for one service and the hosts that it names, one for each kind of connection. Each is created when
/// it is first used, because reading the certificates of the system takes time.
#[derive(Debug)]
pub(super) struct Connections {
    ca_file: Option<PathBuf>,
    /// Time limit of one request, which the caller sets.
    timeout: Duration,
    pub(super) policy: AddressPolicy,
    clients: Mutex<BTreeMap<Route, Client>>,
}

/// How a host is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Route {
    /// Plain HTTP, which is used on the loopback only.
    Plain,
    /// TLS on the loopback, which a proxy cannot reach.
    Local,
    /// TLS to any address, through the proxy of the system if there is one.
    Direct,
    /// The same, but not to an address of this machine or its link: a public name may have such an address.
    Public,
}

impl Connections {
    /// Creates clients that trust the certificates of `ca_file` in addition to the system's. `policy` decides which
    /// addresses that the service names are followed.
    pub(super) fn new(ca_file: Option<PathBuf>, timeout: Duration, policy: AddressPolicy) -> Self {
        Self { ca_file, timeout, policy, clients: Mutex::default() }
    }

    /// Returns the client for an address of the user's settings.
    pub(super) fn client(&self, url: &Url) -> Result<Client, TransportError> {
        self.client_on(route(url))
    }

    /// Returns the client for an address that the service names and that the policy allows.
    pub(super) fn client_for_named(&self, url: &Url) -> Result<Client, TransportError> {
        match route(url) {
            Route::Direct if !self.policy.allows_local() => self.client_on(Route::Public),
            route => self.client_on(route),
        }
    }

    fn client_on(&self, route: Route) -> Result<Client, TransportError> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&route) {
            return Ok(client.clone());
        }

        let client = self.build(route)?;
        clients.insert(route, client.clone());

        Ok(client)
    }

    fn build(&self, route: Route) -> Result<Client, TransportError> {
        let builder = match route {
            // Plain HTTP verifies no certificate: those of the system are not read.
            Route::Plain => self.builder().tls_certs_only([]).no_proxy(),
            Route::Local => self.trust_ca_file(self.builder())?.no_proxy(),
            Route::Direct => self.trust_ca_file(self.builder())?,
            Route::Public => self.trust_ca_file(self.builder())?.dns_resolver(PublicResolver),
        };

        Ok(builder.build()?)
    }

    fn builder(&self) -> ClientBuilder {
        // The installation fails only if a provider is installed already, which serves as well.
        drop(rustls::crypto::ring::default_provider().install_default());

        // Redirects are followed by `download` only, because a request that is sent elsewhere must not contain the API key.
        Client::builder()
            .user_agent(concat!("tas-mcp/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT.min(self.timeout.mul_f64(CONNECT_SHARE)))
            .pool_idle_timeout(IDLE_TIMEOUT)
            .tcp_nodelay(true)
            .tcp_keepalive(KEEPALIVE)
            .tcp_keepalive_interval(KEEPALIVE)
            .tcp_keepalive_retries(KEEPALIVE_CHECKS)
    }

    fn trust_ca_file(&self, builder: ClientBuilder) -> Result<ClientBuilder, TransportError> {
        let Some(path) = &self.ca_file else { return Ok(builder) };
        Ok(builder.tls_certs_merge(read_certificates(path).map_err(TransportError::Setup)?))
    }
}

/// Reads the certificates of a PEM file.
pub fn read_certificates(path: &Path) -> Result<Vec<Certificate>, String> {
    let pem = std::fs::read(path).map_err(|error| format!("`{}` cannot be read: {error}", path.display()))?;
    // Editors of Windows write a byte order mark.
    let text = pem.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(&pem);
    let certificates = Certificate::from_pem_bundle(text).map_err(|error| {
        format!("`{}` has no usable certificate: {}", path.display(), error_chain(&error))
    })?;

    if certificates.is_empty() {
        return Err(format!("`{}` has no certificate in PEM form", path.display()));
    }

    Ok(certificates)
}

fn route(url: &Url) -> Route {
    match (url.scheme(), is_loopback(url)) {
        ("http", _) => Route::Plain,
        (_, true) => Route::Local,
        _ => Route::Direct,
    }
}

/// Finds the addresses of names, without those of this machine and its link. The name of a proxy may have any address.
struct PublicResolver;

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((name.as_str(), 0)).await?;
            #[expect(clippy::disallowed_methods, reason = "the HTTP library reads these variables, too")]
            let is_proxy = is_proxy(name.as_str(), |variable| std::env::var(variable).ok());
            let public: Vec<_> =
                addresses.filter(|address| is_proxy || !is_local_address(address.ip())).collect();

            if public.is_empty() {
                let reason = format!("`{}` has only addresses of this machine or its link", name.as_str());
                return Err(io::Error::other(reason).into());
            }

            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

fn is_proxy(name: &str, variable: impl Fn(&str) -> Option<String>) -> bool {
    let proxies = PROXY_VARIABLES.into_iter().filter_map(variable);
    proxies.filter_map(|proxy| Url::parse(&proxy).ok()).any(|proxy| proxy.host_str() == Some(name))
}

#[cfg(test)]
mod tests {
    use std::{io::Read as _, net::TcpListener};

    use super::*;
    use crate::client::HostUrl;

    /// First byte of a TLS handshake.
    const HANDSHAKE: u8 = 22;

    fn connections() -> Connections {
        Connections::new(None, Duration::from_secs(1), AddressPolicy::default())
    }

    fn url(address: &str) -> Url {
        Url::parse(address).expect("an address")
    }

    fn listen() -> (TcpListener, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a listener that does not wait");
        let port = listener.local_addr().expect("an address").port();
        (listener, port)
    }

    #[test]
    fn a_byte_order_mark_hides_no_certificate() {
        let certificates = [
            include_str!("../../tests/it/support/certificates/loopback-authority.pem"),
            include_str!("../../tests/it/support/certificates/service-authority.pem"),
        ];
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), format!("\u{FEFF}{}", certificates.concat())).expect("written");

        assert_eq!(read_certificates(file.path()).expect("certificates").len(), 2);
    }

    #[tokio::test]
    async fn only_a_public_client_does_not_connect_to_a_name_of_this_machine() {
        for (route, expected) in [(Route::Public, None), (Route::Local, Some(HANDSHAKE))] {
            let (listener, port) = listen();
            let client = connections().client_on(route).expect("a client");
            // The listener never answers the handshake, so that every request fails.
            let sent = client.get(format!("https://localhost:{port}/")).send().await;
            let error = TransportError::from(sent.expect_err("no answer"));

            let is_refused = error.to_string().contains("has only addresses of this machine");
            assert_eq!((is_refused, error.may_have_been_sent()), (expected.is_none(), false), "{error}");
            let mut first = [0];
            let read = listener.accept().ok().and_then(|(mut stream, _)| stream.read_exact(&mut first).ok());
            assert_eq!(read.map(|()| first[0]), expected, "{route:?}");
        }
    }

    #[test]
    fn only_the_proxy_may_have_a_local_name() {
        let variable = |name: &str| (name == "ALL_PROXY").then(|| "http://user@proxy.local:3128".to_owned());
        assert!(is_proxy("proxy.local", variable));
        assert!(!is_proxy("storage.local", variable) && !is_proxy("proxy.local", |_| None));
    }

    #[test]
    fn names_of_a_remote_service_are_requested_with_a_public_client() {
        let name = url("https://storage.example/");
        let service = HostUrl::parse("http://127.0.0.1:1").expect("an address");

        for (policy, expected) in
            [(AddressPolicy::default(), Route::Public), (AddressPolicy::for_service(&service), Route::Direct)]
        {
            let connections = Connections { policy, ..connections() };
            connections.client_for_named(&name).expect("a client");
            let routes: Vec<_> = connections.clients.lock().expect("no panic").keys().copied().collect();
            assert_eq!(routes, [expected]);
        }
    }
}
