//! The certificates that the store is checked with.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::text::without_mark;

/// Returns the certificates of the system and those in `ca_file`, in PEM form. The client of the store takes one list
/// only, which replaces the list of the system.
///
/// # Errors
/// The file cannot be read.
pub(super) fn trusted_certificates(ca_file: &Path) -> Result<Vec<u8>, String> {
    let own = std::fs::read(ca_file)
        .map_err(|error| format!("cannot be checked with `{}`: {error}", ca_file.display()))?;
    // Certificates of the system that cannot be read are left out, as they are without a file.
    let system = rustls_native_certs::load_native_certs().certs;

    let system = system.iter().map(|certificate| {
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", STANDARD.encode(certificate))
    });
    let system = system.collect::<String>().into_bytes();
    Ok([&system, without_mark(&own)].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_hides_no_certificate() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "\u{FEFF}-----BEGIN CERTIFICATE-----\n").expect("written");
        let trusted =
            String::from_utf8(trusted_certificates(file.path()).expect("certificates")).expect("text");
        assert!(trusted.ends_with("-----BEGIN CERTIFICATE-----\n") && !trusted.contains('\u{FEFF}'));
    }
}
