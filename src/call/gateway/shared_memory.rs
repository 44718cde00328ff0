//! Calls of unknown outcome and answered questions, which several processes remember together.

use std::{sync::Arc, time::Duration};

use uuid::Uuid;

use super::handle::Gateway;
use crate::{
    call::{
        duplicate_guard::CallDigest,
        shared_store::{StoreKey, StorePlace},
    },
    failure::Failure,
};

/// Kind of the keys of calls, and the purpose of the derived key that makes them.
const CALLS: (&str, &[u8]) = ("call", b"tas-mcp shared calls 1");

/// Kind of the keys of ids that count once, and the purpose of the derived key that makes them.
const USED_IDS: (&str, &[u8]) = ("used", b"tas-mcp shared ids 1");

impl Gateway {
    /// Returns the place of a call in the shared store, if there is one.
    ///
    /// # Errors
    /// `not_configured` if the API key cannot be read.
    pub(super) async fn shared_call(&self, call: &CallDigest) -> Result<Option<StorePlace>, Failure> {
        self.shared_place(CALLS, call.as_bytes()).await
    }

    /// Records that the caller has used `id`, for `lifetime`. Returns whether another process has recorded the same before.
    /// Without an available store, the answer is `false`.
    pub(crate) async fn is_used_elsewhere(&self, id: &str, lifetime: Duration) -> bool {
        match self.shared_place(USED_IDS, id.as_bytes()).await {
            Ok(Some(place)) => {
                let value = Uuid::now_v7().to_string();
                matches!(place.insert(&value, lifetime).await, Ok(Some(_)))
            }
            Ok(None) | Err(_) => false,
        }
    }

    async fn shared_place(
        &self,
        (kind, purpose): (&str, &[u8]),
        content: &[u8],
    ) -> Result<Option<StorePlace>, Failure> {
        let Some(store) = &self.shared else { return Ok(None) };
        let key = StoreKey::new(kind, &self.derived_key(purpose).await?, content);

        Ok(Some(StorePlace::new(Arc::clone(store), key)))
    }
}
