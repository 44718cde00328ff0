//! A stored key with the addresses that it may be sent to.

use serde::{Deserialize, Serialize};

use crate::client::ApiKey;

/// A key, and the addresses for which it was stored.
#[derive(Clone, Debug)]
pub struct StoredRecord {
    /// The key.
    pub key: ApiKey,
    /// Addresses of the hosts that may receive the key, without a trailing slash; the first is the main API.
    pub addresses: Vec<String>,
}

/// The stored form of a record. It has no `Debug`, because it contains the key as text.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredForm {
    addresses: Vec<String>,
    key: String,
}

impl From<&StoredRecord> for StoredForm {
    fn from(record: &StoredRecord) -> Self {
        Self { addresses: record.addresses.clone(), key: record.key.expose().to_owned() }
    }
}

impl StoredForm {
    /// Returns the record; `None` if the stored text cannot be a key.
    pub(super) fn record(&self) -> Option<StoredRecord> {
        let key = ApiKey::parse(&self.key).ok()?;
        Some(StoredRecord { key, addresses: self.addresses.clone() })
    }
}
