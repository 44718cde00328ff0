//! A shared store in memory, whose operations can fail.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use futures_util::future::BoxFuture;
use tas_mcp::{
    call::shared_store::{SharedStore, StoreKey, StoreUnavailable, StoredValue},
    clock::Clock,
};

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreFault {
    /// The operation has no effect.
    BeforeEffect,
    /// The operation has an effect that the process does not learn of.
    AfterEffect,
    /// The operation succeeds.
    None,
}

/// Values with the time at which they expire.
#[derive(Debug)]
pub(crate) struct MemoryStore {
    clock: Arc<dyn Clock>,
    values: Mutex<BTreeMap<StoreKey, (String, Duration)>>,
    /// How the next operations fail.
    faults: Mutex<VecDeque<StoreFault>>,
}

impl MemoryStore {
    /// Creates a store with the clock of a server.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { clock, values: Mutex::default(), faults: Mutex::default() })
    }

    /// Lets the next operations fail.
    pub(crate) fn fail(&self, fault: StoreFault, times: usize) {
        self.faults.lock().expect("no test panics here").extend(std::iter::repeat_n(fault, times));
    }

    /// Lets every operation fail after the next ones.
    pub(crate) fn fail_after(&self, operations: usize) {
        self.fail(StoreFault::None, operations);
        self.fail(StoreFault::BeforeEffect, 1_000);
    }

    /// Removes the faults that have not been used.
    pub(crate) fn heal(&self) {
        self.faults.lock().expect("no test panics here").clear();
    }

    /// Returns the values that have not expired.
    pub(crate) fn values(&self) -> Vec<String> {
        self.lock().values().map(|(value, _)| value.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<StoreKey, (String, Duration)>> {
        let now = self.clock.now();
        let mut values = self.values.lock().expect("no test panics here");
        values.retain(|_, (_, end)| *end > now);
        values
    }

    /// Performs an operation, unless a fault prevents it.
    fn perform<T>(
        &self,
        operation: impl FnOnce(&mut BTreeMap<StoreKey, (String, Duration)>) -> T,
    ) -> Result<T, StoreUnavailable> {
        let fault = self.faults.lock().expect("no test panics here").pop_front();
        if fault == Some(StoreFault::BeforeEffect) {
            return Err(StoreUnavailable);
        }

        let result = operation(&mut self.lock());
        if fault == Some(StoreFault::AfterEffect) { Err(StoreUnavailable) } else { Ok(result) }
    }
}

impl SharedStore for MemoryStore {
    fn insert<'a>(
        &'a self,
        key: &'a StoreKey,
        value: &'a str,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<Option<StoredValue>, StoreUnavailable>> {
        let now = self.clock.now();
        let result = self.perform(|values| {
            if let Some((value, end)) = values.get(key) {
                return Some(StoredValue { value: value.clone(), remaining: end.saturating_sub(now) });
            }
            values.insert(key.clone(), (value.to_owned(), now + lifetime));
            None
        });
        Box::pin(std::future::ready(result))
    }

    fn replace<'a>(
        &'a self,
        key: &'a StoreKey,
        current: &'a str,
        next: &'a str,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreUnavailable>> {
        let end = self.clock.now() + lifetime;
        let result = self.perform(|values| match values.get_mut(key) {
            Some(stored) if stored.0 == current => {
                *stored = (next.to_owned(), end);
                true
            }
            _ => false,
        });
        Box::pin(std::future::ready(result))
    }

    fn remove<'a>(&'a self, key: &'a StoreKey, current: &'a str) -> BoxFuture<'a, ()> {
        let is_current = |stored: &(String, Duration)| stored.0 == current;
        let result = self.perform(|values| {
            if values.get(key).is_some_and(is_current) {
                values.remove(key);
            }
        });
        // A value that is not removed expires.
        drop(result);
        Box::pin(std::future::ready(()))
    }
}
