//! Connection pools, one for each kind of address. Each is made when it is first used: that reads the system's
//! certificates.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use reqwest::{Certificate, redirect};

use super::transport::{TransportError, chain};

/// Limit of opening a connection; with a short limit of the whole request, [`CONNECT_SHARE`] of that.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Opening a connection ends before the request as a whole does: then it is sure that nothing was sent.
const CONNECT_SHARE: f64 = 0.8;

/// How long an idle connection is kept: shorter than servers usually do, so that a request seldom meets a
/// connection that is just being closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// The pools of one host and of those that it redirects to.
#[derive(Debug)]
pub(super) struct Pools {
    ca_file: Option<PathBuf>,
    timeout: Duration,
    /// Plain HTTP, which is of the loopback.
    plain: OnceLock<reqwest::Client>,
    loopback: OnceLock<reqwest::Client>,
    remote: OnceLock<reqwest::Client>,
}

impl Pools {
    pub(super) fn new(ca_file: Option<PathBuf>, timeout: Duration) -> Self {
        Self { ca_file, timeout, plain: OnceLock::new(), loopback: OnceLock::new(), remote: OnceLock::new() }
    }

    /// The pool for an address of that kind.
    pub(super) fn of(&self, is_plain: bool, is_loopback: bool) -> Result<&reqwest::Client, TransportError> {
        let pool = match (is_plain, is_loopback) {
            (true, _) => &self.plain,
            (false, true) => &self.loopback,
            (false, false) => &self.remote,
        };
        if let Some(http) = pool.get() {
            return Ok(http);
        }

        let http = self.build(is_plain, is_loopback)?;

        Ok(pool.get_or_init(|| http))
    }

    fn build(&self, is_plain: bool, is_loopback: bool) -> Result<reqwest::Client, TransportError> {
        // Fails only when a provider is there already, which is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("tas-mcp/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT.min(self.timeout.mul_f64(CONNECT_SHARE)))
            .pool_idle_timeout(IDLE_TIMEOUT)
            .tcp_nodelay(true);

        if is_loopback {
            builder = builder.no_proxy();
        }

        if is_plain {
            // The system's certificates take their time to read, and would verify nothing.
            builder = builder.tls_certs_only([]);
        } else if let Some(path) = &self.ca_file {
            builder = builder.tls_certs_merge(certificates(path).map_err(TransportError::Setup)?);
        }

        builder.build().map_err(|error| TransportError::Setup(chain(&error)))
    }
}

/// Reads the certificates (PEM) of a file; the problem if there are none.
pub fn certificates(path: &Path) -> Result<Vec<Certificate>, String> {
    let pem = std::fs::read(path).map_err(|error| format!("`{}` cannot be read: {error}", path.display()))?;
    let certificates = Certificate::from_pem_bundle(&pem)
        .map_err(|error| format!("`{}` has no usable certificate: {}", path.display(), chain(&error)))?;
    if certificates.is_empty() {
        return Err(format!("`{}` has no certificate in PEM form", path.display()));
    }

    Ok(certificates)
}
