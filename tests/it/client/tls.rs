//! Certificates of others.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use tas_mcp::sandbox::keys;
use tokio::{net::TcpListener, sync::mpsc::unbounded_channel};
use tokio_rustls::TlsAcceptor;

use super::{answer, run};
use crate::support::{host::Host, peer, service::settings};

/// A certificate authority of ours, in PEM form, and a server on the loopback with a certificate for `name` by it.
async fn serve(name: &str) -> (String, String) {
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
    let acceptor = TlsAcceptor::from(Arc::new(config.expect("a configuration")));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base_url = format!("https://{}/api/v1", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let bytes = answer("200 OK", "{\"multiplayer_run_id\": \"r\"}").into_bytes();
            if let Ok(stream) = acceptor.accept(stream).await {
                tokio::spawn(peer::converse(stream, bytes, unbounded_channel().0));
            }
        }
    });
    (base_url, authority)
}

#[tokio::test]
async fn an_own_authority_is_trusted_when_it_is_named() {
    let (base_url, authority) = serve("127.0.0.1").await;
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), authority).expect("a writable file");
    let plain = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let path = file.path().to_str().expect("a path");
    let trusting = [&plain[..], &[("TAS_CA_FILE", path)]].concat();
    let mut host = Host::open(&settings(&trusting)).await;
    assert_eq!(host.succeed("get_run", run()).await, json!({"multiplayer_run_id": "r"}));

    let mut host = Host::open(&settings(&plain)).await;
    let error = host.fail("get_run", run()).await;
    assert_eq!(error["code"], "service_unavailable");
    assert!(error["hint"].as_str().expect("a hint").contains("TAS_CA_FILE"), "{error}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("secure connection") && !message.contains("attempts"), "{message}");
}

#[tokio::test]
async fn a_certificate_of_another_name_is_refused() {
    let (base_url, authority) = serve("service.example").await;
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), authority).expect("a writable file");
    let path = file.path().to_str().expect("a path");
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO), ("TAS_CA_FILE", path)];
    let mut host = Host::open(&settings(&variables)).await;
    let error = host.fail("get_run", run()).await;
    assert_eq!(error["code"], "service_unavailable");
    assert!(error["message"].as_str().expect("a message").contains("secure connection"), "{error}");
}
