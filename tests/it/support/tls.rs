//! A server with a certificate of an authority that no system trusts.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
use tempfile::NamedTempFile;
use tokio_rustls::TlsAcceptor;

use super::peer::{Peer, same_answer};

/// A server on the loopback that answers every request with the same bytes.
pub(crate) struct Secure {
    /// `https://127.0.0.1:<port>`
    pub(crate) address: String,
    /// The certificate of its authority, in PEM form.
    authority: NamedTempFile,
    peer: Peer,
}

impl Secure {
    /// Starts a server with a certificate for `name`.
    pub(crate) async fn start(name: &str, answer: String) -> Self {
        let (acceptor, pem) = acceptor(name);
        let authority = NamedTempFile::new().expect("a file");
        std::fs::write(authority.path(), pem).expect("a writable file");

        let peer = Peer::start(same_answer(answer.into_bytes()), Some(acceptor)).await;

        Self { address: format!("https://{}", peer.address()), authority, peer }
    }

    /// Returns the path of the certificate of its authority.
    pub(crate) fn authority(&self) -> &str {
        self.authority.path().to_str().expect("a path")
    }

    /// Returns the requests so far.
    pub(crate) fn requests(&mut self) -> Vec<String> {
        self.peer.requests()
    }
}

/// Returns an acceptor of connections for `name`, and the certificate of its authority in PEM form.
pub(crate) fn acceptor(name: &str) -> (TlsAcceptor, &'static str) {
    // Valid until 2126.
    let (server, authority) = match name {
        "127.0.0.1" => {
            (include_str!("certificates/loopback.pem"), include_str!("certificates/loopback-authority.pem"))
        }
        "service.example" => {
            (include_str!("certificates/service.pem"), include_str!("certificates/service-authority.pem"))
        }
        _ => panic!("there is no certificate for {name}"),
    };
    let chain = CertificateDer::pem_slice_iter(server.as_bytes()).map(|der| der.expect("a certificate"));
    let key = PrivateKeyDer::from_pem_slice(server.as_bytes()).expect("a key");

    drop(rustls::crypto::ring::default_provider().install_default());
    let config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain.collect(), key);

    (TlsAcceptor::from(Arc::new(config.expect("a configuration"))), authority)
}
