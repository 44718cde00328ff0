//! HTTP clients with their connection pools, one for each kind of connection. Each is created when it is first used,
//! because reading the system's certificates takes time.

use std::{path::PathBuf, sync::OnceLock, time::Duration};

use url::Url;

use super::{AddressPolicy, HttpClient, host_url::ConnectionKind, transport_error::TransportError};

/// The HTTP clients for one host and the hosts that it names.
#[derive(Debug)]
pub(super) struct HttpClients {
    ca_file: Option<PathBuf>,
    timeout: Duration,
    policy: AddressPolicy,
    plain: OnceLock<HttpClient>,
    loopback_tls: OnceLock<HttpClient>,
    remote_tls: OnceLock<HttpClient>,
    public_tls: OnceLock<HttpClient>,
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
    pub(super) fn for_named_address(&self, url: &Url) -> Result<&HttpClient, TransportError> {
        match ConnectionKind::from_url(url) {
            ConnectionKind::RemoteTls if !self.policy.allows_local() => self.get(ConnectionKind::PublicTls),
            kind => self.get(kind),
        }
    }

    /// Returns the client for this kind of connection.
    pub(super) fn get(&self, kind: ConnectionKind) -> Result<&HttpClient, TransportError> {
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
        let client = HttpClient::new(kind, self.ca_file.as_deref(), self.timeout);
        let client = client.map_err(TransportError::Setup)?;

        Ok(slot.get_or_init(|| client))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{ErrorKind, Read as _},
        net::TcpListener,
    };

    use http::HeaderMap;

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
        let error = client.get(&url, HeaderMap::new()).await.expect_err("no answer");

        (error, listener)
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
