//! The connection to the store.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use redis::{Client, FromRedisValue, Pipeline, RedisError, aio::MultiplexedConnection};
use tokio::time::Instant;

use super::{health::StoreHealth, url::StoreUrl};
use crate::call::shared_store::StoreUnavailable;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_does_not_quote_the_store() {
        let quoting =
            |code: &str| redis::make_extension_error(code.to_owned(), Some("'AUTH' 'planted'".to_owned()));

        let reason = reason(&quoting("NOPE"));

        assert!(reason.contains("NOPE") && !reason.contains("planted"), "{reason}");
    }
}
