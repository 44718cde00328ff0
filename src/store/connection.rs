//! The connection to the store: its address, with a password that no output shows, its certificates, and whether it is available.

use std::{
    fmt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicU64},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge},
    registry::Registry,
};
use redis::{Client, FromRedisValue, Pipeline, RedisError, TlsCertificates, aio::MultiplexedConnection};
use tokio::time::Instant;

use crate::{call::shared_store::StoreUnavailable, text::without_mark};

/// Scheme of an address without TLS.
const PLAIN: &str = "redis://";

/// Scheme of an address with TLS.
const ENCRYPTED: &str = "rediss://";

/// The address of the store. It may contain a password, so that no output shows it.
#[derive(Clone)]
pub struct StoreUrl(Client);

impl StoreUrl {
    /// Parses an address. The certificates in `ca_file` are trusted in addition to those of the system.
    ///
    /// # Errors
    /// The reason, which does not quote the address.
    pub fn parse(text: &str, ca_file: Option<&Path>) -> Result<Self, String> {
        let client = match ca_file {
            Some(ca_file) if text.starts_with(ENCRYPTED) => {
                let root_cert = Some(trusted_certificates(ca_file)?);
                Client::build_with_tls(text, TlsCertificates { client_tls: None, root_cert })
            }
            _ => Client::open(text),
        };

        let has_scheme = [PLAIN, ENCRYPTED].iter().any(|scheme| text.starts_with(scheme));
        client.ok().filter(|_| has_scheme).map(Self).ok_or_else(|| {
            "must be an address such as redis://HOST:6379 or rediss://USER:PASSWORD@HOST:6379/0".to_owned()
        })
    }

    /// Returns the client of the store.
    pub(super) fn into_client(self) -> Client {
        self.0
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[store]")
    }
}

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

/// Time limit of one operation on an open connection.
const OPERATION_LIMIT: Duration = Duration::from_millis(250);

/// Time limit of opening a connection, which takes several round trips and may be encrypted.
const OPENING_LIMIT: Duration = Duration::from_secs(1);

/// Pause after a failure. Operations fail at once meanwhile, so that calls do not wait for a store that is not
/// available.
const PAUSE: Duration = Duration::from_secs(1);

/// One connection for all operations, opened when it is needed.
#[derive(Debug)]
pub(super) struct StoreConnection {
    client: Client,
    state: Mutex<ConnectionState>,
    /// Held while a connection is opened, so that only one is.
    opening: tokio::sync::Mutex<()>,
    health: StoreHealth,
}

#[derive(Debug, Default)]
struct ConnectionState {
    open: Option<MultiplexedConnection>,
    /// When the next operation may be tried after a failure.
    paused_until: Option<Instant>,
}

/// Why an operation failed, without the message of the store, which may quote a command with the password.
#[derive(Debug, thiserror::Error)]
pub(super) enum OperationError {
    /// An earlier operation failed within [`PAUSE`].
    #[error("it failed a short time ago")]
    Paused,
    #[error("no answer within {} ms", .0.as_millis())]
    Late(Duration),
    #[error("{}", reason(.0))]
    Failed(RedisError),
}

impl StoreConnection {
    pub(super) fn new(url: StoreUrl) -> Self {
        Self {
            client: url.into_client(),
            state: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            health: StoreHealth::default(),
        }
    }

    pub(super) fn health(&self) -> &StoreHealth {
        &self.health
    }

    /// Runs commands within [`OPERATION_LIMIT`] on a connection that opens within [`OPENING_LIMIT`], and returns their
    /// results. The commands may be sent twice. The result counts for the log and the metrics.
    pub(super) async fn run<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, StoreUnavailable> {
        match self.attempt(commands).await {
            Ok(result) => {
                self.health.record_success();
                Ok(result)
            }
            Err(error) => {
                self.health.record_failure(&error.to_string());
                Err(StoreUnavailable)
            }
        }
    }

    /// Runs commands as [`Self::run`] does, without a record of the result.
    pub(super) async fn attempt<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, OperationError> {
        let result = self.try_run(commands).await;

        if matches!(result, Err(OperationError::Late(_) | OperationError::Failed(_))) {
            self.pause();
        }
        result
    }

    /// Runs commands. If the open connection turns out to be closed, they run again on a new one: the store may have
    /// been restarted since the last operation.
    async fn try_run<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T, OperationError> {
        if let Some(mut open) = self.current()? {
            match within(OPERATION_LIMIT, commands.query_async(&mut open)).await {
                Err(OperationError::Failed(error)) if error.is_io_error() => self.lock().open = None,
                result => return result,
            }
        }

        let mut opened = self.open().await?;
        within(OPERATION_LIMIT, commands.query_async(&mut opened)).await
    }

    async fn open(&self) -> Result<MultiplexedConnection, OperationError> {
        let _opening = self.opening.lock().await;
        // Another operation may have opened a connection, or failed to.
        if let Some(open) = self.current()? {
            return Ok(open);
        }

        let opened = within(OPENING_LIMIT, self.client.get_multiplexed_async_connection()).await?;
        self.lock().open = Some(opened.clone());

        Ok(opened)
    }

    /// Returns the open connection, if there is one.
    fn current(&self) -> Result<Option<MultiplexedConnection>, OperationError> {
        let state = self.lock();
        if state.paused_until.is_some_and(|end| Instant::now() < end) {
            return Err(OperationError::Paused);
        }

        Ok(state.open.clone())
    }

    /// Closes the connection after a failure: the answers of a slow store are of no use.
    fn pause(&self) {
        *self.lock() = ConnectionState { open: None, paused_until: Some(Instant::now() + PAUSE) };
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a result of the store, but not longer than `limit`.
async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, RedisError>>,
) -> Result<T, OperationError> {
    let result = tokio::time::timeout(limit, work).await.map_err(|_elapsed| OperationError::Late(limit))?;
    result.map_err(OperationError::Failed)
}

fn reason(error: &RedisError) -> String {
    match error.code() {
        Some(code) => format!("{} ({code})", error.category()),
        None => error.category().to_owned(),
    }
}

/// Shortest time between two warnings, so that a store that fails now and then does not fill the log.
const WARNING_PAUSE: Duration = Duration::from_secs(60);

/// Numbers and warnings about the store. The clones are one.
#[derive(Clone, Debug, Default)]
pub struct StoreHealth {
    failures: Counter<u64, AtomicU64>,
    is_available: Gauge,
    state: Arc<Mutex<ReportedState>>,
}

/// What the log says about the store.
#[derive(Debug, Default)]
struct ReportedState {
    is_failing: bool,
    warned_at: Option<Instant>,
}

impl StoreHealth {
    /// Adds the numbers to a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "tas_mcp_shared_store_failures",
            "Operations that the shared store did not perform",
            self.failures.clone(),
        );
        registry.register(
            "tas_mcp_shared_store_available",
            "Whether the last operation of the shared store succeeded",
            self.is_available.clone(),
        );
    }

    /// Records an operation that succeeded.
    pub(super) fn record_success(&self) {
        self.is_available.set(1);

        if std::mem::take(&mut self.lock().is_failing) {
            tracing::info!("the shared store is available again");
        }
    }

    /// Records an operation that failed for this reason.
    pub(super) fn record_failure(&self, reason: &str) {
        self.failures.inc();
        self.is_available.set(0);

        let mut state = self.lock();
        let is_known = std::mem::replace(&mut state.is_failing, true);
        let is_recent = state.warned_at.is_some_and(|time| time.elapsed() < WARNING_PAUSE);
        if !is_known && !is_recent {
            state.warned_at = Some(Instant::now());
            tracing::warn!(
                "the shared store is not available: {reason}; until it is, each process remembers its own calls only"
            );
        }
    }

    fn lock(&self) -> MutexGuard<'_, ReportedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_known_scheme_and_a_host() {
        let cases = [
            ("redis://127.0.0.1", true),
            ("redis://:planted@store.example:6380/2", true),
            ("rediss://user:planted@store.example", true),
            ("redis+unix:///run/planted.sock", false),
            ("unix:///run/planted.sock", false),
            ("http://planted.example", false),
            ("redis://", false),
            ("redis://planted.example/first", false),
            ("planted:6379", false),
        ];

        for (text, is_usable) in cases {
            let parsed = StoreUrl::parse(text, None);
            assert_eq!(parsed.is_ok(), is_usable, "{text}");
            assert!(!format!("{parsed:?}").contains("planted"), "{parsed:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_hides_no_certificate() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "\u{FEFF}-----BEGIN CERTIFICATE-----\n").expect("written");
        let trusted =
            String::from_utf8(trusted_certificates(file.path()).expect("certificates")).expect("text");
        assert!(trusted.ends_with("-----BEGIN CERTIFICATE-----\n") && !trusted.contains('\u{FEFF}'));
    }

    #[test]
    fn a_reason_does_not_quote_the_store() {
        let quoting =
            |code: &str| redis::make_extension_error(code.to_owned(), Some("'AUTH' 'planted'".to_owned()));

        let reason = reason(&quoting("NOPE"));

        assert!(reason.contains("NOPE") && !reason.contains("planted"), "{reason}");
    }
}
