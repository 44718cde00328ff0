//! The certificates that the store is checked with.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// Returns the certificates of the system and those in `ca_file`, in PEM form. The client of the store takes one list
/// only, which replaces the list of the system.
///
/// # Errors
/// The file cannot be read.
pub(super) fn trusted_certificates(ca_file: &Path) -> Result<Vec<u8>, String> {
    let own = std::fs::read_to_string(ca_file)
        .map_err(|error| format!("cannot be checked with `{}`: {error}", ca_file.display()))?;
    // Certificates of the system that cannot be read are left out, as they are without a file.
    let system = rustls_native_certs::load_native_certs().certs;

    let system = system.iter().map(|certificate| {
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", STANDARD.encode(certificate))
    });
    Ok(system.chain([own]).collect::<String>().into_bytes())
}
