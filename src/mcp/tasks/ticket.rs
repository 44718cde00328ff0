//! The id of a task: what is waited for and since when, sealed, not hidden.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    fields::Fields,
    tools::composite::{CompositeTool as _, WaitForCompletion},
};

/// What the key of ids is derived for.
pub(super) const PURPOSE: &[u8] = b"tas-mcp task ids 1";

/// What a seal is bound to, besides the key.
const BOUND_TO: &[u8] = WaitForCompletion::NAME.as_bytes();

/// How long a task can be asked for after its wait is over: a night and a day.
const KEPT: Duration = Duration::from_secs(36 * 60 * 60);

/// Shortest and longest time between questions that is advised where the caller does not say.
const FREQUENT: Duration = Duration::from_secs(5);
const SELDOM: Duration = Duration::from_secs(30);

/// What an id says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ticket {
    /// The arguments of the call, as they came.
    #[serde(rename = "a")]
    arguments: Fields,
    /// When it came, in milliseconds since 1970.
    #[serde(rename = "s")]
    started: i64,
    /// How long is waited, in seconds.
    #[serde(rename = "t")]
    timeout: u64,
    /// Seconds between looks, where the caller says so.
    #[serde(rename = "i", default, skip_serializing_if = "Option::is_none")]
    interval: Option<u64>,
    /// Tells equal calls apart.
    #[serde(rename = "n")]
    nonce: String,
}

impl Ticket {
    /// For a call that came now; `checked` are its arguments with their types.
    pub(super) fn new(arguments: Fields, checked: &Fields, now: Timestamp) -> Self {
        let seconds = |name: &str| checked.get(name).and_then(Value::as_u64);
        Self {
            arguments,
            started: now.as_millisecond(),
            timeout: seconds("timeout_seconds").unwrap_or_default(),
            interval: seconds("poll_interval_seconds"),
            nonce: Uuid::now_v7().simple().to_string(),
        }
    }

    /// The id.
    pub(super) fn seal(&self, key: &[u8]) -> Option<String> {
        let options = SealOptions::new().associated_data(BOUND_TO);
        RequestStateCodec::try_new(key).ok()?.seal_json_with(self, &options).ok()
    }

    /// What an id says that was sealed with this key.
    pub(super) fn open(id: &str, key: &[u8]) -> Option<Self> {
        RequestStateCodec::try_new(key).ok()?.open_json_with(id, BOUND_TO).ok()
    }

    pub(super) fn arguments(&self) -> &Fields {
        &self.arguments
    }

    pub(super) fn started(&self) -> Timestamp {
        Timestamp::from_millisecond(self.started).unwrap_or_default()
    }

    pub(super) fn elapsed(&self, now: Timestamp) -> Duration {
        Duration::try_from(now.duration_since(self.started())).unwrap_or_default()
    }

    /// How long is waited.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    /// How long the task can be asked for.
    pub(super) fn lifetime(&self) -> Duration {
        self.timeout() + KEPT
    }

    /// When it can be asked for the last time.
    pub(super) fn expires(&self) -> Timestamp {
        let lifetime = SignedDuration::try_from(self.lifetime()).unwrap_or(SignedDuration::MAX);
        self.started().checked_add(lifetime).unwrap_or(Timestamp::MAX)
    }

    /// Whether it can still be asked for.
    pub(super) fn lasts(&self, now: Timestamp) -> bool {
        self.elapsed(now) <= self.lifetime()
    }

    /// How long a host should wait between questions: the longer it lasts already, the longer.
    pub(super) fn interval(&self, now: Timestamp) -> Duration {
        let growing = || (self.elapsed(now) / 10).clamp(FREQUENT, SELDOM);
        self.interval.map_or_else(growing, Duration::from_secs)
    }
}
