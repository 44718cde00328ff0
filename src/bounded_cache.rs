//! A map of limited size that grows with its content.

use std::{hash::Hash, num::NonZeroUsize};

use lru::LruCache;

/// A map that forgets the entry that was unused for the longest time when it holds more than its limit. An empty map
/// takes no memory, unlike an empty [`LruCache`]: each caller of an HTTP server has several maps that stay empty.
#[derive(Debug)]
pub(crate) struct BoundedCache<K: Hash + Eq, V> {
    /// `None` until the first entry.
    entries: Option<LruCache<K, V>>,
    limit: usize,
}

impl<K: Hash + Eq, V> BoundedCache<K, V> {
    /// Creates an empty map with at most `limit` entries.
    pub(crate) fn new(limit: NonZeroUsize) -> Self {
        Self { entries: None, limit: limit.get() }
    }

    /// Returns the value of `key` and marks it as used.
    pub(crate) fn get(&mut self, key: &K) -> Option<&V> {
        self.entries.as_mut()?.get(key)
    }

    /// Sets the value of `key`. Returns the earlier value.
    pub(crate) fn put(&mut self, key: K, value: V) -> Option<V> {
        // A map with a limit would reserve the memory of all entries.
        let entries = self.entries.get_or_insert_with(LruCache::unbounded);
        let earlier = entries.put(key, value);
        if entries.len() > self.limit {
            entries.pop_lru();
        }
        earlier
    }

    /// Returns the value of `key`, which `create` provides if there is none.
    pub(crate) fn get_or_insert(&mut self, key: K, create: impl FnOnce() -> V) -> V
    where
        K: Clone,
        V: Clone,
    {
        if let Some(value) = self.get(&key) {
            return value.clone();
        }

        let value = create();
        self.put(key, value.clone());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_that_was_unused_for_the_longest_time_is_forgotten() {
        let mut cache = BoundedCache::new(NonZeroUsize::MIN.saturating_add(1));
        cache.put("a", 1);
        cache.put("b", 2);
        cache.get(&"a");
        cache.put("c", 3);

        let values = ["a", "b", "c"].map(|key| cache.get(&key).copied());
        assert_eq!(values, [Some(1), None, Some(3)]);
        assert_eq!(cache.get_or_insert("a", || 9), 1);
    }
}
