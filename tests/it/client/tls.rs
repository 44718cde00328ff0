//! Certificates of private authorities, and certificates for another host.

use serde_json::json;
use tas_mcp::sandbox::keys;

use super::{answer, run};
use crate::support::{host::Host, service::settings, tls::Secure};

/// A service with a certificate for `name`, and the address of its API.
async fn start_secure_service(name: &str) -> (Secure, String) {
    let service = Secure::start(name, answer("200 OK", "{\"multiplayer_run_id\": \"r\"}")).await;
    let base_url = format!("{}/api/v1", service.address);
    (service, base_url)
}

#[tokio::test]
async fn a_private_certificate_authority_is_trusted_if_it_is_configured() {
    let (service, base_url) = start_secure_service("127.0.0.1").await;
    let plain = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let trusting = [&plain[..], &[("TAS_CA_FILE", service.authority())]].concat();
    let mut host = Host::open(&settings(&trusting)).await;

    assert_eq!(host.succeed("get_run", run()).await, json!({"multiplayer_run_id": "r"}));

    let mut host = Host::open(&settings(&plain)).await;
    let error = host.fail("get_run", run()).await;

    assert_eq!(error["code"], "service_unavailable");
    assert!(error["hint"].as_str().expect("a hint").contains("TAS_CA_FILE"), "{error}");

    let message = error["message"].as_str().expect("a message");

    assert!(message.contains("secure connection") && !message.contains("attempts"), "{message}");
    assert!(message.contains("UnknownIssuer"), "{message}");
}

#[tokio::test]
async fn a_certificate_of_another_name_is_refused() {
    let (service, base_url) = start_secure_service("service.example").await;
    let variables = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_API_KEY", keys::DEMO),
        ("TAS_CA_FILE", service.authority()),
    ];
    let mut host = Host::open(&settings(&variables)).await;
    let error = host.fail("get_run", run()).await;

    assert_eq!(error["code"], "service_unavailable");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("secure connection"), "{message}");
    assert!(message.contains("not valid for name") && message.contains("service.example"), "{message}");
    let hint = error["hint"].as_str().expect("a hint");
    assert!(hint.contains("TAS_BASE_URL") && !hint.contains("TAS_CA_FILE"), "{hint}");
}
