//! HTTP clients with their connection pools, one for each kind of connection. Each is created when it is first used,
//! because reading the system's certificates takes time.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use reqwest::{Certificate, Client, ClientBuilder, Url, redirect};

use super::{
    AddressPolicy,
    host_url::ConnectionKind,
    named_address::PublicResolver,
    transport_error::{TransportError, error_chain},
};

/// Time limit of opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Share of the request's time limit that opening a connection may take. A connection that does not open fails before the
/// request does, so that it is certain that nothing was sent.
const CONNECT_SHARE: f64 = 0.8;

/// How long an idle connection is kept. The span is shorter than that of most servers, so that a request seldom meets a
/// connection that the server is closing.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// The HTTP clients for one host and the hosts that it names.
#[derive(Debug)]
pub(super) struct HttpClients {
    ca_file: Option<PathBuf>,
    timeout: Duration,
    policy: AddressPolicy,
    plain: OnceLock<Client>,
    loopback_tls: OnceLock<Client>,
    remote_tls: OnceLock<Client>,
    public_tls: OnceLock<Client>,
}

impl HttpClients {
    /// Creates clients that trust the certificates of `ca_file` in addition to the system's. `timeout` is the time limit of
    /// one request. `policy` decides which addresses that the service names are followed.
    pub(super) fn new(ca_file: Option<PathBuf>, timeout: Duration, policy: AddressPolicy) -> Self {
        Self {
            ca_file,
            timeout,
            policy,
            plain: OnceLock::new(),
            loopback_tls: OnceLock::new(),
            remote_tls: OnceLock::new(),
            public_tls: OnceLock::new(),
        }
    }

    /// Returns the policy for addresses that the service names.
    pub(super) fn policy(&self) -> AddressPolicy {
        self.policy
    }

    /// Returns the client for an address that the service names and that the policy allows.
    pub(super) fn for_named_address(&self, url: &Url) -> Result<&Client, TransportError> {
        match ConnectionKind::from_url(url) {
            ConnectionKind::RemoteTls if !self.policy.allows_local() => self.get(ConnectionKind::PublicTls),
            kind => self.get(kind),
        }
    }

    /// Returns the client for this kind of connection.
    pub(super) fn get(&self, kind: ConnectionKind) -> Result<&Client, TransportError> {
        let slot = match kind {
            ConnectionKind::Plain => &self.plain,
            ConnectionKind::LoopbackTls => &self.loopback_tls,
            ConnectionKind::RemoteTls => &self.remote_tls,
            ConnectionKind::PublicTls => &self.public_tls,
        };
        if let Some(client) = slot.get() {
            return Ok(client);
        }

        // Two threads may build the client at the same time. Only the first client is kept.
        let client = self.build(kind)?;

        Ok(slot.get_or_init(|| client))
    }

    fn build(&self, kind: ConnectionKind) -> Result<Client, TransportError> {
        let mut builder = client_builder(self.timeout);

        builder = match kind {
            // Plain HTTP verifies no certificate: the system's certificates are not read.
            ConnectionKind::Plain => builder.tls_certs_only([]),
            _ => self.trust_ca_file(builder)?,
        };
        match kind {
            // A proxy cannot reach the loopback addresses of this machine.
            ConnectionKind::Plain | ConnectionKind::LoopbackTls => builder = builder.no_proxy(),
            ConnectionKind::PublicTls => builder = builder.dns_resolver(Arc::new(PublicResolver)),
            ConnectionKind::RemoteTls => {}
        }

        builder.build().map_err(|error| TransportError::Setup(error_chain(&error)))
    }

    fn trust_ca_file(&self, builder: ClientBuilder) -> Result<ClientBuilder, TransportError> {
        let Some(path) = &self.ca_file else { return Ok(builder) };
        let certificates = read_certificates(path).map_err(TransportError::Setup)?;

        Ok(builder.tls_certs_merge(certificates))
    }
}

/// Returns the builder of all HTTP clients. `timeout` is the time limit of one request, which the caller sets.
pub fn client_builder(timeout: Duration) -> ClientBuilder {
    // The installation fails only if a provider is installed already, which serves as well.
    drop(rustls::crypto::ring::default_provider().install_default());

    // The library would send credentials along with a redirect. `redirect` follows redirects without the key.
    Client::builder()
        .user_agent(concat!("tas-mcp/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT.min(timeout.mul_f64(CONNECT_SHARE)))
        .pool_idle_timeout(IDLE_TIMEOUT)
        .tcp_nodelay(true)
}

/// Reads the certificates of a PEM file.
///
/// # Errors
/// Describes why the file cannot be read or has no certificate.
pub fn read_certificates(path: &Path) -> Result<Vec<Certificate>, String> {
    let pem = std::fs::read(path).map_err(|error| format!("`{}` cannot be read: {error}", path.display()))?;
    let certificates = Certificate::from_pem_bundle(&pem).map_err(|error| {
        format!("`{}` has no usable certificate: {}", path.display(), error_chain(&error))
    })?;

    if certificates.is_empty() {
        return Err(format!("`{}` has no certificate in PEM form", path.display()));
    }

    Ok(certificates)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{ErrorKind, Read as _},
        net::TcpListener,
    };

    use super::*;

    /// First byte of a TLS handshake.
    const HANDSHAKE: u8 = 22;

    /// Sends a request to the name `localhost` with the client of this kind. Returns the error, and the listener there.
    async fn request_loopback(kind: ConnectionKind) -> (TransportError, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a listener that does not wait");
        let url = format!("https://localhost:{}/", listener.local_addr().expect("an address").port());

        let clients = HttpClients::new(None, Duration::from_secs(1), AddressPolicy::default());
        let client = clients.get(kind).expect("a client");
        // The listener never answers the handshake, so that every request fails.
        let error = client.get(url).send().await.expect_err("no answer");

        (error.into(), listener)
    }

    #[tokio::test]
    async fn a_public_client_does_not_connect_to_a_name_of_this_machine() {
        let (error, listener) = request_loopback(ConnectionKind::PublicTls).await;
        let connection = listener.accept().map_err(|error| error.kind());

        assert!(error.to_string().contains("has only addresses of this machine"), "{error}");
        assert_eq!(connection.expect_err("no connection"), ErrorKind::WouldBlock);
    }

    #[tokio::test]
    async fn another_client_connects_to_a_name_of_this_machine() {
        for kind in [ConnectionKind::LoopbackTls, ConnectionKind::RemoteTls] {
            let (error, listener) = request_loopback(kind).await;
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut first = [0];
            stream.read_exact(&mut first).expect("a handshake");

            assert!(!error.to_string().contains("addresses of this machine"), "{error}");
            assert_eq!(first, [HANDSHAKE]);
        }
    }

    #[test]
    fn names_of_a_remote_service_are_requested_with_a_public_client() {
        let name = Url::parse("https://storage.example/").expect("an address");
        let clients = |policy| HttpClients::new(None, Duration::from_secs(1), policy);
        let remote = clients(AddressPolicy::default());
        let local = clients(AddressPolicy::for_service(
            &super::super::HostUrl::parse("http://127.0.0.1:1").expect("an address"),
        ));

        remote.for_named_address(&name).expect("a client");
        local.for_named_address(&name).expect("a client");

        assert!(remote.public_tls.get().is_some() && remote.remote_tls.get().is_none());
        assert!(local.public_tls.get().is_none() && local.remote_tls.get().is_some());
    }
}
