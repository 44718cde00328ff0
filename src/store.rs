//! The store that several HTTP servers share: Redis or Valkey.

mod connection;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;
use redis::{Cmd, Pipeline, cmd, pipe};

use self::connection::StoreConnection;
pub use self::connection::{StoreHealth, StoreUrl};
use crate::call::shared_store::{SharedStore, StoreKey, StoreUnavailable, StoredValue};

/// Replaces a value if it is the expected one. The script may run twice.
const REPLACE: &str = "
local current = redis.call('GET', KEYS[1])
if current == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return (current == ARGV[1] or current == ARGV[2]) and 1 or 0";

/// Removes a value if it is the expected one.
const REMOVE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return 0";

/// Largest number of values that wait for their removal. The oldest one is dropped first, and expires.
const MAX_WAITING: usize = 1_024;

/// A Redis or Valkey server.
#[derive(Debug)]
pub struct RedisStore {
    connection: StoreConnection,
    /// Values to remove when the store is available again.
    waiting: Mutex<VecDeque<(StoreKey, String)>>,
}

impl RedisStore {
    /// Creates a store. It connects when it is used.
    pub fn new(url: StoreUrl) -> Arc<Self> {
        Arc::new(Self { connection: StoreConnection::new(url), waiting: Mutex::default() })
    }

    /// Checks whether the store is available, and reports a failure in the log.
    pub async fn check(&self) {
        drop(self.connection.run::<()>(&ping()).await);
    }

    /// Checks whether the store is available.
    ///
    /// # Errors
    /// The reason why it is not, without its password.
    pub async fn examine(&self) -> Result<(), String> {
        self.connection.attempt(&ping()).await.map_err(|error| error.to_string())
    }

    /// Returns the numbers about the store.
    pub fn health(&self) -> &StoreHealth {
        self.connection.health()
    }

    /// Removes the values that wait for it.
    async fn remove_waiting(&self) -> Result<(), StoreUnavailable> {
        let waiting = std::mem::take(&mut *self.lock());
        if waiting.is_empty() {
            return Ok(());
        }

        let mut commands = Pipeline::new();
        for (key, current) in &waiting {
            commands.add_command(remove_command(key, current)).ignore();
        }
        let removed = self.connection.run(&commands).await;
        if removed.is_err() {
            for (key, current) in waiting {
                self.remove_later(key, current);
            }
        }

        removed
    }

    fn remove_later(&self, key: StoreKey, current: String) {
        let mut waiting = self.lock();
        if waiting.len() >= MAX_WAITING {
            waiting.pop_front();
        }
        waiting.push_back((key, current));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(StoreKey, String)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedStore for RedisStore {
    fn insert<'a>(
        &'a self,
        key: &'a StoreKey,
        value: &'a str,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<Option<StoredValue>, StoreUnavailable>> {
        Box::pin(async move {
            self.remove_waiting().await?;

            let mut commands = pipe();
            commands.atomic();
            commands.cmd("SET").arg(key.as_str()).arg(value).arg("NX").arg("PX").arg(milliseconds(lifetime));
            commands.cmd("GET").arg(key.as_str());
            commands.cmd("PTTL").arg(key.as_str());
            let (inserted, found, remaining): (Option<String>, Option<String>, i64) =
                self.connection.run(&commands).await?;

            // A negative time says that the value does not expire.
            let remaining = Duration::from_millis(u64::try_from(remaining).unwrap_or_default());
            // The same value was inserted by the same commands, which may be sent twice.
            let found = found.filter(|found| inserted.is_none() && found != value);
            Ok(found.map(|value| StoredValue { value, remaining }))
        })
    }

    fn replace<'a>(
        &'a self,
        key: &'a StoreKey,
        current: &'a str,
        next: &'a str,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreUnavailable>> {
        Box::pin(async move {
            let mut command = script(REPLACE, key);
            command.arg(current).arg(next).arg(milliseconds(lifetime));
            let (is_replaced,): (bool,) = self.connection.run(pipe().add_command(command)).await?;
            Ok(is_replaced)
        })
    }

    fn remove<'a>(&'a self, key: &'a StoreKey, current: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            // The oldest values are removed first, so that a store that is available again has none of them.
            let is_reached = self.remove_waiting().await.is_ok();
            let mut commands = pipe();
            commands.add_command(remove_command(key, current)).ignore();
            if !is_reached || self.connection.run::<()>(&commands).await.is_err() {
                self.remove_later(key.clone(), current.to_owned());
            }
        })
    }
}

fn ping() -> Pipeline {
    let mut commands = pipe();
    commands.cmd("PING").ignore();
    commands
}

fn remove_command(key: &StoreKey, current: &str) -> Cmd {
    let mut command = script(REMOVE, key);
    command.arg(current);
    command
}

/// Returns the command that runs a script with one key.
fn script(text: &str, key: &StoreKey) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg(text).arg(1).arg(key.as_str());
    command
}

fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
