//! A server with a certificate of an authority that no system trusts.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use tempfile::NamedTempFile;
use tokio::{
    net::TcpListener,
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
};
use tokio_rustls::TlsAcceptor;

use super::peer::{self, Event};

/// A server on the loopback that answers every request with the same bytes.
pub(crate) struct Secure {
    /// `https://127.0.0.1:<port>`
    pub(crate) address: String,
    /// The certificate of its authority, in PEM form.
    authority: NamedTempFile,
    events: UnboundedReceiver<Event>,
}

impl Secure {
    /// Starts a server with a certificate for `name`.
    pub(crate) async fn start(name: &str, answer: String) -> Self {
        let (acceptor, pem) = create_certificate(name);
        let authority = NamedTempFile::new().expect("a file");
        std::fs::write(authority.path(), pem).expect("a writable file");

        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("https://{}", listener.local_addr().expect("an address"));
        let (sender, events) = unbounded_channel();

        let answers = peer::same_answer(answer.into_bytes());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answers, sender) = (Arc::clone(&answers), sender.clone());
                if let Ok(stream) = acceptor.accept(stream).await {
                    tokio::spawn(peer::converse(stream, answers, sender));
                }
            }
        });

        Self { address, authority, events }
    }

    /// Returns the path of the certificate of its authority.
    pub(crate) fn authority(&self) -> &str {
        self.authority.path().to_str().expect("a path")
    }

    /// Returns the requests so far.
    pub(crate) fn requests(&mut self) -> Vec<String> {
        let events = std::iter::from_fn(|| self.events.try_recv().ok());
        events.filter_map(Event::into_request).collect()
    }
}

/// Returns an acceptor of connections for `name`, and the certificate of its authority in PEM form.
pub(crate) fn create_certificate(name: &str) -> (TlsAcceptor, String) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);

    let key = KeyPair::generate().expect("a key");
    let authority = params.self_signed(&key).expect("a certificate").pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().expect("a key");
    let certificate = CertificateParams::new([name.to_owned()]).expect("a name").signed_by(&key, &issuer);
    let chain = vec![certificate.expect("a certificate").der().clone()];
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");

    drop(rustls::crypto::ring::default_provider().install_default());
    let config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key);

    (TlsAcceptor::from(Arc::new(config.expect("a configuration"))), authority)
}
