//! The store that several processes share, so that they recognize each other's calls, and the places of a caller in it.

use std::{fmt::Debug, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::future::BoxFuture;
use ring::hmac;
use uuid::Uuid;

use super::Caller;
use crate::failure::Failure;

/// Kind of the keys of calls in the shared store, and the purpose of the derived key that makes them.
pub(super) const CALLS: (&str, &[u8]) = ("call", b"tas-mcp shared calls 1");

/// Kind of the keys of ids that count once, and the purpose of the derived key that makes them.
const USED_IDS: (&str, &[u8]) = ("used", b"tas-mcp shared ids 1");

/// First part of every key. The number changes with the format of the values.
const KEY_PREFIX: &str = "tas-mcp:1";

/// Stores short texts for a limited time. Every operation is atomic and ends within a fraction of a second.
pub trait SharedStore: Debug + Send + Sync {
    /// Stores `value`, which no other caller stores, for `lifetime`, unless `key` has a value. Returns the value that
    /// `key` had.
    fn insert<'a>(
        &'a self,
        key: &'a StoreKey,
        value: &'a str,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<Option<StoredValue>, StoreUnavailable>>;

    /// Replaces the value `current` of `key` by `next`, which is stored for `lifetime`. Returns whether `key` had this
    /// value.
    fn replace<'a>(
        &'a self,
        key: &'a StoreKey,
        current: &'a str,
        next: &'a str,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreUnavailable>>;

    /// Removes the value `current` of `key`; another value remains. If the store is not available now, the value is
    /// removed later.
    fn remove<'a>(&'a self, key: &'a StoreKey, current: &'a str) -> BoxFuture<'a, ()>;
}

/// A stored value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredValue {
    /// The value.
    pub value: String,
    /// How long the value will be stored. The store measures this time, so that the clocks of the processes do not
    /// matter.
    pub remaining: Duration,
}

/// The store did not perform an operation. The process continues without the store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the shared store is not available")]
pub struct StoreUnavailable;

/// The key of a value in the store. It is an HMAC, so that neither the content nor the API key can be computed from it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoreKey(String);

impl StoreKey {
    /// Creates the key of `content` for one kind of value. `secret` is derived from the API key, so that each caller
    /// has keys of its own.
    pub(crate) fn new(kind: &str, secret: &[u8], content: &[u8]) -> Self {
        let secret = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let digest = URL_SAFE_NO_PAD.encode(hmac::sign(&secret, content));
        Self(format!("{KEY_PREFIX}:{kind}:{digest}"))
    }

    /// Returns the key as the store uses it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The place of one value in a store.
#[derive(Clone, Debug)]
pub(crate) struct StorePlace {
    store: Arc<dyn SharedStore>,
    key: StoreKey,
}

impl StorePlace {
    pub(crate) fn new(store: Arc<dyn SharedStore>, key: StoreKey) -> Self {
        Self { store, key }
    }

    /// See [`SharedStore::insert`].
    pub(crate) async fn insert(
        &self,
        value: &str,
        lifetime: Duration,
    ) -> Result<Option<StoredValue>, StoreUnavailable> {
        self.store.insert(&self.key, value, lifetime).await
    }

    /// See [`SharedStore::replace`].
    pub(crate) async fn replace(
        &self,
        current: &str,
        next: &str,
        lifetime: Duration,
    ) -> Result<bool, StoreUnavailable> {
        self.store.replace(&self.key, current, next, lifetime).await
    }

    /// See [`SharedStore::remove`].
    pub(crate) async fn remove(&self, current: &str) {
        self.store.remove(&self.key, current).await;
    }
}

impl Caller {
    /// Records that `id` is used, for `lifetime`. Returns whether another process has recorded the same before. Without
    /// an available store, the answer is `false`.
    pub(crate) async fn is_used_elsewhere(&self, id: &str, lifetime: Duration) -> bool {
        match self.shared_place(USED_IDS, id.as_bytes()).await {
            Ok(Some(place)) => {
                let value = Uuid::now_v7().to_string();
                matches!(place.insert(&value, lifetime).await, Ok(Some(_)))
            }
            Ok(None) | Err(_) => false,
        }
    }

    /// Returns the place of `content` in the shared store, if there is one.
    ///
    /// # Errors
    /// `not_configured` if the API key cannot be read.
    pub(super) async fn shared_place(
        &self,
        (kind, purpose): (&str, &[u8]),
        content: &[u8],
    ) -> Result<Option<StorePlace>, Failure> {
        let Some(store) = &self.shared_store else { return Ok(None) };
        let key = StoreKey::new(kind, &self.derived_key(purpose).await?, content);

        Ok(Some(StorePlace::new(Arc::clone(store), key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_secrets_and_contents_have_different_keys() {
        let key = StoreKey::new("call", b"secret", b"content");

        assert_eq!(key, StoreKey::new("call", b"secret", b"content"));
        assert_ne!(key, StoreKey::new("answer", b"secret", b"content"));
        assert_ne!(key, StoreKey::new("call", b"other", b"content"));
        assert_ne!(key, StoreKey::new("call", b"secret", b"other"));
        assert!(key.as_str().starts_with("tas-mcp:1:call:"), "{key:?}");
    }
}
