//! The certificates that hosts are checked with.

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, pem::PemObject as _},
};
use rustls_platform_verifier::Verifier;

use super::transport_error::error_chain;

/// Reads the certificates of a PEM file.
///
/// # Errors
/// Describes why the file cannot be read or has no certificate.
pub fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let pem = std::fs::read(path).map_err(|error| format!("`{}` cannot be read: {error}", path.display()))?;
    let certificates = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| {
        format!("`{}` has no usable certificate: {}", path.display(), error_chain(&error))
    })?;

    if certificates.is_empty() {
        return Err(format!("`{}` has no certificate in PEM form", path.display()));
    }

    Ok(certificates)
}

/// Returns a TLS configuration that trusts the certificates of the system, and those of `ca_file`.
///
/// # Errors
/// Describes why the certificates cannot be used.
pub(super) fn system_tls(ca_file: Option<&Path>) -> Result<ClientConfig, String> {
    let added = ca_file.map(read_certificates).transpose()?.unwrap_or_default();
    let verifier = Verifier::new_with_extra_roots(added, provider());
    let verifier = Arc::new(verifier.map_err(|error| error_chain(&error))?);

    Ok(builder()?.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

/// Returns a TLS configuration that trusts no certificate, for plain HTTP. The certificates of the system are not read,
/// because reading them takes time.
pub(super) fn no_tls() -> Result<ClientConfig, String> {
    Ok(builder()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, String> {
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    builder.map_err(|error| error_chain(&error))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}
